package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** The same delivery may succeed later. It costs a retry. */
public class RetryableException extends FailureException {
  private static final long serialVersionUID = 1L;

  /** With what happened. */
  public RetryableException(String message) {
    this(message, null);
  }

  /** With what happened and what it comes of. */
  public RetryableException(String message, Throwable cause) {
    super(Outcome.RETRYABLE, Duration.ZERO, null, message, cause);
  }
}
