// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The syntax of header values (HDR-002, HDR-003), and how a transport writes them. */
final class HeaderText {
  private static final int MAX_NAME = 200;
  private static final int MAX_BYTES = 1024;
  private static final String YEAR_ZERO = "0000";

  private HeaderText() {}

  /**
   * The code of the first fault of a well-formed value by syntax, then range; null where it is
   * fine.
   */
  static ErrorCode faultOf(HeaderName name, String text) {
    switch (name.kind()) {
      case KEY:
        if (text.isEmpty() || !isVisible(text)) {
          return ErrorCode.KEY_SYNTAX;
        }
        return text.length() > KeyBuilder.MAX_BYTES ? ErrorCode.KEY_TOO_LONG : null;
      case NAME:
        return syntax(!text.isEmpty() && isName(text));
      case STATE:
        return syntax(isName(text));
      case FINGERPRINT:
        return syntax(Fingerprint.isWellFormed(text));
      case INTEGER:
        return integerFault(name, text);
      case SCHEDULE:
        return scheduleFault(name, text);
      case TIME:
      case CONTEXT_TIME:
        ErrorCode fault = syntax(TimestampText.faultOf(text, true) < 0);
        return fault != null || !text.startsWith(YEAR_ZERO) ? fault : ErrorCode.HEADER_RANGE;
      case ID:
        return syntax(!text.isEmpty() && Utf8.size(text, text.length()) <= MAX_BYTES);
      case REASON:
        return syntax(Utf8.size(text, text.length()) <= MAX_BYTES && !hasControls(text));
      default:
        return null;
    }
  }

  private static ErrorCode syntax(boolean right) {
    return right ? null : ErrorCode.HEADER_SYNTAX;
  }

  private static ErrorCode integerFault(HeaderName name, String text) {
    if (!isInteger(text)) {
      return ErrorCode.HEADER_SYNTAX;
    }
    if (name.isInRange(integer(text))) {
      return null;
    }
    return name == HeaderName.IDEM_SPEC ? ErrorCode.SPEC_VERSION : ErrorCode.HEADER_RANGE;
  }

  private static ErrorCode scheduleFault(HeaderName name, String text) {
    String[] entries = text.split(",", -1);
    for (String entry : entries) {
      if (!isInteger(entry)) {
        return ErrorCode.HEADER_SYNTAX;
      }
    }
    boolean fits = entries.length <= HeaderName.MAX_SCHEDULE;
    for (String entry : entries) {
      fits &= name.isInRange(integer(entry));
    }
    return fits ? null : ErrorCode.HEADER_RANGE;
  }

  /** Whether the text is a canonical integer that is not negative. */
  private static boolean isInteger(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return text.length() == 1 || (!text.isEmpty() && text.charAt(0) != '0');
  }

  /** The value of a canonical integer; beyond every range where it has more than 18 digits. */
  static long integer(String text) {
    if (text.length() > 18) {
      return Long.MAX_VALUE;
    }
    long value = 0;
    for (int i = 0; i < text.length(); i++) {
      value = value * 10 + (text.charAt(i) - '0');
    }
    return value;
  }

  /** The entries of a schedule without a fault. */
  static long[] schedule(String text) {
    String[] entries = text.split(",", -1);
    long[] schedule = new long[entries.length];
    for (int i = 0; i < entries.length; i++) {
      schedule[i] = integer(entries[i]);
    }
    return schedule;
  }

  static String schedule(int[] entries) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < entries.length; i++) {
      text.append(i == 0 ? "" : ",").append(entries[i]);
    }
    return text.toString();
  }

  private static boolean isVisible(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < 0x21 || text.charAt(i) > 0x7e) {
        return false;
      }
    }
    return true;
  }

  private static boolean isName(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      boolean digit = c >= '0' && c <= '9';
      if (!letter && !digit && c != '.' && c != '_' && c != '-') {
        return false;
      }
    }
    return text.length() <= MAX_NAME;
  }

  private static boolean isControl(char c) {
    return c < 0x20 || c == 0x7f;
  }

  private static boolean hasControls(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (isControl(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }

  /** The text with a blank for each control character. */
  static String withoutControls(String text) {
    if (!hasControls(text)) {
      return text;
    }
    char[] chars = text.toCharArray();
    for (int i = 0; i < chars.length; i++) {
      if (isControl(chars[i])) {
        chars[i] = ' ';
      }
    }
    return new String(chars);
  }

  /** A reject reason as it is written (HDR-023, HDR-044). */
  static String reason(String text, Transport transport) {
    String cut = Utf8.cut(withoutControls(text), MAX_BYTES);
    if (transport != Transport.HTTP) {
      return cut;
    }
    StringBuilder ascii = new StringBuilder(cut.length());
    for (int i = 0; i < cut.length(); i++) {
      ascii.append(cut.charAt(i) > 0x7e ? '?' : cut.charAt(i));
      if (Utf8.isPairAt(cut, i)) {
        i++;
      }
    }
    return ascii.toString();
  }

  /** Whether all bytes are 20 to 7E, as a value of HTTP must be (HDR-044). */
  static boolean isPrintable(byte[] value) {
    for (byte b : value) {
      if (b < 0x20 || b > 0x7e) {
        return false;
      }
    }
    return true;
  }

  /** The value without the blanks and tabs around it (HDR-042). */
  static byte[] trimmed(byte[] value) {
    int start = 0;
    int end = value.length;
    while (start < end && isBlank(value[start])) {
      start++;
    }
    while (end > start && isBlank(value[end - 1])) {
      end--;
    }
    return start == 0 && end == value.length ? value : Arrays.copyOfRange(value, start, end);
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\t';
  }

  /** Whether a value asks to be read as a structured-field string (HDR-043). */
  static boolean isQuoted(byte[] value) {
    return value.length > 0 && value[0] == '"';
  }

  /** What a structured-field string holds, or null where the value is none as a whole. */
  static byte[] unquoted(byte[] value) {
    byte[] text = new byte[value.length];
    int n = 0;
    int last = value.length - 1;
    for (int i = 1; i < last; i++) {
      byte b = value[i];
      if (b == '\\') {
        i++;
        if (i == last || (value[i] != '"' && value[i] != '\\')) {
          return null;
        }
        b = value[i];
      } else if (b == '"' || b < 0x20 || b > 0x7e) {
        return null;
      }
      text[n++] = b;
    }
    return last > 0 && value[last] == '"' ? Arrays.copyOf(text, n) : null;
  }

  /** A key as a structured-field string. */
  static byte[] quoted(byte[] key) {
    StringBuilder text = new StringBuilder(key.length + 2).append('"');
    for (byte b : key) {
      if (b == '"' || b == '\\') {
        text.append('\\');
      }
      text.append((char) b);
    }
    return text.append('"').toString().getBytes(StandardCharsets.ISO_8859_1);
  }
}
