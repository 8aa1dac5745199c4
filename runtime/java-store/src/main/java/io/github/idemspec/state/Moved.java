package io.github.idemspec.state;

import io.github.idemspec.v1.StateMachine.Verdict;

/**
 * What the guard found.
 *
 * @param verdict APPLY: the row has moved, or may be inserted
 * @param current the row's state before the move
 * @param missing there was no row
 * @param superseded with DUPLICATE, another key made the transition, or one past it, as far as the row
 *     can tell (STATE-011)
 * @param supersededBy that key, where the table keeps it, or empty
 */
public record Moved(
    Verdict verdict, String current, boolean missing, boolean superseded, String supersededBy) {

  static Moved applied(String current, boolean missing) {
    return new Moved(Verdict.APPLY, current, missing, false, "");
  }

  /** Where the object is, in words. */
  public String where() {
    if (missing) {
      return "the object does not exist";
    }
    return "the object is in state " + (current.isEmpty() ? "\"\"" : current);
  }
}
