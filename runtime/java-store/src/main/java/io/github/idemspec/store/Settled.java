package io.github.idemspec.store;

/** The answer to a settlement. */
public enum Settled {
  /** All of it is durable. */
  WRITTEN,
  /** The claim is no longer held, and nothing was written. */
  FENCED,
  /**
   * The lane to park in is free by now, or has this key as its head, and nothing was written: claim
   * again.
   */
  UNPARKED
}
