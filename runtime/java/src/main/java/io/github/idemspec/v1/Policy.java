// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.Arrays;

/**
 * How often and how late a message is tried again. All six values are within their bounds; the unit
 * of each is part of its name.
 */
public final class Policy {
  // Before DEFAULT, which has it.
  private static final int[] NONE = {};

  /** The policy of a message whose schema and headers say nothing (RETRY-001). */
  public static final Policy DEFAULT = new Values().toPolicy();

  private final int maxRetry;
  private final int maxHold;
  private final int backoffBaseSeconds;
  private final int backoffJitterMs;
  private final int backoffMaxSeconds;
  private final int[] backoffScheduleMs;

  private Policy(Values values, int[] schedule) {
    maxRetry = or(values.maxRetry, 5);
    maxHold = or(values.maxHold, 20);
    backoffBaseSeconds = or(values.backoffBaseSeconds, 1);
    backoffJitterMs = or(values.backoffJitterMs, 1000);
    backoffMaxSeconds = or(values.backoffMaxSeconds, 300);
    backoffScheduleMs = schedule == null ? NONE : schedule;
  }

  /** Starts a policy of which only some values are stated. */
  public static Values values() {
    return new Values();
  }

  /**
   * The policy in force (RETRY-001 to RETRY-003): each value is the header's, else the schema's,
   * else the default, and at most the consumer's limit.
   *
   * @param header what the headers say, or null
   * @param schema what the schema says, or null; a {@link Policy} says all, see {@link #toValues}
   * @param limit the most that the consumer allows of each value, or null; its schedule is not
   *     looked at, since its {@code backoff_max} bounds the entries
   */
  public static Policy resolve(Values header, Values schema, Values limit) {
    Values h = header == null ? new Values() : header;
    Values s = schema == null ? new Values() : schema;
    Values l = limit == null ? new Values() : limit;
    boolean exponential = h.backoffBaseSeconds >= 0 || h.backoffMaxSeconds >= 0;
    int[] schedule = h.backoffScheduleMs;
    if (schedule == null && !exponential) {
      schedule = s.backoffScheduleMs;
    }
    Values merged = new Values();
    merged.maxRetry = or(h.maxRetry, s.maxRetry);
    merged.maxHold = or(h.maxHold, s.maxHold);
    merged.backoffBaseSeconds = or(h.backoffBaseSeconds, s.backoffBaseSeconds);
    merged.backoffJitterMs = or(h.backoffJitterMs, s.backoffJitterMs);
    merged.backoffMaxSeconds = or(h.backoffMaxSeconds, s.backoffMaxSeconds);
    return new Policy(merged, schedule).clamped(l);
  }

  private Policy clamped(Values limit) {
    Values least = new Values();
    least.maxRetry = clamp(maxRetry, limit.maxRetry);
    least.maxHold = clamp(maxHold, limit.maxHold);
    least.backoffBaseSeconds = clamp(backoffBaseSeconds, limit.backoffBaseSeconds);
    least.backoffJitterMs = clamp(backoffJitterMs, limit.backoffJitterMs);
    least.backoffMaxSeconds = clamp(backoffMaxSeconds, limit.backoffMaxSeconds);
    int[] schedule = backoffScheduleMs.clone();
    if (limit.backoffMaxSeconds >= 0) {
      for (int i = 0; i < schedule.length; i++) {
        schedule[i] = Math.min(schedule[i], limit.backoffMaxSeconds * 1000);
      }
    }
    return new Policy(least, schedule);
  }

  private static int clamp(int value, int limit) {
    return limit < 0 ? value : Math.min(value, limit);
  }

  private static int or(int value, int other) {
    return value >= 0 ? value : other;
  }

  /** Retries allowed, 0 to 100. */
  public int maxRetry() {
    return maxRetry;
  }

  /** Holds allowed, 0 to 100. */
  public int maxHold() {
    return maxHold;
  }

  /** The first exponential delay in seconds, 1 to 86400. */
  public int backoffBaseSeconds() {
    return backoffBaseSeconds;
  }

  /** The largest jitter in milliseconds, 0 to 3600000. */
  public int backoffJitterMs() {
    return backoffJitterMs;
  }

  /** The cap of exponential delays in seconds, 1 to 604800. */
  public int backoffMaxSeconds() {
    return backoffMaxSeconds;
  }

