package io.github.idemspec.store;

/**
 * A claim that is held. What is written under it matches fence and owner and PROCESSING, or nothing
 * is written (DEDUP-020).
 *
 * @param scope who has claimed
 * @param key the idempotency key
 * @param fence the claim's number; 0 for a record to leave alone
 * @param previous the second key during a migration, or empty
 * @param previousFence the second key's
 * @param owner the claim's token; empty for a crash loop, which holds no claim
 */
public record Lease(
    String scope, String key, long fence, String previous, long previousFence, String owner) {

  /** A claim on one key. */
  public static Lease of(String scope, String key, long fence, String owner) {
    return new Lease(scope, key, fence, "", 0, owner);
  }

  /** No claim, of a message that has names all the same: one that leaves its lane. */
  public static Lease none(String scope, String key) {
    return of(scope, key, 0, "");
  }

  /** Whether there is a claim, or the fence of one, to match. */
  public boolean held() {
    return fence != 0 || previousFence != 0;
  }
}
