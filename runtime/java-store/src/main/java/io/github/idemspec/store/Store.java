package io.github.idemspec.store;

import java.util.List;

/**
 * Keeps dedup records. Every method takes a batch, answers in its order, and may be called from
 * several threads. A {@link StoreException} means that nothing is known of what was written: claim
 * again with the same owner, or read the record by its fence.
 */
public interface Store {
  /**
   * Asks which deliveries may run. Keys that are equal in one batch are claimed once, in the order
   * given; the others are IN_PROGRESS (DEDUP-025).
   */
  List<Grant> claim(List<Claim> claims);

  /** Makes records SUCCESS; false where a claim is fenced out. */
  boolean[] complete(List<Completion> completions);

  /** Makes records FAILED or DEAD, together with what follows. */
  List<Settled> settle(List<Settlement> settlements);

  /** Extends leases, and never shortens one; false where a claim is fenced out. */
  boolean[] renew(List<Renewal> renewals);

  /** Reads records, in the order of the keys; null where there is none. */
  List<StoredRecord> records(String scope, List<String> keys);

  /**
   * Whether {@link #settle} takes a retry and a dead letter. Where it does not, they have to be
   * published and confirmed before (DEDUP-021).
   */
  boolean followUps();

  /** What metrics call it, as all languages do. */
  String name();

  /** Throws where the store cannot work, in words that name the way to mend it. */
  void check();
}
