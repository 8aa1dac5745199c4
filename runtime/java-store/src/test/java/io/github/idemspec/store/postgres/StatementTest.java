package io.github.idemspec.store.postgres;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StatementTest {
  @Test
  void parse_parameters_areMarksInTheOrderOfTheText() {
    Statement s = Statement.parse("x", "-- x: $9\nSELECT $2, '$3', $10::int[],\n  $2\n");
    assertEquals("SELECT ?, '$3', ?::int[],\n  ?", s.text);
    assertArrayEquals(new int[] {1, 9, 1}, s.order);
  }

  @Test
  void named_noSuchFile_saysSo() {
    String message =
        assertThrows(IllegalArgumentException.class, () -> Statement.named("nix")).getMessage();
    assertEquals("no statement is named nix", message);
  }

  static Stream<String> names() throws IOException {
    Path dir = Path.of("../../spec/sql/postgres/statements");
    return Files.list(dir).map(f -> f.getFileName().toString().replace(".sql", "")).sorted();
  }

  @ParameterizedTest
  @MethodSource("names")
  void named_theSpecsFiles_areAllThere(String name) {
    Statement s = Statement.named(name);
    assertFalse(s.text.contains("--") || s.text.contains("$"), s.text);
    assertEquals(s.order.length, s.text.chars().filter(c -> c == '?').count());
  }
}
