package io.github.idemspec.guard;

import java.util.Locale;

/** What kept a message that had its effect from another one (CONS-041). */
public enum Layer {
  /** Nothing had to. */
  NONE,
  /** The dedup record. */
  STORE,
  /** The state machine. */
  STATE,
  /** The handler itself. */
  HANDLER;

  /** The name that all languages share; empty for {@link #NONE}. */
  public String text() {
    return this == NONE ? "" : name().toLowerCase(Locale.ROOT);
  }
}
