package io.github.idemspec.store;

/**
 * Makes the records of a claim SUCCESS.
 *
 * @param lease the claim
 * @param result kept for duplicates, at most {@link StoredRecord#MAX_RESULT} bytes; or null
 * @param lane the lane of the message, or null
 * @param head the key is the head of the lane, which is left
 */
public record Completion(Lease lease, byte[] result, Lane lane, boolean head) {

  /** One without a result, in no lane. */
  public static Completion of(Lease lease) {
    return new Completion(lease, null, null, false);
  }

  /** Whether a lane is left. */
  public boolean leavesLane() {
    return head && lane != null;
  }
}
