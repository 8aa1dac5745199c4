package io.github.idemspec.store;

import io.github.idemspec.v1.Admission;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.DedupRecord;
import io.github.idemspec.v1.Delivery;
import java.time.Duration;

/**
 * Asks whether one delivery may run.
 *
 * @param scope the consumer, {@code [A-Za-z0-9._-]{1,200}}
 * @param key the idempotency key
 * @param previous the key by the template before, during a migration, or empty: both are claimed, or
 *     neither (KEY-030)
 * @param owner a random token of this claim alone, sent again only where its reply was lost
 *     (DEDUP-013)
 * @param fingerprint that of the content, or empty
 * @param redriveCount the delivery's, from its headers
 * @param retryCount the delivery's
 * @param holdCount the delivery's
 * @param maxAttempts {@code max_retry} and {@link Admission#EXTRA_ATTEMPTS}
 * @param lease how long the claim holds, on the store's clock
 * @param old the message was produced before the retention began: without a record it cannot be told
 *     from new, and is TOO_OLD (DEDUP-029)
 * @param lane set on a route that parks, else null
 */
public record Claim(
    String scope,
    String key,
    String previous,
    String owner,
    String fingerprint,
    int redriveCount,
    int retryCount,
    int holdCount,
    long maxAttempts,
    Duration lease,
    boolean old,
    Lane lane) {

  /** The first delivery of a message with one key. */
  public static Claim of(String scope, String key, String owner, Duration lease, long maxAttempts) {
    return new Claim(scope, key, "", owner, "", 0, 0, 0, maxAttempts, lease, false, null);
  }

  /** Whether there is a second key to claim (KEY-030). */
  public boolean dual() {
    return !previous.isEmpty() && !previous.equals(key);
  }

  /** How far along the delivery is (DEDUP-004). */
  public long position() {
    return (long) retryCount + holdCount;
  }

  /**
   * Decides, given the records of its keys, null where there is none. Pure: the records have to be
   * locked. Where it says PROCEED, and the lane allows it, the store writes {@link
   * StoredRecord#claimed} of each key (DEDUP-001, DEDUP-026, DEDUP-029).
   */
  public Grant admit(StoredRecord current, StoredRecord previousRecord, long nowMs) {
    StoredRecord other = dual() ? previousRecord : null;
    if (old && redriveCount == 0 && current == null && other == null) {
      return Grant.tooOld(this);
    }
    Admission one = admission(current, nowMs);
    if (!dual()) {
      return grant(one, one.fence(), 0, current, null, current);
    }
    Admission two = admission(other, nowMs);
    boolean second = severity(two.verdict()) < severity(one.verdict());
    Grant grant =
        grant(
            second ? two : one, one.fence(), two.fence(), current, other, second ? other : current);
    return one.verdict() == two.verdict() ? grant.both(two) : grant;
  }

  private Admission admission(StoredRecord record, long nowMs) {
    DedupRecord known = record == null ? null : record.core();
    Delivery delivery =
        new Delivery(redriveCount, position(), fingerprint.isEmpty() ? null : fingerprint);
    return Admission.of(known, delivery, nowMs, lease.toMillis(), maxAttempts, owner);
  }

  private Grant grant(
      Admission a,
      long fence,
      long previousFence,
      StoredRecord current,
      StoredRecord other,
      StoredRecord decides) {
    Lease held = null;
    String print = "";
    switch (a.verdict()) {
      case PROCEED:
        held = new Lease(scope, key, fence, dual() ? previous : "", previousFence, owner);
        break;
      case CRASH_LOOP:
        held =
            new Lease(scope, key, openFence(current), dual() ? previous : "", openFence(other), "");
        break;
      case KEY_REUSED:
        print = decides.fingerprint();
        break;
      default:
        break;
    }
    int retries = retryCount;
    int holds = holdCount;
    long lives = 0;
    for (StoredRecord record : new StoredRecord[] {current, other}) {
      if (record == null) {
        continue;
      }
      lives = Math.max(lives, record.redriveCount());
      if (record.redriveCount() == redriveCount) {
        retries = Math.max(retries, record.retryCount());
        holds = Math.max(holds, record.holdCount());
      }
    }
    return new Grant(
        a.verdict(),
        false,
        false,
        false,
        held,
        a.attempts(),
        a.leaseUntilMs(),
        a.recovered(),
        a.result(),
        a.waitMs(),
        retries,
        holds,
        (int) lives,
        print);
  }

  /**
   * The fence of a record that a crash loop ends: one that has not ended. Of two keys the other may
   * be new, or DEAD in an earlier life; it stays as it is.
   */
  private static long openFence(StoredRecord record) {
    return record == null || record.state() == DedupRecord.State.DEAD ? 0 : record.fence();
  }

  /** Of two keys the first of these verdicts is that of both (DEDUP-026). */
  private static int severity(Verdict verdict) {
    switch (verdict) {
      case KEY_REUSED:
        return 1;
      case DUPLICATE:
        return 2;
      case STALE:
        return 3;
      case IN_PROGRESS:
        return 4;
      case CRASH_LOOP:
        return 5;
      default:
        return 6;
    }
  }
}
