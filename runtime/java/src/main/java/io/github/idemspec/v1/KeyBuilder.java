// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Renders a key, a biz key, or the text of a fingerprint, from left to right (chapters 2 and 4).
 *
 * <pre>{@code
 * String key = new KeyBuilder()
 *     .literal("payments.payment_success:v1:")
 *     .require(!m.getPaymentId().isEmpty(), "payment_id").string(m.getPaymentId(), "payment_id")
 *     .key();
 * }</pre>
 *
 * <p>Each component is written in its canonical text and escaped; the first that fails throws an
 * {@link IdemException} with the path of its field. A text that is longer than 1024 bytes is an
 * error only when it is taken, after all its components have been looked at (KEY-011); what is
 * beyond that length is not kept. A builder is used once, by one thread.
 */
public final class KeyBuilder {
  /** The most bytes of a key. */
  public static final int MAX_BYTES = 1024;

  private static final int FIRST_CAPACITY = 128;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] UPPER_HEX = "0123456789ABCDEF".getBytes(StandardCharsets.ISO_8859_1);

  /** 0 for the characters of ASCII that a component has as they are, 1 for those it escapes. */
  private static final byte[] SPECIAL = special();

  private final int limit;

  /** The text, and room behind it. */
  byte[] bytes;

  /** The bytes so far; {@code limit + 1} once there were more, and then nothing is kept. */
  int length;

  private String field;
  private boolean redacted;
  private boolean digested;

  /** An empty text of at most {@link #MAX_BYTES}. */
  public KeyBuilder() {
    this(MAX_BYTES, FIRST_CAPACITY);
  }

  private KeyBuilder(int limit, int capacity) {
    this.limit = limit;
    this.bytes = new byte[capacity];
  }

  /** An empty text without a bound on its length: for a component that is looked at on its own. */
  public static KeyBuilder unbounded() {
    return new KeyBuilder(Integer.MAX_VALUE - 16, FIRST_CAPACITY);
  }

  // What a template says.

  /** Appends part of a template as it is: literals and their colons. */
  public KeyBuilder literal(String text) {
    ascii(text);
    return this;
  }

  /**
   * Asks that a field be there before it is read (KEY-004).
   *
   * @param present whether it is
   * @param path the field's path
   * @throws IdemException KEY_COMPONENT_MISSING
   */
  public KeyBuilder require(boolean present, String path) {
    if (!present) {
      throw new IdemException(ErrorCode.KEY_COMPONENT_MISSING, path, -1, null);
    }
    return this;
  }

  /** Appends {@code ~}, for a field that is allowed to be missing and is unset (KEY-005). */
  public KeyBuilder absent() {
    redacted = false;
    digested = false;
    ascii('~');
    return this;
  }

  /** Makes the next component the first 32 hex digits of its text's SHA-256 (KEY-003). */
  public KeyBuilder sha256() {
    digested = true;
    return this;
  }

  /** Leaves the value of the next component out of its error: it is marked {@code debug_redact}. */
  public KeyBuilder redacted() {
    redacted = true;
    return this;
  }

  // Components.

  /**
   * Appends text, escaped (TXT-070, KEY-001).
   *
   * @throws IdemException STRING_UTF8 where it has half a surrogate pair
   */
  public KeyBuilder string(String value, String path) {
    if (digested) {
      return digest(encode(value, path));
    }
    int n = value.length();
    int at = claim(n);
    if (at >= 0) {
      // One pass without a branch for each character: most text has nothing to escape.
      byte[] to = bytes;
      int special = 0;
      for (int i = 0; i < n; i++) {
        char c = value.charAt(i);
        special |= c >> 7 | SPECIAL[c & 0x7f];
        to[at + i] = (byte) c;
      }
      if (special == 0) {
        length = at + n;
        return done();
      }
    }
    return escaped(value, path);
  }

  /**
   * Whether a text that a getter of an unchecked field gave, as of a proto2 {@code string}, may
   * stand for ill-formed bytes, which are then to be asked: it has a U+FFFD, which the getter
   * writes for them, and is well-formed itself. Half a surrogate pair comes from no bytes, and
   * asking for them would replace it.
   */
  public static boolean isDoubtful(String text) {
    return text.indexOf('\ufffd') >= 0 && Utf8.faultOf(text) < 0;
  }

  /**
   * Appends text that comes as bytes which nobody has looked at, as in a proto2 {@code string}.
   *
   * @throws IdemException STRING_UTF8 where they are ill-formed
   */
  public KeyBuilder utf8(byte[] value, String path) {
    int bad = Utf8.faultOf(value);
    if (bad >= 0) {
      field = path;
      throw fault(ErrorCode.STRING_UTF8, bad, Utf8.lenient(value));
    }
    if (digested) {
      return digest(value);
    }
    for (byte b : value) {
      escape(b);
    }
    return done();
  }

  /** Appends bytes in lower-case hex (TXT-054). */
  public KeyBuilder bytes(byte[] value) {
    KeyBuilder to = digested ? new KeyBuilder(Integer.MAX_VALUE - 16, 2 * value.length) : this;
    for (byte b : value) {
      to.hex(b);
    }
    return end(to);
  }

  /** Appends {@code true} or {@code false} (TXT-052). */
  public KeyBuilder bool(boolean value) {
    KeyBuilder to = digested ? new KeyBuilder() : this;
    to.ascii(value ? "true" : "false");
    return end(to);
  }

  /** Appends an int32, sint32 or sfixed32, or the number of an enum (TXT-050, TXT-053). */
  public KeyBuilder int32(int value) {
    return int64(value);
  }

  /** Appends a uint32 or fixed32, which a Java int holds in all of its bits (TXT-050). */
  public KeyBuilder uint32(int value) {
    return int64(value & 0xffff_ffffL);
  }

  /** Appends an int64, sint64 or sfixed64 (TXT-050). */
  public KeyBuilder int64(long value) {
    KeyBuilder to = digested ? new KeyBuilder() : this;
    if (value < 0) {
      to.ascii('-');
    }
    to.unsigned(value < 0 ? -value : value);
    return end(to);
  }

  /** Appends a uint64 or fixed64, which a Java long holds in all of its bits (TXT-050). */
  public KeyBuilder uint64(long value) {
    KeyBuilder to = digested ? new KeyBuilder() : this;
    to.unsigned(value);
    return end(to);
  }

  /**
   * Appends a decimal (TXT-001 to TXT-006).
   *
   * @param maxScale the most fraction digits once trailing zeros are gone; negative where any
   *     number is fine
   * @throws IdemException DECIMAL_SYNTAX, DECIMAL_RANGE or DECIMAL_SCALE
   */
  public KeyBuilder decimal(String value, int maxScale, String path) {
    KeyBuilder to = begin(path);
    DecimalText.append(to, value, maxScale);
    return end(to);
  }

  /**
   * Appends the {@code value} of a {@code google.type.Decimal} that is set: empty is 0 (TXT-008).
   */
  public KeyBuilder decimalOrZero(String value, int maxScale, String path) {
    return decimal(value.isEmpty() ? "0" : value, maxScale, path);
  }

  /**
   * Appends a {@code google.type.Money} (TXT-010 to TXT-012).
   *
   * @throws IdemException MONEY_CURRENCY or MONEY_RANGE
   */
  public KeyBuilder money(String currencyCode, long units, int nanos, String path) {
    KeyBuilder to = begin(path);
    MoneyText.append(to, currencyCode, units, nanos);
    return end(to);
  }

  /**
   * Appends a timestamp, not escaped (TXT-020 to TXT-022, KEY-002).
   *
   * @param seconds since 1970-01-01T00:00:00Z
   * @param nanos 0 to 999999999, after those seconds
   * @param fractionDigits 0 to 9; further ones are cut
   * @throws IdemException TIMESTAMP_RANGE
   */
  public KeyBuilder timestamp(long seconds, int nanos, int fractionDigits, String path) {
    KeyBuilder to = begin(path);
    TimestampText.append(to, seconds, nanos, fractionDigits);
    return end(to);
  }

  /**
   * Appends a timestamp that is a signed count from 1970-01-01T00:00:00Z (TXT-023).
   *
   * @throws IdemException TIMESTAMP_RANGE
   */
  public KeyBuilder epoch(long value, EpochUnit unit, int fractionDigits, String path) {
    KeyBuilder to = begin(path);
    TimestampText.appendEpoch(to, value, unit, fractionDigits);
    return end(to);
  }

  /**
   * The same for a uint64 or fixed64. A 32-bit one is widened by its caller, without its sign.
   *
   * @throws IdemException TIMESTAMP_RANGE
   */
  public KeyBuilder epochUnsigned(long value, EpochUnit unit, int fractionDigits, String path) {
    KeyBuilder to = begin(path);
    TimestampText.appendUnsignedEpoch(to, value, unit, fractionDigits);
    return end(to);
  }

  /**
   * Appends a timestamp that is text of RFC 3339 as TXT-024 restricts it.
   *
   * @throws IdemException TIMESTAMP_SYNTAX or TIMESTAMP_RANGE
   */
  public KeyBuilder rfc3339(String value, int fractionDigits, String path) {
    KeyBuilder to = begin(path);
    TimestampText.appendRfc3339(to, value, fractionDigits);
    return end(to);
  }

  /**
   * Appends a {@code google.protobuf.Duration} (TXT-030 to TXT-032).
   *
   * @param fractionDigits 0 to 9; further ones are cut, toward zero
   * @throws IdemException DURATION_RANGE
   */
  public KeyBuilder duration(long seconds, int nanos, int fractionDigits, String path) {
    KeyBuilder to = begin(path);
    DurationText.append(to, seconds, nanos, fractionDigits);
    return end(to);
  }

  /**
   * Appends a {@code google.type.Date} (TXT-040).
   *
   * @throws IdemException DATE_RANGE
   */
  public KeyBuilder date(int year, int month, int day, String path) {
    KeyBuilder to = begin(path);
    DateText.append(to, year, month, day);
    return end(to);
  }

  /**
   * Appends a UUID in lower case (TXT-060).
   *
   * @throws IdemException UUID_SYNTAX
   */
  public KeyBuilder uuid(String value, String path) {
    KeyBuilder to = begin(path);
    UuidText.append(to, value);
    return end(to);
  }

  // The text.

  /**
   * The rendered text.
   *
   * @throws IdemException KEY_TOO_LONG where it has more than {@link #MAX_BYTES}
   */
  @SuppressWarnings("deprecation") // A plain copy; by a charset, it takes longer to find that out.
  public String key() {
    checkLength();
    return new String(bytes, 0, 0, length);
  }

  /**
   * The rendered text as a biz key (KEY-013).
   *
   * @throws IdemException KEY_TOO_LONG, or KEY_EMPTY where it has no bytes
   */
  public String bizKey() {
    if (length == 0) {
      throw new IdemException(ErrorCode.KEY_EMPTY, null, -1, null);
    }
    return key();
  }

  /** The hash of the rendered text (HASH-001); KEY_TOO_LONG as in {@link #key}. */
  long hash() {
    checkLength();
    return Xxh64.hash(bytes, 0, length);
  }

  private void checkLength() {
    if (length > limit) {
      throw new IdemException(ErrorCode.KEY_TOO_LONG, null, -1, null);
    }
  }

  // What the texts of chapter 2 are made of.

  /** An error about the component that is being written. */
  IdemException fault(ErrorCode code, int offset, String value) {
    return new IdemException(code, field, offset, redacted ? null : value);
  }

  /** Appends a character of ASCII. */
  void ascii(char c) {
    int at = claim(1);
    if (at >= 0) {
      bytes[at] = (byte) c;
      length = at + 1;
    }
  }

  /** Appends text of ASCII, which the caller has seen to. */
  @SuppressWarnings(
      "deprecation") // Drops upper bytes, which ASCII has not, and so is a plain copy.
  void ascii(String text) {
    int n = text.length();
    int at = claim(n);
    if (at >= 0) {
      if (n == 1) {
        bytes[at] = (byte) text.charAt(0);
      } else {
        text.getBytes(0, n, bytes, at);
      }
      length = at + n;
    }
  }

  /** Appends a number in as many digits, with zeros before it. */
  void padded(int value, int digits) {
    int at = claim(digits);
    if (at >= 0) {
      write(value, at, digits);
      length = at + digits;
    }
  }

  /** Appends a number all of whose bits are magnitude. */
  void unsigned(long value) {
    long rest = value;
    if (rest < 0) {
      rest = Long.divideUnsigned(value, 10);
      unsigned(rest);
      rest = value - rest * 10;
    }
    int digits = 1;
    for (long bound = 10; digits < 19 && rest >= bound; bound *= 10) {
      digits++;
    }
    int at = claim(digits);
    if (at >= 0) {
      for (int i = at + digits - 1; i >= at; i--) {
        long tens = rest / 10;
        bytes[i] = (byte) ('0' + (rest - tens * 10));
        rest = tens;
      }
      length = at + digits;
    }
  }

  /** Writes a number in as many digits to claimed bytes. */
  void write(int value, int at, int digits) {
    int rest = value;
    for (int i = at + digits - 1; i >= at; i--) {
      int tens = rest / 10;
      bytes[i] = (byte) ('0' + (rest - tens * 10));
      rest = tens;
    }
  }

  /** Writes a number of 0 to 99 in two digits. */
  static void writeTwo(byte[] to, int at, int value) {
    int tens = value / 10;
    to[at] = (byte) ('0' + tens);
    to[at + 1] = (byte) ('0' + (value - tens * 10));
  }

  /** Appends {@code .} and the first digits of the nanos, and nothing for no digits. */
  void fraction(int nanos, int digits) {
    int kept = cut(nanos, digits);
    if (digits > 0) {
      ascii('.');
      padded(kept, digits);
    }
  }

  /** The first digits of nine. */
  static int cut(int nanos, int digits) {
    if (digits < 0 || digits > 9) {
      throw new IllegalArgumentException("fraction digits are 0 to 9, not " + digits);
    }
    if (digits == 3) {
      // Most of all; and a division by a constant is none.
      return nanos / 1_000_000;
    }
    int kept = nanos;
    for (int k = digits; k < 9; k++) {
      kept /= 10;
    }
    return kept;
  }

  private KeyBuilder begin(String path) {
    field = path;
    if (!digested) {
      return this;
    }
    KeyBuilder text = new KeyBuilder();
    text.field = path;
    text.redacted = redacted;
    return text;
  }

  private KeyBuilder end(KeyBuilder text) {
    return text == this ? done() : digest(Arrays.copyOf(text.bytes, text.length));
  }

  private KeyBuilder done() {
    redacted = false;
    return this;
  }

  private KeyBuilder digest(byte[] text) {
    digested = false;
    byte[] hash = sha256Of(text);
    for (int i = 0; i < 16; i++) {
      hex(hash[i]);
    }
    return done();
  }

  private static byte[] sha256Of(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private byte[] encode(String value, String path) {
    int bad = Utf8.faultOf(value);
    if (bad >= 0) {
      field = path;
      throw fault(ErrorCode.STRING_UTF8, Utf8.size(value, bad), value);
    }
    return value.getBytes(StandardCharsets.UTF_8);
  }

  private KeyBuilder escaped(String value, String path) {
    int n = value.length();
    for (int i = 0; i < n; i++) {
      int c = value.charAt(i);
      if (c < 0x80) {
        escape(c);
      } else if (c < 0x800) {
        escape(c >> 6 | 0xc0);
        escape(c & 0x3f | 0x80);
      } else if (!Character.isSurrogate((char) c)) {
        escape(c >> 12 | 0xe0);
        escape(c >> 6 & 0x3f | 0x80);
        escape(c & 0x3f | 0x80);
      } else if (Utf8.isPairAt(value, i)) {
        int point = value.codePointAt(i);
        i++;
        escape(point >> 18 | 0xf0);
        escape(point >> 12 & 0x3f | 0x80);
        escape(point >> 6 & 0x3f | 0x80);
        escape(point & 0x3f | 0x80);
      } else {
        field = path;
        throw fault(ErrorCode.STRING_UTF8, Utf8.size(value, i), value);
      }
    }
    return done();
  }

  private void escape(int b) {
    if (b >= 0 && b < 0x80 && SPECIAL[b] == 0) {
      ascii((char) b);
      return;
    }
    int at = claim(3);
    if (at >= 0) {
      bytes[at] = '%';
      bytes[at + 1] = UPPER_HEX[b >> 4 & 15];
      bytes[at + 2] = UPPER_HEX[b & 15];
      length = at + 3;
    }
  }

  private void hex(byte b) {
    int at = claim(2);
    if (at >= 0) {
      bytes[at] = HEX[b >> 4 & 15];
      bytes[at + 1] = HEX[b & 15];
      length = at + 2;
    }
  }

  /**
   * Makes room for so many bytes, which are then written to {@link #bytes} and counted in {@link
   * #length}.
   *
   * @return where the first of them goes, or -1 where the text is too long, and from then on
   */
  int claim(int count) {
    return count <= bytes.length - length ? length : grow(count);
  }

  private int grow(int count) {
    if (count > limit - length) {
      length = limit + 1;
      return -1;
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(limit, 2L * (length + count)));
    return length;
  }

  private static byte[] special() {
    byte[] special = new byte[128];
    Arrays.fill(special, (byte) 1);
    String plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    for (int i = 0; i < plain.length(); i++) {
      special[plain.charAt(i)] = 0;
    }
    return special;
  }
}
