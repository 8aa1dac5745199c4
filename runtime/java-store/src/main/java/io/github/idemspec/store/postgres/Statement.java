package io.github.idemspec.store.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A statement of the spec as JDBC takes it: with {@code ?} for {@code $1}, and the parameters in the
 * order in which the text names them.
 */
final class Statement {
  private static final Map<String, Statement> ALL = new ConcurrentHashMap<>();
  private static final Map<List<String>, String> JOINED = new ConcurrentHashMap<>();

  final String name;
  final String text;

  /** The parameter of each {@code ?}, from 0. */
  final int[] order;

  private Statement(String name, String text, int[] order) {
    this.name = name;
    this.text = text;
    this.order = order;
  }

  /** The statement of the file of that name. */
  static Statement named(String name) {
    return ALL.computeIfAbsent(name, Statement::load);
  }

  /** The texts of statements that are sent together; the same ones are the same string. */
  static String joined(List<Statement> statements) {
    List<String> names = new ArrayList<>(statements.size());
    for (Statement s : statements) {
      names.add(s.name);
    }
    String known = JOINED.get(names);
    if (known != null) {
      return known;
    }
    StringBuilder text = new StringBuilder();
    for (Statement s : statements) {
      text.append(text.length() == 0 ? "" : ";\n").append(s.text);
    }
    return JOINED.computeIfAbsent(names, n -> text.toString());
  }

  /** A statement that is not one of the spec's, such as BEGIN. */
  static Statement plain(String text) {
    return new Statement(text, text, new int[0]);
  }

  private static Statement load(String name) {
    try (InputStream in = Statement.class.getResourceAsStream(name + ".sql")) {
      if (in == null) {
        throw new IllegalArgumentException("no statement is named " + name);
      }
      return parse(name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Leaves out comments, and finds the parameters outside of strings. */
  static Statement parse(String name, String file) {
    StringBuilder text = new StringBuilder();
    List<Integer> order = new ArrayList<>();
    for (String line : file.split("\n")) {
      if (line.isBlank() || line.startsWith("--")) {
        continue;
      }
      parseLine(line, text.append(text.length() == 0 ? "" : "\n"), order);
    }
    return new Statement(
        name, text.toString(), order.stream().mapToInt(Integer::intValue).toArray());
  }

  private static void parseLine(String line, StringBuilder text, List<Integer> order) {
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      quoted ^= c == '\'';
      if (!quoted && line.startsWith("--", i)) {
        return;
      }
      if (c != '$' || quoted) {
        text.append(c);
        continue;
      }
      int end = i + 1;
      while (end < line.length() && Character.isDigit(line.charAt(end))) {
        end++;
      }
      order.add(Integer.parseInt(line.substring(i + 1, end)) - 1);
      text.append('?');
      i = end - 1;
    }
  }
}
