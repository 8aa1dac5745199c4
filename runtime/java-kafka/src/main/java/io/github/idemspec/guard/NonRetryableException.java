package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** The delivery can never succeed: it goes to the dead letters. */
public class NonRetryableException extends FailureException {
  private static final long serialVersionUID = 1L;

  /**
   * With a word such as {@code CARD_EXPIRED}, which comes first in the reject_reason header, and what
   * happened.
   */
  public NonRetryableException(String code, String message) {
    this(code, message, null);
  }

  /** With what it comes of, too. */
  public NonRetryableException(String code, String message, Throwable cause) {
    super(Outcome.NON_RETRYABLE, Duration.ZERO, code, message, cause);
  }
}
