package io.github.idemspec.guard;

import io.github.idemspec.v1.Classifier;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
import java.nio.channels.ClosedByInterruptException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a delivery came to.
 *
 * @param outcome the class
 * @param waitMs the wait that came with it, or 0
 * @param reason what the reject_reason says, or null for the outcome's name
 */
public record Result(Outcome outcome, long waitMs, String reason) {
  private static final int MOST_CAUSES = 100;

  /** Done. */
  public static final Result OK = of(Outcome.OK, null);

  /** Without a wait. */
  public static Result of(Outcome outcome, String reason) {
    return new Result(outcome, 0, reason);
  }

  /**
   * What an error means. A {@link FailureException} says so itself, the outermost first; an {@link
   * IdemException} fails again in the same way; an {@link SQLException} by its SQLSTATE; everything
   * else is RETRYABLE (CLASS-001, CLASS-030).
   */
  public static Result of(Throwable error) {
    String sqlState = null;
    boolean same = false;
    for (Throwable e : causes(error)) {
      if (e instanceof FailureException f) {
        return new Result(f.outcome(), Math.max(f.after().toMillis(), 0), f.reason());
      }
      if (sqlState == null && e instanceof SQLException s) {
        sqlState = s.getSQLState();
      }
      same |= e instanceof IdemException;
    }
    if (same) {
      return of(Outcome.NON_RETRYABLE, error.toString());
    }
    return of(bySqlState(sqlState), error.toString());
  }

  /** The error and what it comes of, the outermost first; two may each be the other's cause. */
  private static List<Throwable> causes(Throwable error) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable e = error; e != null && causes.size() < MOST_CAUSES; e = e.getCause()) {
      causes.add(e);
    }
    return causes;
  }

  private static Outcome bySqlState(String state) {
    if (state == null) {
      return Outcome.RETRYABLE;
    }
    try {
      Outcome outcome = Classifier.sqlState(state);
      return outcome == Outcome.OK ? Outcome.RETRYABLE : outcome;
    } catch (IdemException e) { // No SQLSTATE.
      return Outcome.RETRYABLE;
    }
  }

  /** Whether PostgreSQL refused a statement since another one had failed in the same transaction. */
  static boolean isEcho(Throwable error) {
    for (Throwable e : causes(error)) {
      if (e instanceof SQLException s && "25P02".equals(s.getSQLState())) {
        return true;
      }
    }
    return false;
  }

  /** Whether an error comes of an interruption, or of a statement that the server ended. */
  static boolean isInterruption(Throwable error) {
    for (Throwable e : causes(error)) {
      if (e instanceof InterruptedException || e instanceof ClosedByInterruptException) {
        return true;
      }
      if (e instanceof SQLException s && "57014".equals(s.getSQLState())) {
        return true;
      }
    }
    return false;
  }
}
