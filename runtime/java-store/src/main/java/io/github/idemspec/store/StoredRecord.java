package io.github.idemspec.store;

import io.github.idemspec.v1.DedupRecord;
import io.github.idemspec.v1.DedupRecord.State;
import java.time.Duration;
import java.time.Instant;

/**
 * The dedup record of one (scope, key) (DEDUP-010).
 *
 * @param scope the consumer
 * @param key the idempotency key
 * @param state where the work on it stands
 * @param fence the number of the last claim
 * @param attempts the claims in this life of the message
 * @param owner the token of the last claim
 * @param redriveCount the life of the message
 * @param position how far along it is
 * @param leaseUntilMs when the claim ends, on the store's clock; 0 for none
 * @param fingerprint that of the content, or empty
 * @param result with SUCCESS, what the handler has kept, or null
 * @param retryCount that of the delivery that is still to come
 * @param holdCount likewise
 * @param createdAt when it was made
 * @param updatedAt when it changed
 * @param expiresAt from when a cleaner may take it: a record that is still there counts (DEDUP-005)
 */
public record StoredRecord(
    String scope,
    String key,
    State state,
    long fence,
    long attempts,
    String owner,
    long redriveCount,
    long position,
    long leaseUntilMs,
    String fingerprint,
    byte[] result,
    int retryCount,
    int holdCount,
    Instant createdAt,
    Instant updatedAt,
    Instant expiresAt) {

  /** The most bytes of a result (DEDUP-010). */
  public static final int MAX_RESULT = 65_536;

  /**
   * How long a record is kept after its last change. It has to exceed the retention of the topics
   * (DEDUP-029).
   */
  public static final Duration DEFAULT_RETENTION = Duration.ofDays(14);

  /** What the core knows of it. */
  public DedupRecord core() {
    return new DedupRecord(
        state,
        fence,
        attempts,
        owner,
        redriveCount,
        position,
        leaseUntilMs,
        result,
        fingerprint.isEmpty() ? null : fingerprint);
  }

  /**
   * The record of a key once a claim that proceeds is written (DEDUP-010 to DEDUP-012).
   *
   * @param claim the claim
   * @param key one of its keys
   * @param fence the grant's for that key
   * @param grant the answer
   * @param before the record there was, or null
   * @param now the store's present
   * @param retention the store's
   */
  public static StoredRecord claimed(
      Claim claim,
      String key,
      long fence,
      Grant grant,
      StoredRecord before,
      Instant now,
      Duration retention) {
    Instant expires = now.plus(retention);
    String print = claim.fingerprint();
    if (before != null) {
      expires = later(expires, before.expiresAt);
      print = before.fingerprint.isEmpty() ? print : before.fingerprint; // It adopts the first.
    }
    return new StoredRecord(
        claim.scope(),
        key,
        State.PROCESSING,
        fence,
        grant.attempts(),
        claim.owner(),
        claim.redriveCount(),
        claim.position(),
        grant.leaseUntilMs(),
        print,
        null,
        grant.retryCount(),
        grant.holdCount(),
        before == null ? now : before.createdAt,
        now,
        expires);
  }

  /** The record of a key of which the claim's other key is SUCCESS (DEDUP-026). */
  public static StoredRecord duplicated(
      Claim claim,
      String key,
      byte[] result,
      StoredRecord before,
      Instant now,
      Duration retention) {
    boolean is = before != null;
    String print = is && !before.fingerprint.isEmpty() ? before.fingerprint : claim.fingerprint();
    long fence = is ? before.fence : 0;
    return new StoredRecord(
        claim.scope(),
        key,
        State.SUCCESS,
        fence == Long.MAX_VALUE ? fence : fence + 1,
        is ? before.attempts : 0,
        "",
        is ? before.redriveCount : 0,
        is ? before.position : 0,
        0,
        print,
        result,
        is ? before.retryCount : 0,
        is ? before.holdCount : 0,
        is ? before.createdAt : now,
        now,
        now.plus(retention));
  }

  /** It as SUCCESS. */
  public StoredRecord completed(byte[] newResult, Instant expires) {
    return new StoredRecord(
        scope,
        key,
        State.SUCCESS,
        fence,
        attempts,
        owner,
        redriveCount,
        position,
        0,
        fingerprint,
        newResult,
        retryCount,
        holdCount,
        createdAt,
        updatedAt,
        later(expiresAt, expires));
  }

  /** It under a lease that is at least so long. */
  public StoredRecord renewed(long untilMs, Instant expires) {
    return new StoredRecord(
        scope,
        key,
        state,
        fence,
        attempts,
        owner,
        redriveCount,
        position,
        Math.max(leaseUntilMs, untilMs),
        fingerprint,
        result,
        retryCount,
        holdCount,
        createdAt,
        updatedAt,
        later(expiresAt, expires));
  }

  /** It as FAILED or DEAD, at the position of the delivery to come (DEDUP-011, DEDUP-021). */
  public StoredRecord settled(Settlement settlement, Instant expires) {
    return new StoredRecord(
        scope,
        key,
        settlement.state(),
        fence,
        settlement.giveBack() ? Math.max(attempts - 1, 0) : attempts,
        owner,
        settlement.redriveCount(),
        settlement.position(),
        0,
        fingerprint,
        result,
        settlement.recordRetryCount(),
        settlement.recordHoldCount(),
        createdAt,
        updatedAt,
        later(expiresAt, expires));
  }

  private static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }
}