  /** Whether the delays are those of a schedule instead of exponential ones. */
  public boolean hasBackoffSchedule() {
    return backoffScheduleMs.length > 0;
  }

  /** The delays in milliseconds, 1 to 32 of 0 to 604800000; empty where they are exponential. */
  public int[] backoffScheduleMs() {
    return backoffScheduleMs.clone();
  }

  /** The delay before jitter of the n-th retry, from 0, in milliseconds (RETRY-010). */
  long baseMs(int n) {
    if (backoffScheduleMs.length > 0) {
      return backoffScheduleMs[Math.min(n, backoffScheduleMs.length - 1)];
    }
    long base = backoffBaseSeconds * 1000L;
    long cap = backoffMaxSeconds * 1000L;
    return n >= 63 || base > cap >>> n ? cap : base << n;
  }

  /** All values as stated ones, for instance as the schema's in {@link #resolve}. */
  public Values toValues() {
    Values all = new Values();
    all.maxRetry = maxRetry;
    all.maxHold = maxHold;
    all.backoffBaseSeconds = backoffBaseSeconds;
    all.backoffJitterMs = backoffJitterMs;
    all.backoffMaxSeconds = backoffMaxSeconds;
    all.backoffScheduleMs = backoffScheduleMs.length == 0 ? null : backoffScheduleMs;
    return all;
  }

  @Override
  public String toString() {
    return "max_retry="
        + maxRetry
        + " max_hold="
        + maxHold
        + " backoff_base="
        + backoffBaseSeconds
        + "s backoff_jitter="
        + backoffJitterMs
        + "ms backoff_max="
        + backoffMaxSeconds
        + "s backoff_schedule="
        + Arrays.toString(backoffScheduleMs);
  }

  /** Some of the six values, each checked when it is stated: POLICY_RANGE (RETRY-004). */
  public static final class Values {
    // Below zero: not stated.
    private int maxRetry = -1;
    private int maxHold = -1;
    private int backoffBaseSeconds = -1;
    private int backoffJitterMs = -1;
    private int backoffMaxSeconds = -1;
    private int[] backoffScheduleMs;

    private Values() {}

    /** States the retries allowed, 0 to 100. */
    public Values maxRetry(long value) {
      maxRetry = check(HeaderName.MAX_RETRY, value);
      return this;
    }

    /** States the holds allowed, 0 to 100. */
    public Values maxHold(long value) {
      maxHold = check(HeaderName.MAX_HOLD, value);
      return this;
    }

    /** States the first exponential delay in seconds, 1 to 86400. */
    public Values backoffBaseSeconds(long value) {
      backoffBaseSeconds = check(HeaderName.BACKOFF_BASE, value);
      return this;
    }

    /** States the largest jitter in milliseconds, 0 to 3600000. */
    public Values backoffJitterMs(long value) {
      backoffJitterMs = check(HeaderName.BACKOFF_JITTER, value);
      return this;
    }

    /** States the cap of exponential delays in seconds, 1 to 604800. */
    public Values backoffMaxSeconds(long value) {
      backoffMaxSeconds = check(HeaderName.BACKOFF_MAX, value);
      return this;
    }

    /**
     * States the delays in milliseconds, at most 32 of 0 to 604800000; none at all states nothing.
     */
    public Values backoffScheduleMs(long... values) {
      if (values.length > HeaderName.MAX_SCHEDULE) {
        throw range(HeaderName.BACKOFF_SCHEDULE, values.length + " entries");
      }
      int[] schedule = new int[values.length];
      for (int i = 0; i < values.length; i++) {
        schedule[i] = check(HeaderName.BACKOFF_SCHEDULE, values[i]);
      }
      backoffScheduleMs = schedule.length == 0 ? null : schedule;
      return this;
    }

    /** The policy that states all of these, and has the default for what is not stated. */
    public Policy toPolicy() {
      return new Policy(this, backoffScheduleMs);
    }

    private static int check(HeaderName name, long value) {
      if (!name.isInRange(value)) {
        throw range(name, Long.toString(value));
      }
      return (int) value;
    }

    private static IdemException range(HeaderName name, String value) {
      return new IdemException(ErrorCode.POLICY_RANGE, name.text(), -1, value);
    }
  }
}
