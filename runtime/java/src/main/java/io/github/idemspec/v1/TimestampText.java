// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * The text of a timestamp, from seconds and nanos, a count from the epoch, or RFC 3339 (TXT-020 to
 * TXT-025).
 */
final class TimestampText {
  private static final long MIN_SECONDS = -62_135_596_800L;
  private static final long MAX_SECONDS = 253_402_300_799L;
  private static final int SECONDS_A_DAY = 86_400;
  private static final String SHAPE = "0000-00-00T00:00:00";

  private TimestampText() {}

  static void append(KeyBuilder out, long seconds, int nanos, int digits) {
    if (seconds < MIN_SECONDS || seconds > MAX_SECONDS || nanos < 0 || nanos > 999_999_999) {
      throw range(out, seconds, nanos);
    }
    int day = (int) Math.floorDiv(seconds, (long) SECONDS_A_DAY);
    int second = (int) (seconds - (long) day * SECONDS_A_DAY);
    int kept = KeyBuilder.cut(nanos, digits);
    int size = SHAPE.length() + (digits == 0 ? 1 : digits + 2);
    int at = out.claim(size);
    if (at >= 0) {
      byte[] to = out.bytes;
      DateText.writeDay(to, at, day);
      to[at + 10] = 'T';
      KeyBuilder.writeTwo(to, at + 11, second / 3600);
      to[at + 13] = ':';
      KeyBuilder.writeTwo(to, at + 14, second / 60 % 60);
      to[at + 16] = ':';
      KeyBuilder.writeTwo(to, at + 17, second % 60);
      if (digits > 0) {
        to[at + 19] = '.';
        out.write(kept, at + 20, digits);
      }
      to[at + size - 1] = 'Z';
      out.length = at + size;
    }
  }

  /** A signed count. A value below zero floors. */
  static void appendEpoch(KeyBuilder out, long value, EpochUnit unit, int digits) {
    long seconds = Math.floorDiv(value, (long) unit.perSecond);
    long rest = Math.floorMod(value, (long) unit.perSecond);
    append(out, seconds, (int) (rest * (1_000_000_000 / unit.perSecond)), digits);
  }

  /** A count of which all 64 bits are magnitude. */
  static void appendUnsignedEpoch(KeyBuilder out, long value, EpochUnit unit, int digits) {
    long seconds = Long.divideUnsigned(value, unit.perSecond);
    if (seconds < 0) {
      // 2^63 seconds and more, which a long takes for a time before 1970.
      throw out.fault(ErrorCode.TIMESTAMP_RANGE, -1, Long.toUnsignedString(value));
    }
    long rest = Long.remainderUnsigned(value, unit.perSecond);
    append(out, seconds, (int) (rest * (1_000_000_000 / unit.perSecond)), digits);
  }

  static void appendRfc3339(KeyBuilder out, String text, int digits) {
    int bad = faultOf(text, false);
    if (bad >= 0) {
      throw out.fault(ErrorCode.TIMESTAMP_SYNTAX, bad, text);
    }
    long seconds = secondsOf(text);
    if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
      throw out.fault(ErrorCode.TIMESTAMP_RANGE, -1, text);
    }
    append(out, seconds, nanosOf(text), digits);
  }

  /**
   * The index of what makes the text no timestamp, or -1. With {@code zulu}, an offset is a fault.
   */
  static int faultOf(String text, boolean zulu) {
    int n = text.length();
    for (int i = 0; i < SHAPE.length(); i++) {
      if (i == n || !fits(text.charAt(i), SHAPE.charAt(i))) {
        return i;
      }
    }
    int month = number(text, 5, 2);
    if (month < 1 || month > 12) {
      return 5;
    }
    int day = number(text, 8, 2);
    if (day < 1 || day > DateText.daysIn(number(text, 0, 4), month)) {
      return 8;
    }
    if (number(text, 11, 2) > 23) {
      return 11;
    }
    if (number(text, 14, 2) > 59) {
      return 14;
    }
    if (number(text, 17, 2) > 59) {
      return 17;
    }
    int i = fractionEnd(text);
    if (i < 0) {
      return -i;
    }
    if (i < n && text.charAt(i) == 'Z') {
      return i + 1 == n ? -1 : i + 1;
    }
    return zulu ? i : offsetFault(text, i);
  }

  private static boolean fits(char c, char shape) {
    return shape == '0' ? c >= '0' && c <= '9' : c == shape;
  }

  /** The index after the fraction; where it has no digit or more than nine, that index, negated. */
  private static int fractionEnd(String text) {
    int i = SHAPE.length();
    if (i == text.length() || text.charAt(i) != '.') {
      return i;
    }
    i++;
    while (i < text.length() && fits(text.charAt(i), '0')) {
      i++;
    }
    int digits = i - SHAPE.length() - 1;
    return digits >= 1 && digits <= 9 ? i : -i;
  }

  private static int offsetFault(String text, int start) {
    String shape = "+00:00";
    for (int k = 0; k < shape.length(); k++) {
      int i = start + k;
      boolean minus = k == 0 && i < text.length() && text.charAt(i) == '-';
      if (i >= text.length() || !(minus || fits(text.charAt(i), shape.charAt(k)))) {
        return i;
      }
    }
    if (number(text, start + 1, 2) > 23) {
      return start + 1;
    }
    if (number(text, start + 4, 2) > 59) {
      return start + 4;
    }
    return start + 6 == text.length() ? -1 : start + 6;
  }

  /** The whole seconds of a text without a fault: its local time less its offset. */
  static long secondsOf(String text) {
    int days = DateText.dayOf(number(text, 0, 4), number(text, 5, 2), number(text, 8, 2));
    int clock = number(text, 11, 2) * 3600 + number(text, 14, 2) * 60 + number(text, 17, 2);
    long local = (long) days * SECONDS_A_DAY + clock;
    int n = text.length();
    if (text.charAt(n - 1) == 'Z') {
      return local;
    }
    int offset = number(text, n - 5, 2) * 3600 + number(text, n - 2, 2) * 60;
    return text.charAt(n - 6) == '-' ? local + offset : local - offset;
  }

  /** The nanos of a text without a fault. */
  static int nanosOf(String text) {
    if (text.charAt(SHAPE.length()) != '.') {
      return 0;
    }
    int start = SHAPE.length() + 1;
    int nanos = 0;
    boolean more = true;
    for (int k = 0; k < 9; k++) {
      more = more && fits(text.charAt(start + k), '0');
      nanos = nanos * 10 + (more ? text.charAt(start + k) - '0' : 0);
    }
    return nanos;
  }

  private static int number(String text, int start, int digits) {
    int value = 0;
    for (int i = start; i < start + digits; i++) {
      value = value * 10 + (text.charAt(i) - '0');
    }
    return value;
  }

  private static IdemException range(KeyBuilder out, long seconds, int nanos) {
    return out.fault(ErrorCode.TIMESTAMP_RANGE, -1, "seconds " + seconds + ", nanos " + nanos);
  }
}
