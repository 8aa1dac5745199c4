package io.github.idemspec.docs;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A block of Java in a document. What it takes as given is declared in a comment right above it:
 *
 * <pre>
 * &lt;!-- java: DataSource pool; record Payment(String id) {} --&gt;
 * ```java
 * </pre>
 *
 * It is the statements of a method, or, where it begins with an annotation, members of a class.
 *
 * @param place the file, and the line of its first line
 * @param line of its first line
 * @param given what is declared above it
 * @param code what is between the fences
 */
record Snippet(String place, int line, String given, String code) {
  private static final Pattern BLOCK =
      Pattern.compile("(?m)(?:^<!-- java: (.*?) -->\n)?^```java\n((?s:.*?))^```$");

  /** What snippets do not import. */
  private static final List<String> IMPORTS =
      List.of(
          "java.nio.charset.*",
          "java.sql.*",
          "java.time.*",
          "java.util.*",
          "javax.sql.*",
          "com.example.refunds.v1.*",
          "io.github.idemspec.guard.*",
          "io.github.idemspec.kafka.*",
          "io.github.idemspec.shop.v1.*",
          "io.github.idemspec.spring.*",
          "io.github.idemspec.state.*",
          "io.github.idemspec.store.*",
          "io.github.idemspec.store.postgres.*",
          "io.github.idemspec.store.redis.*",
          "io.github.idemspec.v1.*",
          "org.springframework.context.annotation.*",
          "org.springframework.jdbc.core.*",
          "org.springframework.kafka.annotation.*",
          "org.springframework.kafka.config.*",
          "org.springframework.kafka.core.*",
          "org.springframework.kafka.support.converter.*",
          "org.springframework.transaction.*",
          "static java.nio.charset.StandardCharsets.*");

  /** Those of a document. */
  static List<Snippet> in(Path root, Path document) throws IOException {
    String text = Files.readString(document);
    List<Snippet> found = new ArrayList<>();
    for (Matcher m = BLOCK.matcher(text); m.find(); ) {
      int line = 1 + (int) text.substring(0, m.start(2)).lines().count();
      String place = root.relativize(document) + ":" + line;
      found.add(new Snippet(place, line, m.group(1) == null ? "" : m.group(1), m.group(2)));
    }
    return found;
  }

  /** What does not compile, one line for each error, by the lines of the document. */
  String errors(List<Path> classpath, Path out) {
    List<String> before = before();
    String source = String.join("\n", before) + "\n" + code + after();
    DiagnosticCollector<JavaFileObject> told = new DiagnosticCollector<>();
    String path =
        classpath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    List<String> options = List.of("-proc:none", "-classpath", path, "-d", out.toString());
    ToolProvider.getSystemJavaCompiler()
        .getTask(null, null, told, options, null, List.of(new Source(source)))
        .call();
    String file = place.substring(0, place.lastIndexOf(':') + 1);
    long shift = line - 1 - before.size();
    return told.getDiagnostics().stream()
        .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
        .map(d -> file + (d.getLineNumber() + shift) + ": " + d.getMessage(null))
        .collect(Collectors.joining("\n"));
  }

  private List<String> before() {
    List<String> lines = new ArrayList<>();
    IMPORTS.forEach(name -> lines.add("import " + name + ";"));
    lines.add("class Snippet {");
    lines.add(given);
    if (!isMembers()) {
      lines.add((returns() ? "Object" : "void") + " run() throws Exception {");
    }
    return lines;
  }

  private String after() {
    return isMembers() ? "}" : "}}";
  }

  private boolean isMembers() {
    return code.startsWith("@");
  }

  private boolean returns() {
    return code.lines().anyMatch(l -> l.startsWith("return "));
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Snippet.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
