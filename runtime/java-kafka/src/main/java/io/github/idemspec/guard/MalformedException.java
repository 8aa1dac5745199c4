package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/**
 * The payload cannot be read: the message goes to the dead letters, and leaves no mark on its key,
 * which may come with a payload that can (DEDUP-012).
 */
public class MalformedException extends FailureException {
  private static final long serialVersionUID = 1L;

  /** With what is wrong with it. */
  public MalformedException(String message, Throwable cause) {
    super(Outcome.MALFORMED, Duration.ZERO, "BAD_PAYLOAD", message, cause);
  }
}
