// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The text of a decimal (TXT-001 to TXT-006). */
final class DecimalText {
  private static final int MAX_BYTES = 256;
  private static final int MAX_EXPONENT_DIGITS = 4;

  private DecimalText() {}

  /** Appends the text of a decimal; a negative {@code maxScale} leaves the scale free. */
  static void append(KeyBuilder out, String text, int maxScale) {
    if (isCanonical(text, maxScale)) {
      out.ascii(text);
    } else {
      new Scan(out, text).append(maxScale);
    }
  }

  /** Whether the text is its own canonical text: what nearly all values of a system are. */
  private static boolean isCanonical(String text, int maxScale) {
    int n = text.length();
    if (n == 0 || n > MAX_BYTES) {
      return false;
    }
    int start = text.charAt(0) == '-' ? 1 : 0;
    int i = digitsEnd(text, start);
    if (i == start || (i - start > 1 && text.charAt(start) == '0')) {
      return false;
    }
    if (i == n) {
      return start == 0 || text.charAt(start) != '0';
    }
    int scale = n - i - 1;
    return text.charAt(i) == '.'
        && scale > 0
        && (maxScale < 0 || scale <= maxScale)
        && text.charAt(n - 1) != '0'
        && digitsEnd(text, i + 1) == n;
  }

  /** The index after the digits that begin at {@code i}. */
  private static int digitsEnd(String text, int i) {
    int n = text.length();
    while (i < n && isDigit(text.charAt(i))) {
      i++;
    }
    return i;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  /** Any text of the grammar: where its parts are, and what they come to. */
  private static final class Scan {
    private final KeyBuilder out;
    private final String text;
    private boolean negative;
    private int wholeStart;
    private int wholeSize;
    private int fractionStart;
    private int size;
    private int exponent;

    Scan(KeyBuilder out, String text) {
      this.out = out;
      this.text = text;
    }

    void append(int maxScale) {
      int end = exponent(mantissa());
      if (end != text.length()) {
        throw fault(ErrorCode.DECIMAL_SYNTAX, end);
      }
      if (exponent == Integer.MAX_VALUE) {
        throw fault(ErrorCode.DECIMAL_RANGE, end - 1);
      }
      int first = 0;
      while (first < size && digit(first) == '0') {
        first++;
      }
      if (first == size) {
        out.ascii('0');
        return;
      }
      int last = size - 1;
      while (digit(last) == '0') {
        last--;
      }
      // How many of the digits from `first` on stand before the point; below 0, zeros come between.
      long point = (long) wholeSize - first + exponent;
      long count = last - first + 1L;
      if (maxScale >= 0 && count - point > maxScale) {
        throw fault(ErrorCode.DECIMAL_SCALE, -1);
      }
      long bytes = point <= 0 ? 2 - point + count : Math.max(point, count == point ? 0 : count + 1);
      if (bytes + (negative ? 1 : 0) > MAX_BYTES) {
        throw fault(ErrorCode.DECIMAL_RANGE, -1);
      }
      write(first, last, (int) point);
    }

    private int mantissa() {
      int i = 0;
      if (i < text.length() && (text.charAt(i) == '+' || text.charAt(i) == '-')) {
        negative = text.charAt(i) == '-';
        i++;
      }
      wholeStart = i;
      i = digitsEnd(text, i);
      wholeSize = i - wholeStart;
      size = wholeSize;
      if (i < text.length() && text.charAt(i) == '.') {
        fractionStart = i + 1;
        i = digitsEnd(text, fractionStart);
        size += i - fractionStart;
      }
      if (size == 0) {
        throw fault(ErrorCode.DECIMAL_SYNTAX, i);
      }
      return i;
    }

    private int exponent(int i) {
      int n = text.length();
      if (i == n || (text.charAt(i) != 'e' && text.charAt(i) != 'E')) {
        return i;
      }
      i++;
      boolean minus = i < n && text.charAt(i) == '-';
      if (minus || (i < n && text.charAt(i) == '+')) {
        i++;
      }
      int end = digitsEnd(text, i);
      if (end == i) {
        throw fault(ErrorCode.DECIMAL_SYNTAX, i);
      }
      while (i < end && text.charAt(i) == '0') {
        i++;
      }
      if (end - i > MAX_EXPONENT_DIGITS) {
        // Known only once the text as a whole has matched the grammar.
        exponent = Integer.MAX_VALUE;
        return end;
      }
      int value = 0;
      for (; i < end; i++) {
        value = value * 10 + (text.charAt(i) - '0');
      }
      exponent = minus ? -value : value;
      return end;
    }

    /** The k-th digit of the mantissa, the point left out. */
    private char digit(int k) {
      return text.charAt(k < wholeSize ? wholeStart + k : fractionStart + k - wholeSize);
    }

    private void write(int first, int last, int point) {
      if (negative) {
        out.ascii('-');
      }
      if (point <= 0) {
        out.ascii('0');
        out.ascii('.');
        zeros(-point);
      }
      for (int k = first; k <= last; k++) {
        if (k - first == point && point > 0) {
          out.ascii('.');
        }
        out.ascii(digit(k));
      }
      zeros(point - (last - first + 1));
    }

    private void zeros(int count) {
      for (int k = 0; k < count; k++) {
        out.ascii('0');
      }
    }

    private IdemException fault(ErrorCode code, int offset) {
      return out.fault(code, offset, text);
    }
  }
}
