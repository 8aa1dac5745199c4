package io.github.idemspec.state;

import io.github.idemspec.v1.StateMachine.Verdict;
import io.github.idemspec.v1.Transition;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * One transition of one object.
 *
 * <pre>{@code
 * Move.of(paid.getOrderId(), PaymentSucceededIdem.TRANSITION, PaymentSucceededIdem::verdict)
 * }</pre>
 *
 * @param id selects the row: a value of the ID column's type; a text stands for a UUID or an enum too
 * @param transition the generated {@code TRANSITION} of the message
 * @param verdict the generated {@code verdict}
 * @param deadLetterSuperseded whether a message is dead-lettered whose transition another key has made:
 *     the generated {@code DEAD_LETTER_SUPERSEDED}
 * @param set further columns to write with the move, by name; values are arguments, never SQL
 */
public record Move(
    Object id,
    Transition transition,
    Function<String, Verdict> verdict,
    boolean deadLetterSuperseded,
    Map<String, Object> set) {

  /** Checks that there is an ID; the columns are sorted, so that one move has one text. */
  public Move {
    if (id == null || "".equals(id)) {
      throw new IllegalArgumentException("id is empty: the value of the row's ID is needed");
    }
    set = new TreeMap<>(set);
  }

  /** One that acknowledges a superseded message, and writes no further columns. */
  public static Move of(Object id, Transition transition, Function<String, Verdict> verdict) {
    return new Move(id, transition, verdict, false, Map.of());
  }

  /** With what becomes of a superseded message. */
  public Move deadLetterSuperseded(boolean deadLetter) {
    return new Move(id, transition, verdict, deadLetter, set);
  }

  /** With a further column to write. */
  public Move set(String column, Object value) {
    Map<String, Object> more = new TreeMap<>(set);
    more.put(column, value);
    return new Move(id, transition, verdict, deadLetterSuperseded, more);
  }
}
