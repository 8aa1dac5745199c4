package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** The delivery came before its predecessor. It costs a hold, not a retry. */
public class OutOfOrderException extends FailureException {
  private static final long serialVersionUID = 1L;

  /** With what happened. */
  public OutOfOrderException(String message) {
    super(Outcome.OUT_OF_ORDER, Duration.ZERO, null, message, null);
  }
}
