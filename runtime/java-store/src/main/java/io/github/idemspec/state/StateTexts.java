package io.github.idemspec.state;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The statements for one table. */
final class StateTexts {
  /** What needs no thought about quoting, and is not cut by PostgreSQL. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private final StateTable of;
  private final Set<String> own = new HashSet<>();
  private final String table;
  private final String lock;
  private final String move;

  StateTexts(StateTable of) {
    this.of = of;
    table = quoteTable(of.name);
    for (String column : new String[] {of.id, of.status, of.version, of.lastKey}) {
      if (column != null && !own.add(checked("a column", column))) {
        throw new IllegalArgumentException(
            "state table " + of.name + ": column " + column + " is named twice: each needs its own");
      }
    }
    lock =
        "SELECT "
            + quote(of.status)
            + ", "
            + (of.lastKey == null ? "NULL" : quote(of.lastKey))
            + " FROM "
            + table
            + " WHERE "
            + quote(of.id)
            + " = ? FOR UPDATE";
    move = updateText(List.of(), true);
  }

  String table() {
    return table;
  }

  /** Reads a row, and locks it. */
  String lock() {
    return lock;
  }

  /** A move: the state, the key, the further columns, the ID, and the state before. */
  String update(Collection<String> columns, boolean conditional) {
    return conditional && columns.isEmpty() ? move : updateText(columns, conditional);
  }

  private String updateText(Collection<String> columns, boolean conditional) {
    StringBuilder text = new StringBuilder("UPDATE " + table + " SET " + quote(of.status) + " = ?");
    if (of.lastKey != null) {
      text.append(", ").append(quote(of.lastKey)).append(" = ?");
    }
    for (String column : columns) {
      text.append(", ").append(quote(further(column))).append(" = ?");
    }
    if (of.version != null) {
      String version = quote(of.version);
      text.append(", ").append(version).append(" = ").append(version).append(" + 1");
    }
    text.append(" WHERE ").append(quote(of.id)).append(" = ?");
    if (conditional) {
      text.append(" AND ").append(quote(of.status)).append(" = ?");
    }
    return text.toString();
  }

  /** It waits for another insert of the same ID, and inserts nothing where that was committed. */
  String insert(Collection<String> columns) {
    List<String> names = new ArrayList<>();
    names.add(quote(of.status));
    if (of.lastKey != null) {
      names.add(quote(of.lastKey));
    }
    columns.forEach(column -> names.add(quote(further(column))));
    names.add(quote(of.id));
    List<String> values = new ArrayList<>(Collections.nCopies(names.size(), "?"));
    if (of.version != null) {
      names.add(quote(of.version));
      values.add("1");
    }
    return "INSERT INTO "
        + table
        + " ("
        + String.join(", ", names)
        + ") VALUES ("
        + String.join(", ", values)
        + ") ON CONFLICT ("
        + quote(of.id)
        + ") DO NOTHING";
  }

  private String further(String column) {
    if (own.contains(checked("a column of the move", column))) {
      throw new IllegalArgumentException(
          "state table "
              + of.name
              + ": the move sets column "
              + column
              + ", which the guard writes itself");
    }
    return column;
  }

  private static String quoteTable(String name) {
    String[] parts = name.split("\\.", -1);
    if (parts.length > 2) {
      throw new IllegalArgumentException(
          "state table: the name is \"" + name + "\": give \"table\" or \"schema.table\"");
    }
    List<String> quoted = new ArrayList<>();
    for (String part : parts) {
      quoted.add(quote(checked("the name", part)));
    }
    return String.join(".", quoted);
  }

  private static String checked(String what, String name) {
    if (name == null || !NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "state table: "
              + what
              + " is \""
              + name
              + "\": a name is [A-Za-z_][A-Za-z0-9_]*, at most 63 bytes");
    }
    return name;
  }

  private static String quote(String name) {
    return "\"" + name + "\"";
  }
}
