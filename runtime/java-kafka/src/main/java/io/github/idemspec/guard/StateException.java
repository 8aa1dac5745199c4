package io.github.idemspec.guard;

import io.github.idemspec.state.Moved;
import io.github.idemspec.v1.Outcome;
import java.time.Duration;

/** An object is in no state in which a message applies (STATE-005, STATE-011). */
public final class StateException extends FailureException {
  private static final long serialVersionUID = 1L;

  private StateException(Outcome outcome, String code, String message) {
    super(outcome, Duration.ZERO, code, message, null);
  }

  /** What a verdict other than APPLY means for the delivery. */
  static StateException of(Moved moved, boolean deadLetterSuperseded) {
    switch (moved.verdict()) {
      case EARLY:
        return new StateException(Outcome.OUT_OF_ORDER, null, moved.where());
      case CONFLICT:
        return new StateException(Outcome.CONFLICT, null, moved.where());
      default:
        if (!moved.superseded() || !deadLetterSuperseded) {
          return new StateException(Outcome.DUPLICATE, null, moved.where());
        }
        String by = moved.supersededBy().isEmpty() ? "" : ": " + moved.supersededBy();
        return new StateException(
            Outcome.NON_RETRYABLE, "SUPERSEDED", "another key made the transition" + by);
    }
  }
}
