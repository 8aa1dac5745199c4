// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * What tells that one key came with two contents (HASH-030): the hashes of a template and of its
 * rendered text. It detects accidents, not attackers.
 */
public final class Fingerprint {
  /** {@code TTTTTTTT-}. */
  private static final int PREFIX = 9;

  private static final int SIZE = PREFIX + 16;

  private final String prefix;

  private Fingerprint(String prefix) {
    this.prefix = prefix;
  }

  /** The fingerprints of a template, for instance <code>{amount}:{currency}</code>. */
  public static Fingerprint ofTemplate(String template) {
    return new Fingerprint(Xxh64.hex(Routing.hash(template), PREFIX - 1) + '-');
  }

  /**
   * The fingerprint of a rendered text, {@code TTTTTTTT-VVVVVVVVVVVVVVVV}.
   *
   * @throws IdemException KEY_TOO_LONG where it has more than 1024 bytes
   */
  public String of(KeyBuilder text) {
    return prefix + Xxh64.hex(text.hash());
  }

  /**
   * Whether two fingerprints say that the contents differ: both are there, of one template, and not
   * equal (HASH-031).
   *
   * @param a a fingerprint, or null
   * @param b a fingerprint, or null
   */
  public static boolean differ(String a, String b) {
    return a != null && b != null && a.regionMatches(0, b, 0, PREFIX) && !a.equals(b);
  }

  /** Whether the text has the shape of a fingerprint, in lower case (HDR-002). */
  static boolean isWellFormed(String text) {
    if (text.length() != SIZE) {
      return false;
    }
    for (int i = 0; i < SIZE; i++) {
      char c = text.charAt(i);
      boolean hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      if (i == PREFIX - 1 ? c != '-' : !hex) {
        return false;
      }
    }
    return true;
  }
}
