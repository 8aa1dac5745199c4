package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.state.Move;
import io.github.idemspec.state.StateTable;
import io.github.idemspec.testing.Running;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.StateMachine;
import io.github.idemspec.v1.Transition;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Messages that move an object whose state the consumer's own table guards. */
class StateGuardTest {
  private static final String PAID = "payments.paid";
  private static final String REFUNDED = "refunds.done";
  private static final Transition TO_PAID = new Transition("PAYING", "PAID");
  private static final Transition TO_REFUNDED = new Transition("PAID", "REFUNDED");
  private static final StateMachine MACHINE =
      StateMachine.of(new Transition("", "PAYING"), TO_PAID, TO_REFUNDED);
  private static final StateTable ORDERS =
      StateTable.of("orders", "id", "status").lastKey("last_key");

  /** A hold that nobody wakes lasts longer than any test. */
  private static final Policy SLOW =
      Policy.values().maxHold(20).backoffScheduleMs(600_000).backoffJitterMs(0).toPolicy();

  private Running running;

  @BeforeEach
  void open() throws Exception {
    running = new Running(2);
    running.database.run(
        "create table orders (id text primary key, status text, last_key text);"
            + " create table effect (key text)");
  }

  @AfterEach
  void close() throws Exception {
    if (running != null) {
      running.close();
    }
  }

  private Route tx(String event, Transition transition, boolean deadLetter) {
    Function<String, StateMachine.Verdict> verdict = s -> MACHINE.verdict(s, transition);
    return Route.tx(
        event,
        Rules.of(Mode.TX).policy(SLOW),
        (d, connection) -> {
          Move move = Move.of(d.bizKey(), transition, verdict).deadLetterSuperseded(deadLetter);
          d.move(connection, ORDERS, move);
          try (var insert = connection.prepareStatement("insert into effect values (?)")) {
            insert.setString(1, d.key());
            insert.executeUpdate();
          }
        });
  }

  private void order(String id, String status) {
    running.database.run("insert into orders values ('" + id + "', '" + status + "', 'other:v1:0')");
  }

  private String status(String id) {
    return running.database.ask("select status from orders where id = '" + id + "'");
  }

  private State state(String key) {
    return running.store.records(running.topic.group, List.of(key)).get(0).state();
  }

  private String effects() {
    return running.database.ask("select string_agg(key, ' ' order by key) from effect");
  }

  /** It is woken by the move, and does not wait until it is due (STATE-012). */
  @Test
  void tx_messageBeforeItsPredecessor_isHeldUntilTheStateReachesIt() throws Exception {
    order("o-1", "PAYING");
    running.consume(tx(PAID, TO_PAID, false), tx(REFUNDED, TO_REFUNDED, false));
    running.schedule();
    running.topic.send(REFUNDED, REFUNDED + ":v1:r-1", "o-1", "x");
    await("held", () -> "HOLD".equals(running.database.ask("select action from msg_retry")));
    assertEquals("PAYING", status("o-1"));
    running.topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    await("refunded", () -> "REFUNDED".equals(status("o-1")));
    assertEquals(PAID + ":v1:p-1 " + REFUNDED + ":v1:r-1", effects());
  }

  @Test
  void tx_anotherKeyMadeTheMove_isAcknowledgedOrDeadLetteredAsTheSchemaSays() throws Exception {
    order("o-1", "PAID");
    order("o-2", "REFUNDED");
    running.consume(tx(PAID, TO_PAID, true), tx(REFUNDED, TO_REFUNDED, false));
    running.topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    running.topic.send(REFUNDED, REFUNDED + ":v1:r-1", "o-2", "x");
    await("committed", () -> running.topic.committed() == 2);
    assertEquals(
        "SUPERSEDED: another key made the transition: other:v1:0",
        running.database.ask("select reason from dead_letter"));
    assertEquals(State.SUCCESS, state(REFUNDED + ":v1:r-1"));
    assertEquals(State.DEAD, state(PAID + ":v1:p-1"));
    assertEquals(null, effects());
  }

  @Test
  void guarded_messageThatComesTwice_movesTheRowOnceAndKeepsItsKey() throws Exception {
    order("o-1", "PAYING");
    running.consume(
        Route.guarded(
            PAID,
            ORDERS,
            d -> Move.of(d.bizKey(), TO_PAID, current -> MACHINE.verdict(current, TO_PAID))));
    running.topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    running.topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    await("committed", () -> running.topic.committed() == 2);
    assertEquals("PAID", status("o-1"));
    assertEquals(PAID + ":v1:p-1", running.database.ask("select last_key from orders"));
    assertEquals("0", running.database.ask("select count(*) from dead_letter"));
  }

  @Test
  void guarded_tableWithoutTheKey_isRefused() {
    StateTable plain = StateTable.of("orders", "id", "status");
    var e =
        assertThrows(
            IllegalArgumentException.class, () -> Route.guarded(PAID, plain, d -> null));
    assertTrue(e.getMessage().contains("lastKey"), e.getMessage());
  }
}
