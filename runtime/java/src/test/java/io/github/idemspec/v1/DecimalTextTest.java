package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.answer;
import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DecimalTextTest {
  private static String text(String value, int maxScale) {
    return answer(() -> new KeyBuilder().decimal(value, maxScale, "amount").key());
  }

  @ParameterizedTest
  @CsvSource({
    "100.00,100",
    "+.5e-1,0.05",
    "-0,0",
    "-0.0,0",
    "0E-400,0",
    "-0e9999,0",
    "007.50,7.5",
    "-007.50,-7.5",
    "1.,1",
    "1.e3,1000",
    "1.50e1,15",
    "1.05e1,10.5",
    "1e-7,0.0000001",
    "-.5,-0.5",
    "00.100,0.1",
    "10e-1,1",
    "123e-2,1.23",
    "1e0000000004,10000",
    "-12.5,-12.5",
    "0.5,0.5"
  })
  void decimal_ofTheGrammar_isPlain(String value, String want) {
    assertEquals(want, text(value, -1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        " 1",
        "1 ",
        "1\n",
        "+",
        "-",
        ".",
        "-.",
        "e1",
        ".e1",
        "1e",
        "1e+",
        "1e1.0",
        "--1",
        "+-1",
        "1..2",
        "1.2.3",
        "1,000",
        "1_000",
        "0x1",
        "1d",
        "NaN",
        "Infinity",
        "-Infinity",
        "\u0661",
        "\uff11",
        "\u22121",
        "1\u0663",
        "1\u0000",
        "\ud800"
      })
  void decimal_outsideTheGrammar_isSyntax(String value) {
    assertEquals("DECIMAL_SYNTAX", text(value, -1));
  }

  @ParameterizedTest
  @CsvSource({
    "1e10000,DECIMAL_RANGE",
    "0e10000,DECIMAL_RANGE",
    "1e00010000,DECIMAL_RANGE",
    "1e10000x,DECIMAL_SYNTAX",
    "1e256,DECIMAL_RANGE",
    "1e-255,DECIMAL_RANGE",
    "1e9999,DECIMAL_RANGE",
    "1e-9999,DECIMAL_RANGE"
  })
  void decimal_thatIsTooLong_isRange(String value, String want) {
    assertEquals(want, text(value, -1));
  }

  @Test
  void decimal_of256Bytes_isTheLongest() {
    String nines = "9".repeat(256);
    assertEquals(nines, text(nines, -1));
    assertEquals("DECIMAL_RANGE", text("-" + nines, -1));
    assertEquals("DECIMAL_RANGE", text(nines + "9", -1));
    assertEquals("1" + "0".repeat(255), text("1e255", -1));
    assertEquals("-1" + "0".repeat(254), text("-1e254", -1));
    assertEquals("DECIMAL_RANGE", text("-1e255", -1));
    assertEquals("0." + "0".repeat(253) + "1", text("1e-254", -1));
    assertEquals("1", text("0".repeat(500) + "1", -1));
    assertEquals("9".repeat(254) + ".9", text("9".repeat(254) + ".9", -1));
    assertEquals("DECIMAL_RANGE", text("9".repeat(255) + ".9", -1));
  }

  @ParameterizedTest
  @CsvSource({
    "1.50,1,1.5",
    "1.5,1,1.5",
    "1.5,0,DECIMAL_SCALE",
    "1.05,1,DECIMAL_SCALE",
    "100,0,100",
    "0.000,0,0",
    "1e-3,2,DECIMAL_SCALE",
    "1.2345e2,2,123.45",
    "1e-9999,2,DECIMAL_SCALE",
    "1.5,255,1.5"
  })
  void decimal_withMaxScale_isNeverRounded(String value, int maxScale, String want) {
    assertEquals(want, text(value, maxScale));
  }

  @Test
  void decimal_fault_saysWhere() {
    IdemException e =
        assertFault(
            ErrorCode.DECIMAL_SYNTAX, () -> new KeyBuilder().decimal("1,000", 2, "pay.amount"));
    assertEquals("pay.amount", e.field());
    assertEquals(1, e.offset());
    assertEquals("1,000", e.value());
  }

  @Test
  void decimalOrZero_ofNothing_isZero() {
    assertEquals("0", new KeyBuilder().decimalOrZero("", 2, "amount").key());
    assertEquals("1.5", new KeyBuilder().decimalOrZero("1.50", 2, "amount").key());
  }

  @Test
  void decimal_ofRandomText_isBigDecimals() {
    Random random = new Random(17);
    for (int i = 0; i < 50_000; i++) {
      String value = randomDecimal(random);
      int maxScale = random.nextInt(12) - 4;
      assertEquals(platform(value, maxScale), text(value, maxScale), value);
    }
  }

  private static String randomDecimal(Random random) {
    StringBuilder text = new StringBuilder(new String[] {"", "-", "+"}[random.nextInt(3)]);
    int whole = random.nextInt(6);
    int fraction = whole == 0 ? 1 + random.nextInt(5) : random.nextInt(6);
    digits(text, random, whole);
    if (fraction > 0 || random.nextInt(4) == 0) {
      digits(text.append('.'), random, fraction);
    }
    if (random.nextInt(3) == 0) {
      text.append(random.nextBoolean() ? "e" : "E");
      text.append(new String[] {"", "-", "+"}[random.nextInt(3)]);
      text.append(random.nextInt(random.nextBoolean() ? 12 : 400));
    }
    return text.toString();
  }

  private static void digits(StringBuilder text, Random random, int count) {
    for (int i = 0; i < count; i++) {
      text.append("0001259".charAt(random.nextInt(7)));
    }
  }

  private static String platform(String value, int maxScale) {
    // BigDecimal refuses a point without digits behind it; one more zero changes nothing.
    String point = value.replaceFirst("\\.(?![0-9])", ".0");
    BigDecimal decimal = new BigDecimal(point);
    if (decimal.signum() == 0) {
      return "0";
    }
    String plain = decimal.stripTrailingZeros().toPlainString();
    int at = plain.indexOf('.');
    if (maxScale >= 0 && at >= 0 && plain.length() - at - 1 > maxScale) {
      return "DECIMAL_SCALE";
    }
    return plain.length() > 256 ? "DECIMAL_RANGE" : plain;
  }
}
