// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The text of a UUID (TXT-060). */
final class UuidText {
  private static final String SHAPE = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

  private UuidText() {}

  static void append(KeyBuilder out, String text) {
    int bad = faultOf(text);
    if (bad >= 0) {
      throw out.fault(ErrorCode.UUID_SYNTAX, bad, text);
    }
    for (int i = 0; i < SHAPE.length(); i++) {
      char c = text.charAt(i);
      out.ascii(c >= 'A' && c <= 'F' ? (char) (c + ('a' - 'A')) : c);
    }
  }

  private static int faultOf(String text) {
    int n = SHAPE.length();
    for (int i = 0; i < n; i++) {
      if (i == text.length() || !fits(text.charAt(i), SHAPE.charAt(i))) {
        return i;
      }
    }
    return text.length() == n ? -1 : n;
  }

  private static boolean fits(char c, char shape) {
    if (shape == '-') {
      return c == '-';
    }
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }
}
