// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * What an error means, whoever meets it (chapter 8): {@link Outcome#OK}, {@link Outcome#RETRYABLE},
 * {@link Outcome#THROTTLED} or {@link Outcome#NON_RETRYABLE}. What no table lists is RETRYABLE.
 */
public final class Classifier {
  private static final Set<Integer> HTTP_LATER = set(408, 409, 421, 423, 425);
  private static final Set<Integer> HTTP_NEVER = set(501, 505, 506, 508, 510);
  private static final Set<Integer> GRPC_NEVER = set(3, 5, 6, 7, 9, 11, 12, 15, 16);
  private static final Set<Integer> KAFKA_NEVER =
      set(
          1, 4, 10, 12, 17, 18, 21, 23, 24, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
          42, 43, 44, 50, 53, 54, 57, 58, 61, 62, 63, 64, 65, 66, 67, 69, 73, 76, 81, 85, 86, 87,
          91, 92, 93, 94, 95, 96, 97, 98, 99, 101, 102, 104, 105, 107, 112, 114, 115, 116, 117, 118,
          119, 121, 125, 126, 127, 128, 130, 131);
  private static final int KAFKA_THROTTLED = 89;

  /** Of {@link #SQL_NEVER_CLASSES}, yet they pass: a failover, another error, a timeout. */
  private static final Set<String> SQL_LATER = set("25006", "25P02", "25P03");

  private static final String SQL_OK = "00000";
  private static final String SQL_NEVER = "40002";
  private static final Set<String> SQL_NEVER_CLASSES =
      set("0A", "21", "22", "23", "25", "26", "28", "2B", "3D", "3F", "42", "44");
  private static final Set<String> NET_NEVER =
      set("tls_certificate", "tls_hostname", "dns_not_found", "url_invalid");
  private static final int MAX_WORD = 64;

  private Classifier() {}

  /** By the status of an HTTP response, 100 to 599, else INPUT_INVALID (CLASS-010). */
  public static Outcome http(int status) {
    check(status >= 100 && status <= 599, "http", Integer.toString(status));
    switch (status / 100) {
      case 1:
        return Outcome.RETRYABLE;
      case 2:
        return Outcome.OK;
      case 3:
        return Outcome.NON_RETRYABLE;
      case 4:
        if (status == 429) {
          return Outcome.THROTTLED;
        }
        return HTTP_LATER.contains(status) ? Outcome.RETRYABLE : Outcome.NON_RETRYABLE;
      default:
        if (status == 503) {
          return Outcome.THROTTLED;
        }
        return HTTP_NEVER.contains(status) ? Outcome.NON_RETRYABLE : Outcome.RETRYABLE;
    }
  }

  /** By the number of a gRPC status, from 0, else INPUT_INVALID (CLASS-020, CLASS-041). */
  public static Outcome grpc(int code) {
    check(code >= 0, "grpc", Integer.toString(code));
    if (code == 0) {
      return Outcome.OK;
    }
    if (code == 8) {
      return Outcome.THROTTLED;
    }
    return GRPC_NEVER.contains(code) ? Outcome.NON_RETRYABLE : Outcome.RETRYABLE;
  }

  /** By an SQLSTATE, five of {@code 0-9A-Z}, else INPUT_INVALID (CLASS-030). */
  public static Outcome sqlState(String state) {
    check(state.length() == 5 && consistsOf(state, '0', '9', 'A', 'Z'), "sqlstate", state);
    if (state.equals(SQL_OK)) {
      return Outcome.OK;
    }
    boolean never =
        state.equals(SQL_NEVER)
            || (SQL_NEVER_CLASSES.contains(state.substring(0, 2)) && !SQL_LATER.contains(state));
    return never ? Outcome.NON_RETRYABLE : Outcome.RETRYABLE;
  }

  /** By the error code of Kafka's protocol, an int16, else INPUT_INVALID (CLASS-040, CLASS-041). */
  public static Outcome kafka(int code) {
    check(code == (short) code, "kafka", Integer.toString(code));
    if (code == 0) {
      return Outcome.OK;
    }
    if (code == KAFKA_THROTTLED) {
      return Outcome.THROTTLED;
    }
    return KAFKA_NEVER.contains(code) ? Outcome.NON_RETRYABLE : Outcome.RETRYABLE;
  }

  /** By a word for a fault of the network, {@code [a-z_]{1,64}}, else INPUT_INVALID (CLASS-050). */
  public static Outcome net(String word) {
    int n = word.length();
    check(n >= 1 && n <= MAX_WORD && consistsOf(word, 'a', 'z', '_', '_'), "net", word);
    return NET_NEVER.contains(word) ? Outcome.NON_RETRYABLE : Outcome.RETRYABLE;
  }

  private static void check(boolean right, String what, String value) {
    if (!right) {
      throw new IdemException(ErrorCode.INPUT_INVALID, what, -1, value);
    }
  }

  private static boolean consistsOf(String text, char a, char b, char c, char d) {
    for (int i = 0; i < text.length(); i++) {
      char x = text.charAt(i);
      if (!((x >= a && x <= b) || (x >= c && x <= d))) {
        return false;
      }
    }
    return true;
  }

  @SafeVarargs
  private static <T> Set<T> set(T... values) {
    Set<T> set = new HashSet<>();
    for (T value : values) {
      set.add(value);
    }
    return Collections.unmodifiableSet(set);
  }
}
