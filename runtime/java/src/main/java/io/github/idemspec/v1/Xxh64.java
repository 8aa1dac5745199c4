// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** XXH64 with seed 0 (HASH-001), by the xxHash specification of Yann Collet. */
public final class Xxh64 {
  private static final long P1 = 0x9e3779b185ebca87L;
  private static final long P2 = 0xc2b2ae3d27d4eb4fL;
  private static final long P3 = 0x165667b19e3779f9L;
  private static final long P4 = 0x85ebca77c2b2ae63L;
  private static final long P5 = 0x27d4eb2f165667c5L;

  private Xxh64() {}

  /** The hash of bytes, an unsigned number in a long. */
  public static long hash(byte[] bytes) {
    return hash(bytes, 0, bytes.length);
  }

  /** The hash of some of the bytes: {@code length} of them, from {@code start} on. */
  public static long hash(byte[] bytes, int start, int length) {
    int end = start + length;
    int at = start;
    long h;
    if (length >= 32) {
      long a = P1 + P2;
      long b = P2;
      long c = 0;
      long d = -P1;
      do {
        a = round(a, eight(bytes, at));
        b = round(b, eight(bytes, at + 8));
        c = round(c, eight(bytes, at + 16));
        d = round(d, eight(bytes, at + 24));
        at += 32;
      } while (end - at >= 32);
      h = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
      h = merge(merge(merge(merge(h, a), b), c), d);
    } else {
      h = P5;
    }
    return avalanche(tail(h + length, bytes, at, end));
  }

  /** A hash as 16 lower-case hex digits, the most significant first (HASH-002). */
  public static String hex(long hash) {
    return hex(hash, 16);
  }

  /** The lowest of the 16 digits. */
  static String hex(long hash, int digits) {
    char[] text = new char[digits];
    for (int i = 0; i < digits; i++) {
      text[i] = Character.forDigit((int) (hash >>> 4 * (digits - 1 - i)) & 15, 16);
    }
    return new String(text);
  }

  private static long tail(long hash, byte[] bytes, int start, int end) {
    long h = hash;
    int at = start;
    for (; end - at >= 8; at += 8) {
      h = rotate(h ^ round(0, eight(bytes, at)), 27) * P1 + P4;
    }
    if (end - at >= 4) {
      h = rotate(h ^ four(bytes, at) * P1, 23) * P2 + P3;
      at += 4;
    }
    for (; at < end; at++) {
      h = rotate(h ^ (bytes[at] & 0xff) * P5, 11) * P1;
    }
    return h;
  }

  private static long round(long lane, long input) {
    return rotate(lane + input * P2, 31) * P1;
  }

  private static long merge(long hash, long lane) {
    return (hash ^ round(0, lane)) * P1 + P4;
  }

  private static long avalanche(long hash) {
    long h = (hash ^ hash >>> 33) * P2;
    h = (h ^ h >>> 29) * P3;
    return h ^ h >>> 32;
  }

  private static long rotate(long value, int bits) {
    return Long.rotateLeft(value, bits);
  }

  private static long eight(byte[] b, int at) {
    return four(b, at) | four(b, at + 4) << 32;
  }

  /** Four bytes, the least significant first, without a sign. */
  private static long four(byte[] b, int at) {
    return (b[at] & 0xff | (b[at + 1] & 0xff) << 8 | (b[at + 2] & 0xff) << 16 | b[at + 3] << 24)
        & 0xffff_ffffL;
  }
}
