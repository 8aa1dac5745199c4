// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** What a dedup store knows about one key in one scope (chapter 9). */
public final class DedupRecord {
  /** Where the work on a key stands. */
  public enum State {
    /** A claim is or was held. */
    PROCESSING,
    /** Done; a result may be stored. */
    SUCCESS,
    /** Failed, and to be tried again. */
    FAILED,
    /** Dead-lettered. */
    DEAD
  }

  private final State state;
  private final long fence;
  private final long attempts;
  private final String owner;
  private final long redriveCount;
  private final long position;
  private final long leaseUntilMs;
  private final byte[] result;
  private final String fingerprint;

  /**
   * A record as a store reads it.
   *
   * @param state where the work stands
   * @param fence the number of the last claim
   * @param attempts the claims in this life of the message
   * @param owner the token of the last claim
   * @param redriveCount the life of the message
   * @param position how far along it is (DEDUP-004)
   * @param leaseUntilMs with PROCESSING, when the lease ends, in milliseconds of the store's clock
   * @param result with SUCCESS, what the handler returned, or null; not copied
   * @param fingerprint the fingerprint of the content, or null
   */
  public DedupRecord(
      State state,
      long fence,
      long attempts,
      String owner,
      long redriveCount,
      long position,
      long leaseUntilMs,
      byte[] result,
      String fingerprint) {
    this.state = state;
    this.fence = fence;
    this.attempts = attempts;
    this.owner = owner;
    this.redriveCount = redriveCount;
    this.position = position;
    this.leaseUntilMs = leaseUntilMs;
    this.result = result;
    this.fingerprint = fingerprint;
  }

  /** Where the work stands. */
  public State state() {
    return state;
  }

  /** The number of the last claim. */
  public long fence() {
    return fence;
  }

  /** The claims in this life of the message. */
  public long attempts() {
    return attempts;
  }

  /** The token of the last claim. */
  public String owner() {
    return owner;
  }

  /** The life of the message: 0, and one more with each redrive. */
  public long redriveCount() {
    return redriveCount;
  }

  /** How far along the message is (DEDUP-004). */
  public long position() {
    return position;
  }

  /** With PROCESSING, when the lease ends, in milliseconds of the store's clock. */
  public long leaseUntilMs() {
    return leaseUntilMs;
  }

  /** With SUCCESS, what the handler returned, or null. Not copied. */
  public byte[] result() {
    return result;
  }

  /** The fingerprint of the content, or null. */
  public String fingerprint() {
    return fingerprint;
  }
}
