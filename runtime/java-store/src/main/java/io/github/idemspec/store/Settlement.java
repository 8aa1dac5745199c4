package io.github.idemspec.store;

import io.github.idemspec.v1.DedupRecord.State;

/**
 * Ends a delivery that did not succeed. The change of the record and what follows from it are one
 * transaction; a store without follow-ups refuses one that has any (DEDUP-021).
 *
 * <pre>{@code
 * Settlement.failed(lease).counts(0, 1, 0).retry(row).build();
 * }</pre>
 */
public final class Settlement {
  private final Lease lease;
  private final State state;
  private final boolean giveBack;
  private final int redriveCount;
  private final int retryCount;
  private final int holdCount;
  private final int keptRetryCount;
  private final int keptHoldCount;
  private final Retry retry;
  private final DeadLetter deadLetter;
  private final Lane lane;
  private final boolean leave;

  private Settlement(Builder b) {
    lease = b.lease;
    state = b.state;
    giveBack = b.giveBack;
    redriveCount = b.redriveCount;
    retryCount = b.retryCount;
    holdCount = b.holdCount;
    keptRetryCount = b.keptRetryCount;
    keptHoldCount = b.keptHoldCount;
    retry = b.retry;
    deadLetter = b.deadLetter;
    lane = b.lane;
    leave = b.leave;
  }

  /** Starts one that makes the record FAILED; the lease is null where there is no claim. */
  public static Builder failed(Lease lease) {
    return new Builder(lease, State.FAILED);
  }

  /** Starts one that makes the record DEAD; the lease is null where there is no claim. */
  public static Builder dead(Lease lease) {
    return new Builder(lease, State.DEAD);
  }

  /** The claim; null where there is none and no record is touched. */
  public Lease lease() {
    return lease;
  }

  /** Whether there is a record to match. */
  public boolean held() {
    return lease != null && lease.held();
  }

  /** FAILED or DEAD. */
  public State state() {
    return state;
  }

  /** Undoes the attempt: the handler never ran, or asked to be held (DEDUP-023). */
  public boolean giveBack() {
    return giveBack;
  }

  /** The life of the message. */
  public int redriveCount() {
    return redriveCount;
  }

  /** The position that the record keeps (DEDUP-011). */
  public long position() {
    return (long) retryCount + holdCount;
  }

  /** The retry count that the record keeps. */
  public int recordRetryCount() {
    return Math.max(retryCount, keptRetryCount);
  }

  /** The hold count that the record keeps. */
  public int recordHoldCount() {
    return Math.max(holdCount, keptHoldCount);
  }

  /** The delivery to come, or null. */
  public Retry retry() {
    return retry;
  }

  /** Where it ends, or null. */
  public DeadLetter deadLetter() {
    return deadLetter;
  }

  /** Set on a route that parks, else null. */
  public Lane lane() {
    return lane;
  }

  /** Whether the message leaves its lane. */
  public boolean leave() {
    return leave;
  }

  /** The scope of the message. */
  public String scope() {
    if (lease != null && !lease.scope().isEmpty()) {
      return lease.scope();
    }
    return retry != null ? retry.scope() : deadLetter != null ? deadLetter.scope() : "";
  }

  /** The key of the message; empty where it has none. */
  public String key() {
    if (lease != null && !lease.scope().isEmpty()) {
      return lease.key();
    }
    return retry != null ? retry.key() : deadLetter != null ? deadLetter.key() : "";
  }

  /** What makes one. */
  public static final class Builder {
    private final Lease lease;
    private final State state;
    private boolean giveBack;
    private int redriveCount;
    private int retryCount;
    private int holdCount;
    private int keptRetryCount;
    private int keptHoldCount;
    private Retry retry;
    private DeadLetter deadLetter;
    private Lane lane;
    private boolean leave;

    private Builder(Lease lease, State state) {
      this.lease = lease;
      this.state = state;
    }

    /** Those of the next delivery, as its headers say; of this one, where it is held in place. */
    public Builder counts(int redrives, int retries, int holds) {
      redriveCount = redrives;
      retryCount = retries;
      holdCount = holds;
      return this;
    }

    /**
     * The counts that the record keeps where they are larger: those of a message that is held in
     * place, whose position does not move with them.
     */
    public Builder kept(int retries, int holds) {
      keptRetryCount = retries;
      keptHoldCount = holds;
      return this;
    }

    /** Gives the attempt back. */
    public Builder giveBack(boolean back) {
      giveBack = back;
      return this;
    }

    /** The delivery to come. */
    public Builder retry(Retry row) {
      retry = row;
      return this;
    }

    /** Where it ends. */
    public Builder deadLetter(DeadLetter letter) {
      deadLetter = letter;
      return this;
    }

    /**
     * The lane of a route that parks, or null. A retry with {@code park} joins its tail; any other
     * one, of a message whose lane has another head by now, joins it too, or becomes its head. The
     * lane's row is locked, and the decision made again under the lock.
     *
     * @param leaves the message leaves the lane
     */
    public Builder lane(Lane of, boolean leaves) {
      lane = of;
      leave = leaves;
      return this;
    }

    /** The settlement. */
    public Settlement build() {
      return new Settlement(this);
    }
  }
}
