// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** Whether a handler may run for a delivery (DEDUP-001). */
public final class Admission {
  /** What the answer is. */
  public enum Verdict {
    /** The handler may run, under the claim that the admission describes. */
    PROCEED,
    /** The key came with another content: dead-lettered, and the record is not touched. */
    KEY_REUSED,
    /** Done before; the admission has the stored result. */
    DUPLICATE,
    /** A later delivery has taken over, or the message is dead: acknowledged. */
    STALE,
    /** Another claim is live; the admission has the wait. */
    IN_PROGRESS,
    /** The attempts are used up: dead-lettered without running the handler. */
    CRASH_LOOP
  }

  /** The attempts that are allowed beyond the retries: the first, and three crashes (DEDUP-006). */
  public static final int EXTRA_ATTEMPTS = 4;

  private static final byte[] NOTHING = {};

  private final Verdict verdict;
  private final long fence;
  private final long attempts;
  private final long leaseUntilMs;
  private final boolean recovered;
  private final byte[] result;
  private final long waitMs;

  private Admission(
      Verdict verdict,
      long fence,
      long attempts,
      long leaseUntilMs,
      boolean recovered,
      byte[] result,
      long waitMs) {
    this.verdict = verdict;
    this.fence = fence;
    this.attempts = attempts;
    this.leaseUntilMs = leaseUntilMs;
    this.recovered = recovered;
    this.result = result;
    this.waitMs = waitMs;
  }

  /**
   * Looks at the record and at a delivery. Pure: the time is an argument.
   *
   * @param record what the store has for the key, or null
   * @param delivery the delivery
   * @param nowMs the store's clock, in milliseconds
   * @param leaseMs how long a claim holds, in milliseconds, from 1
   * @param maxAttempts the claims allowed in one life, from 1: {@code max_retry} and {@link
   *     #EXTRA_ATTEMPTS}
   * @param owner the random token of this claim
   */
  public static Admission of(
      DedupRecord record,
      Delivery delivery,
      long nowMs,
      long leaseMs,
      long maxAttempts,
      String owner) {
    if (record == null) {
      return claim(1, 1, nowMs, leaseMs, false);
    }
    if (Fingerprint.differ(record.fingerprint(), delivery.fingerprint())) {
      return plain(Verdict.KEY_REUSED);
    }
    if (record.state() == DedupRecord.State.SUCCESS) {
      byte[] result = record.result() == null ? NOTHING : record.result();
      return new Admission(Verdict.DUPLICATE, 0, 0, 0, false, result, 0);
    }
    if (isStale(record, delivery)) {
      return plain(Verdict.STALE);
    }
    boolean processing = record.state() == DedupRecord.State.PROCESSING;
    if (processing && record.leaseUntilMs() > nowMs) {
      return underLease(record, nowMs, owner);
    }
    boolean redriven = delivery.redriveCount() > record.redriveCount();
    if (!redriven && record.attempts() >= maxAttempts) {
      return plain(Verdict.CRASH_LOOP);
    }
    long attempts = redriven ? 1 : sum(record.attempts(), 1);
    return claim(sum(record.fence(), 1), attempts, nowMs, leaseMs, processing);
  }

  private static boolean isStale(DedupRecord record, Delivery delivery) {
    if (delivery.redriveCount() != record.redriveCount()) {
      return delivery.redriveCount() < record.redriveCount();
    }
    return record.state() == DedupRecord.State.DEAD || delivery.position() < record.position();
  }

  private static Admission underLease(DedupRecord record, long nowMs, String owner) {
    if (owner.equals(record.owner())) {
      return proceed(record.fence(), record.attempts(), record.leaseUntilMs(), false);
    }
    long wait = record.leaseUntilMs() - nowMs;
    return new Admission(Verdict.IN_PROGRESS, 0, 0, 0, false, NOTHING, wait);
  }

  private static Admission claim(
      long fence, long attempts, long nowMs, long leaseMs, boolean recovered) {
    return proceed(fence, attempts, sum(nowMs, leaseMs), recovered);
  }

  private static Admission proceed(
      long fence, long attempts, long leaseUntilMs, boolean recovered) {
    return new Admission(Verdict.PROCEED, fence, attempts, leaseUntilMs, recovered, NOTHING, 0);
  }

  /**
   * Adds integers that are 0 or more, and stays at the largest one: a fence that wrapped around
   * would let every older claim write.
   */
  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }

  private static Admission plain(Verdict verdict) {
    return new Admission(verdict, 0, 0, 0, false, NOTHING, 0);
  }

  /** The answer. */
  public Verdict verdict() {
    return verdict;
  }

  /** With PROCEED, the fence of the claim. */
  public long fence() {
    return fence;
  }

  /** With PROCEED, the claims in this life of the message, this one included. */
  public long attempts() {
    return attempts;
  }

  /** With PROCEED, when the lease ends, in milliseconds of the store's clock. */
  public long leaseUntilMs() {
    return leaseUntilMs;
  }

  /** With PROCEED, whether the claim before it ran out (DEDUP-003). */
  public boolean recovered() {
    return recovered;
  }

  /** With DUPLICATE, the stored result, empty where there is none. */
  public byte[] result() {
    return result;
  }

  /** With IN_PROGRESS, the rest of the other claim's lease, in milliseconds. */
  public long waitMs() {
    return waitMs;
  }
}
