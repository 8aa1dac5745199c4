// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.nio.charset.StandardCharsets;

/** Text and its bytes (GEN-004). The platform replaces what is ill-formed; here it is found. */
final class Utf8 {
  private Utf8() {}

  /** The bytes of a text; STRING_UTF8 where it has half a surrogate pair. */
  static byte[] encode(String text) {
    int bad = faultOf(text);
    if (bad >= 0) {
      throw new IdemException(ErrorCode.STRING_UTF8, null, size(text, bad), text);
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The index of the first half of a surrogate pair without the other one, or -1. */
  static int faultOf(String text) {
    int n = text.length();
    for (int i = 0; i < n; i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (!isPairAt(text, i)) {
          return i;
        }
        i++;
      }
    }
    return -1;
  }

  /** Whether a whole surrogate pair begins at the index. */
  static boolean isPairAt(String text, int i) {
    return i + 1 < text.length()
        && Character.isHighSurrogate(text.charAt(i))
        && Character.isLowSurrogate(text.charAt(i + 1));
  }

  /** The index of the first ill-formed sequence, or -1. By table 3-7 of the Unicode standard. */
  static int faultOf(byte[] bytes) {
    int n = bytes.length;
    int i = 0;
    while (i < n) {
      int size = sizeAt(bytes, i, n);
      if (size == 0) {
        return i;
      }
      i += size;
    }
    return -1;
  }

  /** How many bytes the well-formed sequence at the index has; 0 where there is none. */
  private static int sizeAt(byte[] bytes, int i, int n) {
    int lead = bytes[i];
    if (lead >= 0) {
      return 1;
    }
    lead &= 0xff;
    if (lead < 0xc2 || lead > 0xf4) {
      return 0;
    }
    int size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (n - i < size) {
      return 0;
    }
    // The second byte shuts out overlong forms, surrogates, and what is beyond U+10FFFF.
    int second = bytes[i + 1] & 0xff;
    int least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    int most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) {
      return 0;
    }
    for (int k = 2; k < size; k++) {
      if ((bytes[i + k] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return size;
  }

  /** A text for people of bytes that may be ill-formed. Never for a key. */
  static String lenient(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** How many bytes the first {@code chars} UTF-16 units have; half a pair counts 3. */
  static int size(String text, int chars) {
    int size = 0;
    for (int i = 0; i < chars; i++) {
      char c = text.charAt(i);
      if (isPairAt(text, i)) {
        size += 4;
        i++;
      } else {
        size += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
    }
    return size;
  }

  /** The longest beginning of whole characters that has at most {@code maxBytes} bytes. */
  static String cut(String text, int maxBytes) {
    int n = text.length();
    int size = 0;
    int i = 0;
    while (i < n) {
      int units = isPairAt(text, i) ? 2 : 1;
      char c = text.charAt(i);
      size += units == 2 ? 4 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      if (size > maxBytes) {
        return text.substring(0, i);
      }
      i += units;
    }
    return text;
  }
}
