package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.answer;
import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyBuilderTest {
  private static final String PLAIN =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

  private static String escaped(byte[] utf8) {
    StringBuilder text = new StringBuilder();
    for (byte b : utf8) {
      if (b > 0 && PLAIN.indexOf(b) >= 0) {
        text.append((char) b);
      } else {
        text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
      }
    }
    return text.toString();
  }

  private static String sha256(String text) throws Exception {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(utf8);
    return HexFormat.of().formatHex(hash, 0, 16);
  }

  @Test
  void key_ofTheSpecsExample_isItsText() {
    String key =
        new KeyBuilder()
            .literal("payments.payment_success:v1:")
            .require(true, "payment_id")
            .string("p/17", "payment_id")
            .key();
    assertEquals("payments.payment_success:v1:p%2F17", key);
  }

  @Test
  void string_ofEveryCharacterOfTheBmp_isEscapedByteByByte() {
    for (int c = 0; c < 0x10000; c++) {
      if (Character.isSurrogate((char) c)) {
        continue;
      }
      String value = "a" + (char) c + "b";
      byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
      assertEquals(escaped(utf8), new KeyBuilder().string(value, "f").key());
      assertEquals(escaped(utf8), new KeyBuilder().utf8(utf8, "f").key());
    }
  }

  @Test
  void string_ofRandomUnits_isRefusedWhereTheStrictEncoderRefuses() {
    Random random = new Random(11);
    char[] units = {'a', '/', '\u00e9', '\u20ac', '\u0141', '\ud83d', '\ude00', '\udfff', '\ud800'};
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(6); n > 0; n--) {
        text.append(units[random.nextInt(units.length)]);
      }
      String value = text.toString();
      String want;
      try {
        ByteBuffer utf8 =
            StandardCharsets.UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(text));
        want = escaped(java.util.Arrays.copyOf(utf8.array(), utf8.limit()));
      } catch (CharacterCodingException e) {
        want = "STRING_UTF8";
      }
      assertEquals(want, answer(() -> new KeyBuilder().string(value, "f").key()));
    }
  }

  @Test
  void utf8_ofRandomBytes_isRefusedWhereTheStrictDecoderRefuses() {
    Random random = new Random(12);
    int[] interesting = {
      0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
      0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff
    };
    for (int i = 0; i < 50_000; i++) {
      byte[] value = new byte[random.nextInt(6)];
      for (int k = 0; k < value.length; k++) {
        value[k] = (byte) interesting[random.nextInt(interesting.length)];
      }
      String want;
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value));
        want = escaped(value);
      } catch (CharacterCodingException e) {
        want = "STRING_UTF8";
      }
      assertEquals(want, answer(() -> new KeyBuilder().utf8(value, "f").key()));
    }
  }

  @ParameterizedTest
  @CsvSource({"'',", "00,00", "ff0a,ff0a", "deadbeef,deadbeef"})
  void bytes_ofAnything_areLowerCaseHex(String hex, String want) {
    byte[] value = HexFormat.of().parseHex(hex);
    assertEquals(want == null ? "" : want, new KeyBuilder().bytes(value).key());
  }

  @Test
  void absent_isNoText() {
    assertEquals("t:~", new KeyBuilder().literal("t:").sha256().absent().key());
    assertEquals("t:%7E", new KeyBuilder().literal("t:").string("~", "f").key());
    assertEquals("t:", new KeyBuilder().literal("t:").string("", "f").key());
  }

  @Test
  void require_ofWhatIsMissing_namesTheField() {
    IdemException e =
        assertFault(
            ErrorCode.KEY_COMPONENT_MISSING, () -> new KeyBuilder().require(false, "customer.id"));
    assertEquals("customer.id", e.field());
  }

  @Test
  void sha256_ofAnyComponent_isThatOfItsTextBeforeEscaping() throws Exception {
    assertDigest("a/b \u20ac", key -> key.string("a/b \u20ac", "f"));
    assertDigest("", key -> key.string("", "f"));
    assertDigest("a/b", key -> key.utf8("a/b".getBytes(StandardCharsets.UTF_8), "f"));
    assertDigest(
        "00ff".repeat(2_000), key -> key.bytes(HexFormat.of().parseHex("00ff".repeat(2_000))));
    assertDigest("true", key -> key.bool(true));
    assertDigest("-5", key -> key.int64(-5));
    assertDigest("18446744073709551615", key -> key.uint64(-1));
    assertDigest("4294967295", key -> key.uint32(-1));
    assertDigest("1.5", key -> key.decimal("1.50", 2, "f"));
    assertDigest("USD-0.5", key -> key.money("USD", 0, -500_000_000, "f"));
    assertDigest("1970-01-01T00:00:00Z", key -> key.timestamp(0, 0, 0, "f"));
    assertDigest("1970-01-01T00:00:00Z", key -> key.epoch(0, EpochUnit.MILLIS, 0, "f"));
    assertDigest("1970-01-01T00:00:00Z", key -> key.rfc3339("1970-01-01T00:00:00Z", 0, "f"));
    assertDigest("-1.500s", key -> key.duration(-1, -500_000_000, 3, "f"));
    assertDigest("2025-01-01", key -> key.date(2025, 1, 1, "f"));
    String uuid = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    assertDigest(uuid, key -> key.uuid(uuid, "f"));
  }

  private static void assertDigest(String text, UnaryOperator<KeyBuilder> component)
      throws Exception {
    // The next component is itself again.
    String key = component.apply(new KeyBuilder().sha256()).literal(":").string("x", "f").key();
    assertEquals(sha256(text) + ":x", key);
  }

  @Test
  void key_of1024Bytes_isTheLongest() {
    for (int size : new int[] {0, 1, 127, 128, 129, 1000, 1023, 1024}) {
      assertEquals("x".repeat(size), new KeyBuilder().string("x".repeat(size), "f").key());
    }
    assertFault(ErrorCode.KEY_TOO_LONG, () -> new KeyBuilder().string("x".repeat(1025), "f").key());
    String nearly = "x".repeat(1000);
    String time = ":1970-01-01T00:00:00.00Z";
    assertEquals(
        nearly + time, new KeyBuilder().literal(nearly + ":").timestamp(0, 0, 2, "f").key());
    assertFault(
        ErrorCode.KEY_TOO_LONG,
        () -> new KeyBuilder().literal(nearly + ":").timestamp(0, 0, 3, "f").key());
    assertEquals(
        "x".repeat(1021) + "%2F",
        new KeyBuilder().literal("x".repeat(1021)).string("/", "f").key());
    assertFault(
        ErrorCode.KEY_TOO_LONG,
        () -> new KeyBuilder().literal("x".repeat(1022)).string("/", "f").key());
  }

  @Test
  void key_thatIsTooLong_stillNamesTheFirstFaultyComponent() {
    IdemException e =
        assertFault(
            ErrorCode.STRING_UTF8,
            () ->
                new KeyBuilder()
                    .string("x".repeat(5_000), "a")
                    .string("y".repeat(5_000) + "\ud800", "b")
                    .decimal("z", -1, "c")
                    .key());
    assertEquals("b", e.field());
    assertEquals(5_000, e.offset());
  }

  @Test
  void key_ofMegabytes_keepsOneKilobyte() {
    KeyBuilder key = new KeyBuilder();
    String megabyte = "/".repeat(1 << 20);
    for (int i = 0; i < 20; i++) {
      key.string(megabyte, "f").bytes(new byte[1 << 16]);
    }
    assertTrue(key.bytes.length <= KeyBuilder.MAX_BYTES);
    assertFault(ErrorCode.KEY_TOO_LONG, key::key);
  }

  @Test
  void unbounded_hasNoLimit() {
    String value = "\u20ac".repeat(100_000);
    assertEquals("%E2%82%AC".repeat(100_000), KeyBuilder.unbounded().string(value, "f").key());
  }

  @Test
  void bizKey_ofNoBytes_isEmpty() {
    assertFault(ErrorCode.KEY_EMPTY, () -> new KeyBuilder().string("", "f").bizKey());
    assertEquals("~", new KeyBuilder().absent().bizKey());
  }

  @Test
  void fault_ofARedactedComponent_hasNoValue() {
    KeyBuilder key = new KeyBuilder().redacted().string("card", "c");
    IdemException open = assertFault(ErrorCode.UUID_SYNTAX, () -> key.uuid("open", "u"));
    assertEquals("open", open.value());
    IdemException hidden =
        assertFault(
            ErrorCode.UUID_SYNTAX, () -> new KeyBuilder().sha256().redacted().uuid("4111", "u"));
    assertNull(hidden.value());
    assertTrue(!hidden.getMessage().contains("4111"), hidden.getMessage());
    IdemException half =
        assertFault(
            ErrorCode.STRING_UTF8,
            () -> new KeyBuilder().redacted().sha256().string("4\ud800", "u"));
    assertNull(half.value());
    assertEquals("u", half.field());
  }
}
