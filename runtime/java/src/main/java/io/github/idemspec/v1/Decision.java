// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * What becomes of a delivery, with all that the next one's headers need (RETRY-020 to RETRY-026).
 *
 * <pre>{@code
 * Decision d = Decision.of(Outcome.RETRYABLE, key, headers.retryCount(), headers.holdCount(), policy);
 * }</pre>
 */
public final class Decision {
  private static final Decision ACK = new Decision(Action.ACK, -1, -1, -1, null);

  private final Action action;
  private final long delayMs;
  private final long retryCount;
  private final long holdCount;
  private final String rejectReason;

  private Decision(
      Action action, long delayMs, long retryCount, long holdCount, String rejectReason) {
    this.action = action;
    this.delayMs = delayMs;
    this.retryCount = retryCount;
    this.holdCount = holdCount;
    this.rejectReason = rejectReason;
  }

  /** The decision for an outcome that brings neither a wait nor a reason. */
  public static Decision of(
      Outcome outcome, String key, int retryCount, int holdCount, Policy policy) {
    return of(outcome, key, retryCount, holdCount, policy, 0, null);
  }

  /**
   * The decision, by the table of chapter 7.
   *
   * @param outcome what became of the delivery
   * @param key the idempotency key
   * @param retryCount the retries made so far
   * @param holdCount the holds made so far
   * @param policy the policy in force
   * @param waitMs with THROTTLED its Retry-After, with IN_PROGRESS and FENCED the wait, in
   *     milliseconds and 0 for none; ignored with others
   * @param reason what the reject reason shall say, or null or empty for the outcome's name
   * @throws IdemException POLICY_RANGE where a count is negative, KEY_EMPTY, STRING_UTF8
   */
  public static Decision of(
      Outcome outcome,
      String key,
      int retryCount,
      int holdCount,
      Policy policy,
      long waitMs,
      String reason) {
    Backoff.checkCount(retryCount, HeaderName.RETRY_COUNT.text());
    Backoff.checkCount(holdCount, HeaderName.HOLD_COUNT.text());
    Backoff.checkKey(key);
    String why = reason == null || reason.isEmpty() ? outcome.name() : reason;
    switch (outcome) {
      case OK:
      case DUPLICATE:
      case STALE:
        return ACK;
      case RETRYABLE:
      case THROTTLED:
        if (retryCount >= policy.maxRetry()) {
          return deadLetter(retryCount, holdCount, why);
        }
        long retryAfterMs = outcome == Outcome.THROTTLED ? waitMs : 0;
        Backoff retry = Backoff.of(key, retryCount, policy, retryAfterMs);
        return retry(retry.delayMs(), retryCount + 1, holdCount, why);
      case OUT_OF_ORDER:
        if (holdCount >= policy.maxHold()) {
          return deadLetter(retryCount, holdCount, why);
        }
        Backoff hold = Backoff.of(key, holdCount, policy, 0);
        return hold(hold.delayMs(), retryCount, holdCount + 1, why);
      case IN_PROGRESS:
      case FENCED:
        Backoff wait = Backoff.ofWait(key, retryCount, policy, waitMs);
        return defer(wait.delayMs(), retryCount, holdCount);
      default:
        return deadLetter(retryCount, holdCount, why);
    }
  }

  /** The decision to acknowledge. */
  public static Decision ack() {
    return ACK;
  }

  /** The decision to try again; the counts are those of the next delivery. */
  public static Decision retry(long delayMs, long retryCount, long holdCount, String rejectReason) {
    return new Decision(Action.RETRY, delayMs, retryCount, holdCount, rejectReason);
  }

  /** The decision to hold back; the counts are those of the next delivery. */
  public static Decision hold(long delayMs, long retryCount, long holdCount, String rejectReason) {
    return new Decision(Action.HOLD, delayMs, retryCount, holdCount, rejectReason);
  }

  /** The decision to defer; the counts are those of this delivery and the next. */
  public static Decision defer(long delayMs, long retryCount, long holdCount) {
    return new Decision(Action.DEFER, delayMs, retryCount, holdCount, null);
  }

  /** The decision to put aside. A count of -1 leaves that header as it is, even if it is faulty. */
  public static Decision deadLetter(long retryCount, long holdCount, String rejectReason) {
    return new Decision(Action.DEAD_LETTER, -1, retryCount, holdCount, rejectReason);
  }

  /** What is done. */
  public Action action() {
    return action;
  }

  /** With RETRY, HOLD and DEFER, the delay in milliseconds; else -1. */
  public long delayMs() {
    return delayMs;
  }

  /** The retry count of the next delivery; -1 with ACK. */
  public long retryCount() {
    return retryCount;
  }

  /** The hold count of the next delivery; -1 with ACK. */
  public long holdCount() {
    return holdCount;
  }

  /**
   * With RETRY, HOLD and DEAD_LETTER, why: as it was given, not yet fit for a header; else null.
   */
  public String rejectReason() {
    return rejectReason;
  }
}
