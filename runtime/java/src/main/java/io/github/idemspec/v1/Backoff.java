// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * A delay: integers in milliseconds, computed alike by every service (RETRY-010 to RETRY-014).
 *
 * <p>{@code Backoff.of("order-8317", 1, policy, 0).delayMs()}
 */
public final class Backoff {
  /** What a Retry-After or a wait counts at most: seven days. */
  static final long MAX_WAIT_MS = 604_800_000;

  private final long baseMs;
  private final long jitterMs;

  private Backoff(long baseMs, long jitterMs) {
    this.baseMs = baseMs;
    this.jitterMs = jitterMs;
  }

  /**
   * The delay before the next try.
   *
   * @param key the idempotency key, over which the jitter spreads
   * @param n how many tries of this kind were made, from 0: the retry count, or the hold count
   * @param policy the policy in force
   * @param retryAfterMs the least delay before jitter in milliseconds, 0 for none; counts up to
   *     seven days
   * @throws IdemException POLICY_RANGE where n is negative, KEY_EMPTY, STRING_UTF8
   */
  public static Backoff of(String key, int n, Policy policy, long retryAfterMs) {
    checkCount(n, "n");
    long base = Math.max(policy.baseMs(n), Math.min(retryAfterMs, MAX_WAIT_MS));
    return new Backoff(base, jitter(key, n, policy));
  }

  /** The delay of a deferral: the wait, and the jitter of the retry count (RETRY-023). */
  static Backoff ofWait(String key, int retryCount, Policy policy, long waitMs) {
    long wait = Math.max(0, Math.min(waitMs, MAX_WAIT_MS));
    return new Backoff(wait, jitter(key, retryCount, policy));
  }

  static void checkCount(int count, String name) {
    if (count < 0) {
      throw new IdemException(ErrorCode.POLICY_RANGE, name, -1, Integer.toString(count));
    }
  }

  static void checkKey(String key) {
    if (key.isEmpty()) {
      throw new IdemException(ErrorCode.KEY_EMPTY, null, -1, null);
    }
  }

  private static long jitter(String key, int n, Policy policy) {
    checkKey(key);
    long hash = Xxh64.hash(Utf8.encode(key + '#' + n));
    return Long.remainderUnsigned(hash, policy.backoffJitterMs() + 1L);
  }

  /** The delay without its jitter, in milliseconds. */
  public long baseMs() {
    return baseMs;
  }

  /** The jitter in milliseconds, 0 to the policy's largest. */
  public long jitterMs() {
    return jitterMs;
  }

  /** The delay in milliseconds, the sum of both. */
  public long delayMs() {
    return baseMs + jitterMs;
  }
}
