package io.github.idemspec.kafka;

import io.github.idemspec.guard.BatchHandler;
import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.Handler;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.guard.TxBatchHandler;
import io.github.idemspec.guard.TxHandler;
import io.github.idemspec.state.Move;
import io.github.idemspec.state.StateTable;
import java.util.List;

/**
 * How the messages of one event type are treated.
 *
 * <pre>{@code
 * Route.tx("orders.order_created", Rules.of(Mode.TX).order(Order.BLOCK), (delivery, connection) -> …)
 * }</pre>
 */
public final class Route {
  /** Runs the handler of deliveries, of which there are no more than the batch takes. */
  interface Runner {
    void run(Guard guard, List<MessageDelivery> deliveries);
  }

  final String eventType;
  final Rules rules;
  final Runner runner;
  final int batch;
  final Breaker breaker;
  final boolean shadow;

  private Route(
      String eventType, Rules rules, Runner runner, int batch, Breaker breaker, boolean shadow) {
    if (eventType == null || eventType.isEmpty()) {
      throw new IllegalArgumentException(
          "the route has no event type: give the first segment of the key's template,"
              + " orders.order_created");
    }
    if (batch < 1) {
      throw new IllegalArgumentException(
          "route " + eventType + ": its batch is " + batch + ": give 1 message or more");
    }
    this.eventType = eventType;
    this.rules = rules;
    this.runner = runner;
    this.batch = batch;
    this.breaker = breaker;
    this.shadow = shadow;
  }

  private static Route of(String eventType, Rules rules, int batch, Runner runner) {
    return new Route(eventType, rules, runner, batch, Breaker.DEFAULT, false);
  }

  /** With other bounds of when it rests. */
  public Route breaker(Breaker settings) {
    return new Route(eventType, rules, runner, batch, settings, shadow);
  }

  /**
   * One that computes, tells the observer, and never acts: no claim is made, and no handler runs. Give
   * its consumer a group of its own, or the group that acts loses the messages.
   */
  public Route shadow() {
    return new Route(eventType, rules, runner, batch, breaker, true);
  }

  /** One whose effect is in the store's database: effect and SUCCESS are one transaction. */
  public static Route tx(String eventType, TxHandler handler) {
    return tx(eventType, Rules.of(Mode.TX), handler);
  }

  /** The same by rules, whose mode has to be TX. */
  public static Route tx(String eventType, Rules rules, TxHandler handler) {
    check(eventType, rules, Mode.TX);
    return of(eventType, rules, 1, (guard, ds) -> guard.runTx(ds.get(0), handler));
  }

  /** One whose effect is outside: at least one call, with the key to hand on. */
  public static Route idempotent(String eventType, Handler handler) {
    return idempotent(eventType, Rules.of(Mode.IDEMPOTENT), handler);
  }

  /** The same by rules, whose mode has to be IDEMPOTENT. */
  public static Route idempotent(String eventType, Rules rules, Handler handler) {
    check(eventType, rules, Mode.IDEMPOTENT);
    return of(eventType, rules, 1, (guard, ds) -> guard.run(ds.get(0), handler));
  }

  /**
   * One of several messages at once, in one transaction of the store's database.
   *
   * @param most how many messages a call gets at most; it gets those that are there
   */
  public static Route txBatch(String eventType, Rules rules, int most, TxBatchHandler handler) {
    check(eventType, rules, Mode.TX);
    return of(eventType, rules, most, (guard, ds) -> guard.runTxBatch(ds, handler));
  }

  /** One of several messages at once, whose effects are outside. */
  public static Route idempotentBatch(
      String eventType, Rules rules, int most, BatchHandler handler) {
    check(eventType, rules, Mode.IDEMPOTENT);
    return of(eventType, rules, most, (guard, ds) -> guard.runBatch(ds, handler));
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
    return of(eventType, rules, 1, (guard, ds) -> guard.runTx(ds.get(0), handler));
  }

  private static void check(String eventType, Rules rules, Mode mode) {
    if (rules.mode() != mode) {
      throw new IllegalArgumentException(
          "route " + eventType + ": its rules are of mode " + rules.mode() + ": give " + mode);
    }
  }
}
