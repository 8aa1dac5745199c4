package io.github.idemspec.kafka;

import io.github.idemspec.guard.Handler;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.guard.TxHandler;
import io.github.idemspec.state.Move;
import io.github.idemspec.state.StateTable;

/**
 * How the messages of one event type are treated.
 *
 * <pre>{@code
 * Route.tx("orders.order_created", Rules.of(Mode.TX).order(Order.BLOCK), (delivery, connection) -> …)
 * }</pre>
 */
public final class Route {
  final String eventType;
  final Rules rules;
  final Handler handler;
  final TxHandler txHandler;

  private Route(String eventType, Rules rules, Handler handler, TxHandler txHandler) {
    if (eventType == null || eventType.isEmpty()) {
      throw new IllegalArgumentException(
          "the route has no event type: give the first segment of the key's template,"
              + " orders.order_created");
    }
    this.eventType = eventType;
    this.rules = rules;
    this.handler = handler;
    this.txHandler = txHandler;
  }

  /** One whose effect is in the store's database: effect and SUCCESS are one transaction. */
  public static Route tx(String eventType, TxHandler handler) {
    return tx(eventType, Rules.of(Mode.TX), handler);
  }

  /** The same by rules, whose mode has to be TX. */
  public static Route tx(String eventType, Rules rules, TxHandler handler) {
    check(eventType, rules, Mode.TX);
    return new Route(eventType, rules, null, handler);
  }

  /** One whose effect is outside: at least one call, with the key to hand on. */
  public static Route idempotent(String eventType, Handler handler) {
    return idempotent(eventType, Rules.of(Mode.IDEMPOTENT), handler);
  }

  /** The same by rules, whose mode has to be IDEMPOTENT. */
  public static Route idempotent(String eventType, Rules rules, Handler handler) {
    check(eventType, rules, Mode.IDEMPOTENT);
    return new Route(eventType, rules, handler, null);
  }

  /** Reads the move that a message stands for. */
  public interface MoveOf {
    /** The move; what it throws is classified as that of a handler is. */
    Move of(MessageDelivery delivery) throws Exception;
  }

  /**
   * One whose effect is to move a row of a table in the store's database, and nothing else. The table has
   * to keep the key of its last move (STATE-013).
   */
  public static Route guarded(String eventType, StateTable table, MoveOf move) {
    return guarded(eventType, Rules.of(Mode.GUARDED), table, move);
  }

  /** The same by rules, whose mode has to be GUARDED. */
  public static Route guarded(String eventType, Rules rules, StateTable table, MoveOf move) {
    check(eventType, rules, Mode.GUARDED);
    if (!table.keepsKey()) {
      throw new IllegalArgumentException(
          "route "
              + eventType
              + ": the table has no lastKey: name a text column that keeps the key of the last move");
    }
    TxHandler handler =
        (delivery, connection) -> delivery.move(connection, table, move.of(delivery));
    return new Route(eventType, rules, null, handler);
  }

  private static void check(String eventType, Rules rules, Mode mode) {
    if (rules.mode() != mode) {
      throw new IllegalArgumentException(
          "route " + eventType + ": its rules are of mode " + rules.mode() + ": give " + mode);
    }
  }
}
