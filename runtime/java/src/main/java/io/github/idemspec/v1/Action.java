// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** What is done with a delivery (chapter 7). */
public enum Action {
  /** Acknowledged: nothing more comes of it. */
  ACK,
  /** Delivered again after a delay; costs one retry. */
  RETRY,
  /** Delivered again after a delay; costs one hold. */
  HOLD,
  /** Delivered again after a delay; costs nothing. */
  DEFER,
  /** Put aside for a person. */
  DEAD_LETTER
}
