package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** The same delivery may succeed after a time, and not before. It costs a retry. */
public class ThrottledException extends FailureException {
  private static final long serialVersionUID = 1L;

  /** With the wait, its Retry-After; zero leaves the delay to the policy. */
  public ThrottledException(Duration after, String message) {
    this(after, message, null);
  }

  /** With what it comes of, too. */
  public ThrottledException(Duration after, String message, Throwable cause) {
    super(Outcome.THROTTLED, after, null, message, cause);
  }
}
