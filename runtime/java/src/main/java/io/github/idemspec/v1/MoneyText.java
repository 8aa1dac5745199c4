// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The text of a {@code google.type.Money} (TXT-010 to TXT-012). */
final class MoneyText {
  private static final int MAX_NANOS = 999_999_999;

  private MoneyText() {}

  static void append(KeyBuilder out, String currency, long units, int nanos) {
    if (!isCurrency(currency)) {
      throw out.fault(ErrorCode.MONEY_CURRENCY, -1, currency);
    }
    boolean mixed = (units > 0 && nanos < 0) || (units < 0 && nanos > 0);
    if (mixed || nanos < -MAX_NANOS || nanos > MAX_NANOS) {
      throw out.fault(ErrorCode.MONEY_RANGE, -1, "units " + units + ", nanos " + nanos);
    }
    out.ascii(currency);
    if (units < 0 || nanos < 0) {
      out.ascii('-');
    }
    // The magnitude of the least long is right as an unsigned number.
    out.unsigned(units < 0 ? -units : units);
    if (nanos != 0) {
      int fraction = Math.abs(nanos);
      int digits = 9;
      for (; fraction % 10 == 0; fraction /= 10) {
        digits--;
      }
      out.ascii('.');
      out.padded(fraction, digits);
    }
  }

  private static boolean isCurrency(String code) {
    return code.length() == 3
        && isLetter(code.charAt(0))
        && isLetter(code.charAt(1))
        && isLetter(code.charAt(2));
  }

  private static boolean isLetter(char c) {
    return c >= 'A' && c <= 'Z';
  }
}
