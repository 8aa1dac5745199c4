package io.github.idemspec.conformance;

import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.IdemException;

/** An integer of any size, as the protocol writes it. */
final class Int {
  private static final String MAX_UNSIGNED = "18446744073709551615";

  private final String text;

  Int(String text) {
    this.text = text;
  }

  /** Whether the text is canonical base 10. */
  static boolean isCanonical(String text) {
    int n = text.length();
    int start = n > 0 && text.charAt(0) == '-' ? 1 : 0;
    for (int i = start; i < n; i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return n > start && (text.charAt(start) != '0' || text.equals("0"));
  }

  boolean isNegative() {
    return text.charAt(0) == '-';
  }

  /** The value; the nearest long where it is none. */
  long saturated() {
    boolean negative = isNegative();
    if (text.length() > 20) {
      return negative ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    long least = 0;
    for (int i = negative ? 1 : 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      // Downwards, since there is one more number below zero than above.
      if (least < (Long.MIN_VALUE + digit) / 10) {
        return negative ? Long.MIN_VALUE : Long.MAX_VALUE;
      }
      least = least * 10 - digit;
    }
    if (negative) {
      return least;
    }
    return least == Long.MIN_VALUE ? Long.MAX_VALUE : -least;
  }

  /** The value, or the code where it is out of bounds. */
  long in(long least, long most, ErrorCode code) {
    long value = saturated();
    boolean fits = value >= least && value <= most;
    // At the ends of the range of a long, saturation hides what was there.
    if (!fits || ((value == Long.MAX_VALUE || value == Long.MIN_VALUE) && !isLong())) {
      throw new IdemException(code, null, -1, text);
    }
    return value;
  }

  int asInt32(ErrorCode code) {
    return (int) in(Integer.MIN_VALUE, Integer.MAX_VALUE, code);
  }

  long asInt64(ErrorCode code) {
    return in(Long.MIN_VALUE, Long.MAX_VALUE, code);
  }

  boolean isLong() {
    return text.equals(Long.toString(saturated()));
  }

  /** All 64 bits are magnitude; the code below 0 and above 2^64-1. */
  long asUint64(ErrorCode code) {
    int n = text.length();
    boolean fits =
        n < MAX_UNSIGNED.length()
            || (n == MAX_UNSIGNED.length() && text.compareTo(MAX_UNSIGNED) <= 0);
    if (isNegative() || !fits) {
      throw new IdemException(code, null, -1, text);
    }
    return Long.parseUnsignedLong(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
