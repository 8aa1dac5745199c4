package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** An error that says what it means for the delivery that ran into it (chapter 8). */
public abstract class FailureException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Outcome outcome;
  private final Duration after;
  private final String code;

  /**
   * A failure.
   *
   * @param outcome its class
   * @param after the wait that came with it, or zero
   * @param code a word for the reject_reason header, or null for the outcome's name
   * @param message what happened, or null
   * @param cause what it comes of, or null
   */
  protected FailureException(
      Outcome outcome, Duration after, String code, String message, Throwable cause) {
    super(message == null && cause != null ? cause.toString() : message, cause);
    this.outcome = outcome;
    this.after = after;
    this.code = code;
  }

  /** What it means. */
  public Outcome outcome() {
    return outcome;
  }

  /** The wait that came with it, or zero. */
  public Duration after() {
    return after;
  }

  /** What the reject_reason says: the code and what happened. */
  public String reason() {
    String word = code == null || code.isEmpty() ? outcome.name() : code;
    return getMessage() == null ? word : word + ": " + getMessage();
  }
}
