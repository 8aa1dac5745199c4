package io.github.idemspec.v1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What must hold of all sources, since they are emitted into other people's builds. */
class SourcesTest {
  /**
   * Calls that depend on the locale, the platform or the clock, or that parse by rules of their
   * own.
   */
  private static final Pattern FORBIDDEN =
      Pattern.compile(
          "BigDecimal|BigInteger|java\\.time|String\\.format|\\.formatted\\(|parseLong|parseInt"
              + "|parseUnsigned|parseDouble|valueOf\\(text|toLowerCase|toUpperCase|getBytes\\(\\)|currentTimeMillis|nanoTime|Math\\.random|\\.matches\\(|com\\.google|double"
              + " |float ");

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      return files.filter(Files::isRegularFile).collect(Collectors.toList());
    }
  }

  @Test
  void sources_callNothingThatDiffersBetweenMachines() throws IOException {
    for (Path source : sources()) {
      String text = Files.readString(source);
      // What documentation says is no call.
      String code = text.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("(?m)//.*$", "");
      assertTrue(!FORBIDDEN.matcher(code).find(), source::toString);
    }
  }

  @Test
  void sources_areJavaFilesThatSayWhereTheyComeFrom() throws IOException {
    for (Path source : sources()) {
      assertTrue(source.toString().endsWith(".java"), source::toString);
      assertTrue(
          Files.readString(source).startsWith("// A support source of idem"), source::toString);
    }
  }

  @Test
  void texts_inAnyLocale_areTheSame() {
    Locale locale = Locale.getDefault();
    TimeZone zone = TimeZone.getDefault();
    try {
      for (String tag : new String[] {"tr-TR", "ar-EG-u-nu-arab", "th-TH-u-ca-buddhist", "hi-IN"}) {
        Locale.setDefault(Locale.forLanguageTag(tag));
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
        String key =
            new KeyBuilder()
                .int64(-1234567)
                .timestamp(0, 0, 3, "f")
                .decimal("1e3", -1, "f")
                .uuid("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f")
                .string("I\u0130", "f")
                .key();
        assertEquals(
            "-12345671970-01-01T00:00:00.000Z1000f81d4fae-7dec-11d0-a765-00a0c91e6bf6I%C4%B0", key);
        assertEquals("Idem-Hold-Count", HeaderName.HOLD_COUNT.on(Transport.HTTP));
        assertEquals(HeaderName.RETRY_INTERVAL, Transport.HTTP.find("IDEM-RETRY-INTERVAL"));
        assertEquals("ef46db3751d8e999", Xxh64.hex(Routing.hash("")));
        assertEquals(2_017, Backoff.of("order-8317", 1, jitter20(), 0).delayMs());
      }
    } finally {
      Locale.setDefault(locale);
      TimeZone.setDefault(zone);
    }
  }

  private static Policy jitter20() {
    return Policy.values().backoffJitterMs(20).toPolicy();
  }

  @Test
  void errorCodes_areThoseOfTheSpec() throws IOException {
    List<String> table =
        Files.readAllLines(Path.of("../../spec/13-errors.md")).stream()
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.substring(3, line.indexOf('`', 3)))
            .collect(Collectors.toList());
    List<String> codes = Stream.of(ErrorCode.values()).map(Enum::name).collect(Collectors.toList());
    assertEquals(table, codes);
  }

  @Test
  void headerNames_areThoseOfTheSpec() throws IOException {
    List<String> table =
        Files.readAllLines(Path.of("../../spec/06-headers.md")).stream()
            .filter(line -> line.matches("\\| \\d+ \\| `.*"))
            .map(line -> line.split("`")[1])
            .collect(Collectors.toList());
    List<String> names =
        Stream.of(HeaderName.values()).map(HeaderName::text).collect(Collectors.toList());
    assertEquals(table, names);
  }
}
