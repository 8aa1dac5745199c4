// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** What became of one delivery (chapter 7). */
public enum Outcome {
  /** Done. */
  OK,
  /** Done before. */
  DUPLICATE,
  /** A later delivery of the same message has taken over. */
  STALE,
  /** Failed, and may succeed later. */
  RETRYABLE,
  /** Came before its predecessor: held back, which costs no retry. */
  OUT_OF_ORDER,
  /** Refused for now; tried again no earlier than the wait that came with it. */
  THROTTLED,
  /** Will never succeed. */
  NON_RETRYABLE,
  /** The key came with another content. */
  KEY_REUSED,
  /** The transition can never apply. */
  CONFLICT,
  /** The headers or the payload cannot be read. */
  MALFORMED,
  /** Its handler died too often. */
  CRASH_LOOP,
  /** Produced before the records that would know it. */
  TOO_OLD,
  /** Another consumer is at it; comes with a wait. */
  IN_PROGRESS,
  /** The lease was lost on the way; comes with a wait. */
  FENCED
}
