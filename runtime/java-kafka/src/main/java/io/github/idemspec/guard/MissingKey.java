package io.github.idemspec.guard;

/** What becomes of a message without an idempotency_key header (KEY-022). */
public enum MissingKey {
  /** It is dead-lettered as MALFORMED. */
  REJECT,
  /** The key is computed from the payload. */
  DERIVE,
  /** It runs without dedup. */
  PASS_THROUGH
}
