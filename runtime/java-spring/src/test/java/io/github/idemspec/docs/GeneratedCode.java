package io.github.idemspec.docs;

import io.github.idemspec.testing.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * The classes that snippets have from a schema: that of README.md, and that of the shop. They are made
 * as they are for users, by protoc and protoc-gen-idem.
 */
final class GeneratedCode {
  private static final Pattern SCHEMA =
      Pattern.compile("(?m)^```proto\n// proto/(\\S+)\n((?s:.*?))^```$");

  private static final List<String> SHOP =
      List.of("shop/v1/order.proto", "shop/v1/payment.proto", "shop/v1/notification.proto");

  /** What those import. */
  private static final String[] IMPORTED = {"idem/v1/options.proto", "google/type/money.proto"};

  private static final List<String> INCLUDED =
      List.of("examples/shop/proto", "proto", "third_party/googleapis");

  private final Path root = Servers.root();
  private final Path dir;

  private GeneratedCode(Path dir) {
    this.dir = dir;
  }

  /** Makes them, and gives the directory of their classes. */
  static Path in(Path dir) throws Exception {
    return new GeneratedCode(dir).make();
  }

  private Path make() throws Exception {
    Path protoc = root.resolve(".tools/bin/protoc");
    if (!Files.exists(protoc)) {
      Servers.missing("there is no protoc: scripts/tools");
    }
    Path plugin = dir.resolve("protoc-gen-idem");
    run(List.of("go", "build", "-o", plugin.toString(), "./cmd/protoc-gen-idem"));
    Path sources = Files.createDirectories(dir.resolve("sources"));
    List<String> annotated = new ArrayList<>(SHOP);
    annotated.add(schemaOfReadme());
    List<String> protocs = new ArrayList<>(List.of(protoc.toString(), "-I" + dir.resolve("proto")));
    INCLUDED.forEach(of -> protocs.add("-I" + root.resolve(of)));
    protocs.addAll(SHOP);
    protocs.add(schemaOfReadme());
    run(with(protocs, "--plugin=" + plugin, "--idem_out=lang=java:" + sources));
    run(with(with(protocs, IMPORTED), "--java_out=" + sources));
    return compile(sources);
  }

  /** The schema that README.md shows. */
  private String schemaOfReadme() throws IOException {
    Matcher m = SCHEMA.matcher(Files.readString(root.resolve("README.md")));
    if (!m.find()) {
      throw new IllegalStateException("README.md has no block of proto that begins with its path");
    }
    Path file = dir.resolve("proto").resolve(m.group(1));
    Files.createDirectories(file.getParent());
    Files.writeString(file, m.group(2));
    return m.group(1);
  }

  private static List<String> with(List<String> some, String... more) {
    List<String> all = new ArrayList<>(some);
    all.addAll(List.of(more));
    return all;
  }

  private void run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).directory(root.toFile()).inheritIO().start();
    if (process.waitFor() != 0) {
      throw new IllegalStateException("it has failed: " + String.join(" ", command));
    }
  }

  private Path compile(Path sources) throws IOException {
    Path classes = Files.createDirectories(dir.resolve("classes"));
    List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none"));
    arguments.addAll(List.of("-classpath", System.getProperty("java.class.path")));
    arguments.addAll(List.of("-d", classes.toString()));
    try (Stream<Path> all = Files.walk(sources)) {
      all.filter(p -> p.toString().endsWith(".java")).forEach(p -> arguments.add(p.toString()));
    }
    int result =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    if (result != 0) {
      throw new IllegalStateException("what is generated for the documents does not compile");
    }
    return classes;
  }
}
