package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Money, durations, dates, UUIDs and integers. */
class OtherTextsTest {
  private static String money(String currency, long units, int nanos) {
    return answer(() -> new KeyBuilder().money(currency, units, nanos, "m").key());
  }

  private static String duration(long seconds, int nanos, int digits) {
    return answer(() -> new KeyBuilder().duration(seconds, nanos, digits, "d").key());
  }

  private static String date(int year, int month, int day) {
    return answer(() -> new KeyBuilder().date(year, month, day, "d").key());
  }

  private static String uuid(String value) {
    return answer(() -> new KeyBuilder().uuid(value, "u").key());
  }

  @ParameterizedTest
  @CsvSource({
    "USD,10,500000000,USD10.5",
    "USD,0,-500000000,USD-0.5",
    "JPY,0,0,JPY0",
    "USD,-1,0,USD-1",
    "USD,0,98400000,USD0.0984",
    "USD,9223372036854775807,999999999,USD9223372036854775807.999999999",
    "USD,-9223372036854775808,-999999999,USD-9223372036854775808.999999999",
    "USD,1,-1,MONEY_RANGE",
    "USD,-1,1,MONEY_RANGE",
    "USD,1,1000000000,MONEY_RANGE",
    "USD,-1,-1000000000,MONEY_RANGE",
    "USD,0,-2147483648,MONEY_RANGE",
    "usd,1,-1,MONEY_CURRENCY",
    "US,1,0,MONEY_CURRENCY",
    "USDX,1,0,MONEY_CURRENCY",
    "'',1,0,MONEY_CURRENCY",
    "U\u0421D,1,0,MONEY_CURRENCY"
  })
  void money_ofUnitsAndNanos_isADecimal(String currency, long units, int nanos, String want) {
    assertEquals(want, money(currency, units, nanos));
  }

  @Test
  void money_ofRandomAmounts_isBigDecimals() {
    Random random = new Random(3);
    for (int i = 0; i < 50_000; i++) {
      long units = random.nextLong() >> random.nextInt(64);
      int nanos = random.nextInt(1_000_000_000) * (units < 0 ? -1 : 1);
      BigDecimal amount = BigDecimal.valueOf(units).add(BigDecimal.valueOf(nanos, 9));
      String plain = amount.signum() == 0 ? "0" : amount.stripTrailingZeros().toPlainString();
      assertEquals("EUR" + plain, money("EUR", units, nanos));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1,500000000,3,1.500s",
    "-1,-500000000,3,-1.500s",
    "-1,-500000000,0,-1s",
    "0,-1,3,0.000s",
    "0,-1,0,0s",
    "0,-1,9,-0.000000001s",
    "0,-1000000,3,-0.001s",
    "0,0,0,0s",
    "315576000000,999999999,9,315576000000.999999999s",
    "-315576000000,-999999999,0,-315576000000s",
    "315576000001,0,0,DURATION_RANGE",
    "-315576000001,0,0,DURATION_RANGE",
    "-9223372036854775808,0,0,DURATION_RANGE",
    "1,-1,9,DURATION_RANGE",
    "-1,1,9,DURATION_RANGE",
    "0,1000000000,9,DURATION_RANGE",
    "0,-2147483648,9,DURATION_RANGE"
  })
  void duration_isCutTowardZero(long seconds, int nanos, int digits, String want) {
    assertEquals(want, duration(seconds, nanos, digits));
  }

  @Test
  void date_ofEveryDay_isJavaTimes() {
    for (LocalDate day = LocalDate.of(1, 1, 1); day.getYear() < 10_000; day = day.plusDays(13)) {
      String want = day.toString();
      assertEquals(want, date(day.getYear(), day.getMonthValue(), day.getDayOfMonth()));
    }
  }

  @Test
  void date_ofEveryMonth_endsWhereJavaTimesDoes() {
    for (int year : new int[] {1, 4, 100, 400, 1900, 2000, 2023, 2024, 9999}) {
      for (int month = 1; month <= 12; month++) {
        int last = YearMonth.of(year, month).lengthOfMonth();
        assertEquals(YearMonth.of(year, month).atDay(last).toString(), date(year, month, last));
        assertEquals("DATE_RANGE", date(year, month, last + 1));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0,1,1",
    "10000,1,1",
    "-1,1,1",
    "2025,0,1",
    "2025,13,1",
    "2025,1,0",
    "2025,1,-1",
    "2025,0,0"
  })
  void date_thatIsPartialOrImpossible_isRange(int year, int month, int day) {
    assertEquals("DATE_RANGE", date(year, month, day));
  }

  @Test
  void uuid_ofRandomOnes_isTheirText() {
    Random random = new Random(4);
    for (int i = 0; i < 1_000; i++) {
      String want = new UUID(random.nextLong(), random.nextLong()).toString();
      assertEquals(want, uuid(want));
      assertEquals(want, uuid(want.toUpperCase(java.util.Locale.ROOT)));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf66",
        "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "f81d4fae7dec11d0a76500a0c91e6bf6",
        "f81d4fae-7dec-11d0-a76500a0c91e6bf6-",
        "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "\uff1081d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "1-1-1-1-1"
      })
  void uuid_ofAnotherShape_isSyntax(String value) {
    assertEquals("UUID_SYNTAX", uuid(value));
  }

  @Test
  void integers_ofEveryType_keepTheirSign() {
    Random random = new Random(2);
    long[] edges = {0, 1, -1, 9, 10, 99, 100, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 31, -1L << 31};
    for (int i = 0; i < 50_000; i++) {
      long v = i < edges.length ? edges[i] : random.nextLong() >> random.nextInt(64);
      int w = (int) v;
      assertEquals(Long.toString(v), new KeyBuilder().int64(v).key());
      assertEquals(Long.toUnsignedString(v), new KeyBuilder().uint64(v).key());
      assertEquals(Integer.toString(w), new KeyBuilder().int32(w).key());
      assertEquals(Integer.toUnsignedString(w), new KeyBuilder().uint32(w).key());
    }
  }
}
