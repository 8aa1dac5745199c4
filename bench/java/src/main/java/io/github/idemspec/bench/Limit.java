package io.github.idemspec.bench;

import com.google.protobuf.Timestamp;
import io.github.idemspec.bench.v1.PaymentSettled;
import io.github.idemspec.shop.v1.PaymentSucceeded;
import java.nio.charset.StandardCharsets;

/**
 * The limit: the key by hand, for input that is known to be canonical, into an array of the right
 * size.
 *
 * <p>It has the checks that may not be left out: a component that is not set, one with a character
 * that would have to be escaped, a time out of range, and a key over 1024 bytes are errors. It does
 * not see a decimal like 1.50, which is why nobody should write this.
 */
final class Limit {
  private static final byte[] SHOP =
      "payments.payment_success:v1:".getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] SETTLED =
      "payments.payment_settled:v1:".getBytes(StandardCharsets.ISO_8859_1);
  private static final int TIME = "2025-01-01T04:00:00.123Z".length();
  private static final boolean[] PLAIN = new boolean[128];

  static {
    String all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    for (char c : all.toCharArray()) {
      PLAIN[c] = true;
    }
  }

  private Limit() {}

  @SuppressWarnings("deprecation") // As below: the bytes are characters.
  static String shopKey(PaymentSucceeded m) {
    String paymentId = m.getPaymentId();
    byte[] key = start(SHOP, paymentId.length());
    text(key, SHOP.length, paymentId);
    return new String(key, 0);
  }

  @SuppressWarnings("deprecation") // As below: the bytes are characters.
  static String settledKey(PaymentSettled m) {
    String paymentId = m.getPaymentId();
    String amount = m.getAmount();
    String currency = m.getCurrency();
    int size = paymentId.length() + 1 + amount.length() + 1 + currency.length() + 1 + TIME;
    byte[] key = start(SETTLED, size);
    int at = text(key, SETTLED.length, paymentId);
    key[at] = ':';
    at = text(key, at + 1, amount);
    key[at] = ':';
    at = text(key, at + 1, currency);
    key[at] = ':';
    if (!m.hasOccurredAt()) {
      throw new IllegalArgumentException("a component is missing");
    }
    time(key, at + 1, m.getOccurredAt());
    return new String(key, 0);
  }

  private static byte[] start(byte[] head, int more) {
    if (head.length + more > 1024) {
      throw new IllegalArgumentException("a key has at most 1024 bytes");
    }
    byte[] key = new byte[head.length + more];
    System.arraycopy(head, 0, key, 0, head.length);
    return key;
  }

  @SuppressWarnings("deprecation") // Drops upper bytes, of which there are none, and is a plain copy.
  private static int text(byte[] key, int at, String value) {
    int n = value.length();
    if (n == 0) {
      throw new IllegalArgumentException("a component is missing");
    }
    for (int i = 0; i < n; i++) {
      char c = value.charAt(i);
      if (c >= PLAIN.length || !PLAIN[c]) {
        throw new IllegalArgumentException("a component would have to be escaped");
      }
    }
    value.getBytes(0, n, key, at);
    return at + n;
  }

  /**
   * A time in milliseconds, by the fastest calendar that is known (Neri and Schneider, "Euclidean
   * affine functions", 2022).
   */
  private static void time(byte[] key, int at, Timestamp time) {
    long seconds = time.getSeconds();
    int nanos = time.getNanos();
    if (seconds < -62135596800L
        || seconds > 253402300799L
        || nanos < 0
        || nanos > 999_999_999) {
      throw new IllegalArgumentException("a timestamp is out of range");
    }
    int quarters = 4 * ((int) Math.floorDiv(seconds, 86_400L) + 719_468) + 3;
    int second = (int) Math.floorMod(seconds, 86_400L);
    int century = quarters / 146_097;
    long years = 2_939_745L * (quarters - century * 146_097 | 3);
    int year = 100 * century + (int) (years >>> 32);
    int dayOfYear = (int) ((years & 0xffff_ffffL) / 2_939_745 / 4);
    int months = 2141 * dayOfYear + 197_913;
    int month = months >>> 16;
    int day = (months & 0xffff) / 2141 + 1;
    if (dayOfYear >= 306) {
      year++;
      month -= 12;
    }
    two(key, at, year / 100);
    two(key, at + 2, year % 100);
    key[at + 4] = '-';
    two(key, at + 5, month);
    key[at + 7] = '-';
    two(key, at + 8, day);
    key[at + 10] = 'T';
    two(key, at + 11, second / 3600);
    key[at + 13] = ':';
    two(key, at + 14, second / 60 % 60);
    key[at + 16] = ':';
    two(key, at + 17, second % 60);
    key[at + 19] = '.';
    int millis = nanos / 1_000_000;
    two(key, at + 20, millis / 10);
    key[at + 22] = (byte) ('0' + millis % 10);
    key[at + 23] = 'Z';
  }

  private static void two(byte[] key, int at, int value) {
    key[at] = (byte) ('0' + value / 10);
    key[at + 1] = (byte) ('0' + value % 10);
  }
}
