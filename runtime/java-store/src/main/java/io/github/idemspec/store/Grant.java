package io.github.idemspec.store;

import io.github.idemspec.v1.Admission;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.Outcome;

/**
 * The answer to a claim. Where the verdict is PROCEED the claim is written, and {@code lease} holds
 * it.
 *
 * @param verdict the answer; null where {@code tooOld} or {@code parked} says why nothing was written
 * @param tooOld the message cannot be told from new
 * @param parked another key is the head of the claim's lane
 * @param head this key is the head of its lane, which it has to leave when it ends
 * @param lease what completions and settlements match; of CRASH_LOOP the fence without an owner; else
 *     null
 * @param attempts with PROCEED, the claims in this life of the message
 * @param leaseUntilMs with PROCEED, when the lease ends, on the store's clock
 * @param recovered with PROCEED, whether the claim before it ran out
 * @param result with DUPLICATE, the stored result, or empty
 * @param waitMs with IN_PROGRESS, the rest of the other claim's lease
 * @param retryCount the larger of the delivery's and the record's, within one life (DEDUP-011)
 * @param holdCount likewise
 * @param recordRedriveCount the record's, for a redrive; 0 where there is none
 * @param recordFingerprint with KEY_REUSED, what the key was used with before
 */
public record Grant(
    Verdict verdict,
    boolean tooOld,
    boolean parked,
    boolean head,
    Lease lease,
    long attempts,
    long leaseUntilMs,
    boolean recovered,
    byte[] result,
    long waitMs,
    int retryCount,
    int holdCount,
    int recordRedriveCount,
    String recordFingerprint) {

  private static final byte[] NOTHING = {};

  /** Another claim of the key is live. */
  public static Grant inProgress(Claim claim, long waitMs) {
    return plain(claim, Verdict.IN_PROGRESS, false, Math.max(waitMs, 0));
  }

  /** The message cannot be told from new. */
  public static Grant tooOld(Claim claim) {
    return plain(claim, null, true, 0);
  }

  private static Grant plain(Claim claim, Verdict verdict, boolean tooOld, long waitMs) {
    int retries = claim.retryCount();
    int holds = claim.holdCount();
    return new Grant(
        verdict, tooOld, false, false, null, 0, 0, false, NOTHING, waitMs, retries, holds, 0, "");
  }

  /** The same answer to a key that heads its lane. */
  public Grant heading() {
    return new Grant(
        verdict,
        tooOld,
        parked,
        true,
        lease,
        attempts,
        leaseUntilMs,
        recovered,
        result,
        waitMs,
        retryCount,
        holdCount,
        recordRedriveCount,
        recordFingerprint);
  }

  /** Instead of this answer: the message has to park. */
  public Grant parking() {
    return new Grant(
        null,
        false,
        true,
        false,
        null,
        0,
        0,
        false,
        NOTHING,
        0,
        retryCount,
        holdCount,
        recordRedriveCount,
        "");
  }

  /** The answer for two keys that have the same verdict, of which this is the first's. */
  Grant both(Admission other) {
    return new Grant(
        verdict,
        tooOld,
        parked,
        head,
        lease,
        Math.max(attempts, other.attempts()),
        Math.min(leaseUntilMs, other.leaseUntilMs()),
        recovered || other.recovered(),
        result,
        Math.max(waitMs, other.waitMs()),
        retryCount,
        holdCount,
        recordRedriveCount,
        recordFingerprint);
  }

  /** What it means for the delivery; null where the handler may run, or the message has to park. */
  public Outcome outcome() {
    if (tooOld) {
      return Outcome.TOO_OLD;
    }
    return verdict == null || verdict == Verdict.PROCEED ? null : Outcome.valueOf(verdict.name());
  }
}
