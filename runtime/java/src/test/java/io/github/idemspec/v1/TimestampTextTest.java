package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimestampTextTest {
  private static final long MIN = -62_135_596_800L;
  private static final long MAX = 253_402_300_799L;
  private static final DateTimeFormatter NINE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);

  private static String text(long seconds, int nanos, int digits) {
    return answer(() -> new KeyBuilder().timestamp(seconds, nanos, digits, "at").key());
  }

  private static String rfc3339(String value, int digits) {
    return answer(() -> new KeyBuilder().rfc3339(value, digits, "at").key());
  }

  private static String epoch(long value, EpochUnit unit, int digits) {
    return answer(() -> new KeyBuilder().epoch(value, unit, digits, "at").key());
  }

  private static String unsigned(String value, EpochUnit unit, int digits) {
    long bits = Long.parseUnsignedLong(value);
    return answer(() -> new KeyBuilder().epochUnsigned(bits, unit, digits, "at").key());
  }

  private static String platform(Instant instant, int digits) {
    String nine = NINE.format(instant);
    return nine.substring(0, digits == 0 ? 19 : 20 + digits) + "Z";
  }

  @ParameterizedTest
  @CsvSource({
    "0,0,0,1970-01-01T00:00:00Z",
    "0,0,9,1970-01-01T00:00:00.000000000Z",
    "-1,500000000,3,1969-12-31T23:59:59.500Z",
    "-1,500000000,0,1969-12-31T23:59:59Z",
    "-1,999999999,3,1969-12-31T23:59:59.999Z",
    "1704067200,999999999,1,2024-01-01T00:00:00.9Z",
    "-62135596800,0,0,0001-01-01T00:00:00Z",
    "253402300799,999999999,9,9999-12-31T23:59:59.999999999Z",
    "-62135596801,0,0,TIMESTAMP_RANGE",
    "253402300800,0,0,TIMESTAMP_RANGE",
    "9223372036854775807,0,0,TIMESTAMP_RANGE",
    "-9223372036854775808,0,0,TIMESTAMP_RANGE",
    "0,-1,9,TIMESTAMP_RANGE",
    "0,1000000000,9,TIMESTAMP_RANGE"
  })
  void timestamp_ofSecondsAndNanos_isCut(long seconds, int nanos, int digits, String want) {
    assertEquals(want, text(seconds, nanos, digits));
  }

  @Test
  void timestamp_ofAnyDay_isJavaTimes() {
    for (long day = MIN / 86_400; day <= MAX / 86_400; day++) {
      String want = LocalDate.ofEpochDay(day) + "T23:59:59Z";
      assertEquals(want, new KeyBuilder().timestamp(day * 86_400 + 86_399, 0, 0, "at").key());
    }
  }

  @Test
  void timestamp_ofRandomInstants_isJavaTimes() {
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      long seconds = MIN + (long) (random.nextDouble() * (MAX - MIN + 1));
      int nanos = random.nextInt(1_000_000_000);
      int digits = random.nextInt(10);
      String want = platform(Instant.ofEpochSecond(seconds, nanos), digits);
      assertEquals(want, text(seconds, nanos, digits));
      assertEquals(want, rfc3339(NINE.format(Instant.ofEpochSecond(seconds, nanos)), digits));
    }
  }

  @Test
  void rfc3339_withRandomOffsets_isJavaTimes() {
    Random random = new Random(6);
    for (int i = 0; i < 20_000; i++) {
      long local = MIN + (long) (random.nextDouble() * (MAX - MIN + 1));
      // java.time knows offsets up to 18 hours.
      int minutes = random.nextInt(2 * 18 * 60 + 1) - 18 * 60;
      String clock = platform(Instant.ofEpochSecond(local), 0).substring(0, 19);
      String sign = minutes < 0 ? "-" : "+";
      int hours = Math.abs(minutes) / 60;
      String value = clock + sign + two(hours) + ":" + two(Math.abs(minutes) % 60);
      Instant instant = OffsetDateTime.parse(value).toInstant();
      boolean in = instant.getEpochSecond() >= MIN && instant.getEpochSecond() <= MAX;
      assertEquals(in ? platform(instant, 0) : "TIMESTAMP_RANGE", rfc3339(value, 0), value);
    }
  }

  private static String two(int value) {
    return (value < 10 ? "0" : "") + value;
  }

  @ParameterizedTest
  @CsvSource({
    "2024-01-01T12:00:00.1+05:45,3,2024-01-01T06:15:00.100Z",
    "0000-12-31T23:00:00-02:00,3,0001-01-01T01:00:00.000Z",
    "0000-02-29T00:00:00Z,0,TIMESTAMP_RANGE",
    "0000-02-30T00:00:00Z,0,TIMESTAMP_SYNTAX",
    "0001-01-01T00:00:00+00:01,0,TIMESTAMP_RANGE",
    "9999-12-31T23:59:59-00:01,0,TIMESTAMP_RANGE",
    "9999-12-31T23:59:59.999999999+00:01,9,9999-12-31T23:58:59.999999999Z",
    "2024-01-01T00:00:00-00:00,0,2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00+23:59,0,2023-12-31T00:01:00Z",
    "2024-02-29T00:00:00Z,0,2024-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z,0,2000-02-29T00:00:00Z"
  })
  void rfc3339_ofTheGrammar_isTheInstant(String value, int digits, String want) {
    assertEquals(want, rfc3339(value, digits));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "2024",
        "2024-01-01",
        "2024-01-01T00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01t00:00:00Z",
        "2024-01-01T00:00:00z",
        "2024-01-01 00:00:00Z",
        " 2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00Z ",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00.1234567890Z",
        "2024-01-01T00:00:60Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T24:00:00Z",
        "2024-00-01T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+00:60",
        "2024-01-01T00:00:00+0530",
        "2024-01-01T00:00:00+05",
        "2024-01-01T00:00:00+05:30Z",
        "2024-01-01T00:00:00\u221205:30",
        "202\u0664-01-01T00:00:00Z",
        "+2024-01-01T00:00:00Z",
        "20240101T000000Z"
      })
  void rfc3339_outsideTheGrammar_isSyntax(String value) {
    assertEquals("TIMESTAMP_SYNTAX", rfc3339(value, 9));
  }

  @ParameterizedTest
  @CsvSource({
    "-1500,MILLIS,3,1969-12-31T23:59:58.500Z",
    "-1,NANOS,9,1969-12-31T23:59:59.999999999Z",
    "-1,NANOS,3,1969-12-31T23:59:59.999Z",
    "1,MICROS,6,1970-01-01T00:00:00.000001Z",
    "-9223372036854775808,NANOS,9,1677-09-21T00:12:43.145224192Z",
    "-62135596800,SECONDS,0,0001-01-01T00:00:00Z",
    "-62135596801,SECONDS,0,TIMESTAMP_RANGE",
    "253402300799999,MILLIS,3,9999-12-31T23:59:59.999Z",
    "253402300800000,MILLIS,3,TIMESTAMP_RANGE"
  })
  void epoch_signed_floors(long value, EpochUnit unit, int digits, String want) {
    assertEquals(want, epoch(value, unit, digits));
  }

  @ParameterizedTest
  @CsvSource({
    "18446744073709551615,NANOS,9,2554-07-21T23:34:33.709551615Z",
    "9223372036854775808,NANOS,9,2262-04-11T23:47:16.854775808Z",
    "18446744073709551615,SECONDS,0,TIMESTAMP_RANGE",
    "18446744073709551615,MILLIS,0,TIMESTAMP_RANGE",
    "18446744073709551615,MICROS,0,TIMESTAMP_RANGE",
    "9223372036854775808,SECONDS,0,TIMESTAMP_RANGE",
    "1500,MILLIS,1,1970-01-01T00:00:01.5Z"
  })
  void epoch_unsigned_isNeverBefore1970(String value, EpochUnit unit, int digits, String want) {
    assertEquals(want, unsigned(value, unit, digits));
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 10})
  void timestamp_withOtherDigits_isACallersMistake(int digits) {
    KeyBuilder key = new KeyBuilder();
    assertThrows(IllegalArgumentException.class, () -> key.timestamp(0, 0, digits, "at"));
  }
}
