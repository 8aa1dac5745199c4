package io.github.idemspec.store;

/**
 * A claim is no longer held: another has taken the key over, or it was forgotten. What was done in
 * the same transaction has to be rolled back (DEDUP-020).
 */
public class FencedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Of a key. */
  public FencedException(String key) {
    super("key \"" + key + "\": fenced out: the claim is no longer held");
  }
}
