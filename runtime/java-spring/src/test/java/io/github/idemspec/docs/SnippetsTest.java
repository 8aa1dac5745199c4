package io.github.idemspec.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.testing.Servers;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The Java of the documents compiles, so that whoever renames something renames it there too. */
class SnippetsTest {
  /** Directories without documents of ours. */
  private static final Set<String> OTHERS =
      Set.of("target", "node_modules", "third_party", "testdata", "gen");

  @TempDir private static Path dir;

  private static List<Path> classpath;

  @BeforeAll
  static void generate() throws Exception {
    classpath = new ArrayList<>(List.of(GeneratedCode.in(dir)));
    Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .forEach(entry -> classpath.add(Path.of(entry)));
  }

  @TestFactory
  Stream<DynamicTest> documents_theirJava_compiles() throws IOException {
    List<Snippet> all = new ArrayList<>();
    for (Path document : documents(Servers.root())) {
      all.addAll(Snippet.in(Servers.root(), document));
    }
    assertTrue(all.stream().anyMatch(s -> s.place().startsWith("README.md:")), all.toString());
    return all.stream()
        .map(s -> DynamicTest.dynamicTest(s.place(), () -> assertEquals("", s.errors(classpath, dir))));
  }

  private static List<Path> documents(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(directory)) {
      for (Path entry : entries.sorted().toList()) {
        String name = entry.getFileName().toString();
        if (Files.isDirectory(entry) && !name.startsWith(".") && !OTHERS.contains(name)) {
          found.addAll(documents(entry));
        } else if (name.endsWith(".md")) {
          found.add(entry);
        }
      }
    }
    return found;
  }

  @Test
  void aSnippet_thatDoesNotCompile_isToldByItsLine() throws IOException {
    Path document = dir.resolve("some.md");
    Files.writeString(
        document,
        """
        Text.

        <!-- java: Store store; -->
        ```java
        store.check();
        store.renamed();
        ```
        """);
    Snippet snippet = Snippet.in(dir, document).get(0);
    assertEquals("some.md:5", snippet.place());
    String errors = snippet.errors(classpath, dir);
    assertTrue(errors.startsWith("some.md:6: cannot find symbol"), errors);
    assertEquals(1, errors.lines().filter(l -> l.startsWith("some.md:")).count(), errors);
  }
}
