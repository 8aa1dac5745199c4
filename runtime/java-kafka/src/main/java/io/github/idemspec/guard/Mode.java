package io.github.idemspec.guard;

/** What the effect of a handler is, and so what it is worth (DEDUP-032). */
public enum Mode {
  /** The effect is outside, and the key is handed on. At least one call. */
  IDEMPOTENT,
  /** The effect and SUCCESS are one transaction. One effect. */
  TX,
  /** The effect is a move of one row, which the row itself guards. One effect (STATE-013). */
  GUARDED
}
