// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** One arrival of a message, as a claim sees it (chapter 9). */
public final class Delivery {
  private final long redriveCount;
  private final long position;
  private final String fingerprint;

  /**
   * A delivery.
   *
   * @param redriveCount the life of the message, from its header
   * @param position its retry count and hold count added (DEDUP-004)
   * @param fingerprint the fingerprint of its content, or null
   */
  public Delivery(long redriveCount, long position, String fingerprint) {
    this.redriveCount = redriveCount;
    this.position = position;
    this.fingerprint = fingerprint;
  }

  /** The delivery that the headers tell of. */
  public static Delivery of(Headers headers) {
    return new Delivery(
        headers.redriveCount(),
        (long) headers.retryCount() + headers.holdCount(),
        headers.text(HeaderName.FINGERPRINT));
  }

  /** The life of the message: 0, and one more with each redrive. */
  public long redriveCount() {
    return redriveCount;
  }

  /** How far along the message is: its retries and holds. */
  public long position() {
    return position;
  }

  /** The fingerprint of the content, or null. */
  public String fingerprint() {
    return fingerprint;
  }
}
