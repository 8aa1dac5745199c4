package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.NonRetryableException;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.guard.Results;
import io.github.idemspec.guard.RetryableException;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.testing.Running;
import io.github.idemspec.v1.Policy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Routes of several messages at once, routes that rest, and shadows. */
class RouteTest {
  private static final String PAID = "payments.paid";
  private static final Policy QUICK =
      Policy.values().maxRetry(2).backoffScheduleMs(50).backoffJitterMs(0).toPolicy();
  private static final Rules TX = Rules.of(Mode.TX).policy(QUICK);
  private static final Rules IDEMPOTENT = Rules.of(Mode.IDEMPOTENT).policy(QUICK);

  private Running running;

  @BeforeEach
  void open() throws Exception {
    running = new Running(2);
    running.database.run("create table effect (key text)");
  }

  @AfterEach
  void close() {
    if (running != null) {
      running.close();
    }
  }

  private void send(int messages) {
    for (int i = 0; i < messages; i++) {
      running.topic.send(PAID, PAID + ":v1:p-" + i, "o-" + i, "x");
    }
  }

  private static void insert(Connection connection, List<MessageDelivery> deliveries)
      throws Exception {
    try (var insert = connection.prepareStatement("insert into effect values (?)")) {
      for (MessageDelivery d : deliveries) {
        insert.setString(1, d.key());
        insert.addBatch();
      }
      insert.executeBatch();
    }
  }

  private int count(String table) {
    return Integer.parseInt(running.database.ask("select count(*) from " + table));
  }

  private int effects() {
    assertEquals(count("effect"), count("(select distinct key from effect) e"));
    return count("effect");
  }

  private void awaitCommitted(int messages) throws Exception {
    await("offsets", () -> running.topic.committed() == messages);
  }

  @Test
  void txBatch_messagesThatComeTwice_haveOneEffectInFewerTransactions() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger largest = new AtomicInteger();
    send(100);
    send(100);
    running.consume(
        running.config().withWorkers(2),
        Route.txBatch(
            PAID,
            TX,
            20,
            (ds, connection) -> {
              calls.incrementAndGet();
              largest.accumulateAndGet(ds.size(), Math::max);
              insert(connection, ds);
              return Results.done(ds);
            }));
    awaitCommitted(200);
    assertEquals(100, effects());
    assertTrue(largest.get() > 1 && largest.get() <= 20, "" + largest);
    assertTrue(calls.get() < 100, "" + calls);
  }

  /** What fails is left out, and the others are done in one transaction. */
  @Test
  void txBatch_someFail_theOthersHaveTheirEffectOnce() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    send(30);
    running.consume(
        running.config().withWorkers(1),
        Route.txBatch(
            PAID,
            TX,
            30,
            (ds, connection) -> {
              insert(connection, ds);
              List<Throwable> results = new ArrayList<>();
              for (MessageDelivery d : ds) {
                if (d.key().endsWith("-3")) {
                  results.add(new NonRetryableException("EXPIRED", "in May"));
                } else if (d.key().endsWith("-7") && failures.incrementAndGet() == 1) {
                  results.add(new RetryableException("not yet"));
                } else {
                  results.add(null);
                }
              }
              return results;
            }));
    running.schedule();
    awaitCommitted(30);
    await("all", () -> count("effect") == 29);
    assertEquals(29, effects());
    assertEquals(1, count("dead_letter where reason = 'EXPIRED: in May'"));
  }

  /**
   * Behind a statement that fails PostgreSQL refuses those of the others, which are not to blame, whether
   * or not the handler says whose it was.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void txBatch_aStatementFails_theOthersAreDone(boolean said) throws Exception {
    send(10);
    running.consume(
        running.config().withWorkers(1),
        Route.txBatch(
            PAID,
            TX,
            10,
            (ds, connection) -> {
              List<Throwable> results = new ArrayList<>();
              for (MessageDelivery d : ds) {
                boolean bad = d.key().endsWith("-3");
                try (var statement = connection.createStatement()) {
                  statement.execute(
                      "insert into " + (bad ? "nowhere" : "effect") + " values ('" + d.key() + "')");
                  results.add(null);
                } catch (SQLException e) {
                  results.add(bad && !said && ds.size() > 1 ? null : e);
                }
              }
              return results;
            }));
    awaitCommitted(10);
    assertEquals(9, effects());
    assertEquals(1, count("dead_letter where idempotency_key like '%-3'"));
    assertEquals(1, count("dead_letter"));
  }

  /** Where it throws nobody knows by whose fault: each runs alone. */
  @Test
  void txBatch_oneHasTheHandlerThrow_theOthersAreDone() throws Exception {
    send(10);
    running.consume(
        running.config().withWorkers(1),
        Route.txBatch(
            PAID,
            TX,
            10,
            (ds, connection) -> {
              insert(connection, ds);
              if (ds.stream().anyMatch(d -> d.key().endsWith("-3"))) {
                throw new NonRetryableException("BAD", "-3");
              }
              return Results.done(ds);
            }));
    awaitCommitted(10);
    assertEquals(9, effects());
    assertEquals(1, count("dead_letter where idempotency_key like '%-3'"));
  }

  @Test
  void idempotentBatch_messagesWithoutAResult_haveFailed() throws Exception {
    send(4);
    running.consume(
        running.config().withWorkers(1),
        Route.idempotentBatch(PAID, IDEMPOTENT, 4, ds -> List.of()));
    running.schedule();
    await("dead letters", () -> count("dead_letter") == 4);
    String reason = running.database.ask("select min(reason) from dead_letter");
    assertTrue(reason.startsWith("NO_RESULT: the batch handler gave 0 results"), reason);
  }

  @Test
  void breaker_anOutage_putsNothingIntoTheDeadLettersAndEndsByAProbe() throws Exception {
    AtomicBoolean down = new AtomicBoolean(true);
    AtomicInteger calls = new AtomicInteger();
    Policy once = Policy.values().maxRetry(1).backoffScheduleMs(1).backoffJitterMs(0).toPolicy();
    running.consume(
        running.config().withWorkers(4),
        Route.tx(
                PAID,
                TX.policy(once),
                (d, connection) -> {
                  calls.incrementAndGet();
                  if (down.get()) {
                    throw new RetryableException("the bank is down");
                  }
                  insert(connection, List.of(d));
                })
            .breaker(new Breaker(3, Duration.ofMillis(200), Duration.ofMillis(400))));
    running.schedule();
    send(200);
    await("probes", () -> calls.get() > 8);
    assertTrue(calls.get() < 40, "it does not rest: " + calls);
    down.set(false);
    await("all", () -> count("effect") == 200);
    awaitCommitted(200);
    assertEquals(200, effects());
    assertEquals(0, count("dead_letter"));
  }

  /** A route that rests holds back no other one. */
  @Test
  void breaker_aRouteThatRests_leavesTheOthersAlone() throws Exception {
    Route down =
        Route.idempotent(
            "payments.refused",
            IDEMPOTENT,
            d -> {
              throw new RetryableException("down");
            });
    running.consume(
        running.config().withWorkers(4),
        down.breaker(new Breaker(1, Duration.ofMinutes(1), Duration.ofMinutes(1))),
        Route.tx(PAID, TX, (d, connection) -> insert(connection, List.of(d))));
    for (int i = 0; i < 20; i++) {
      running.topic.send("payments.refused", "payments.refused:v1:" + i, "r-" + i, "x");
    }
    send(50);
    await("the others", () -> count("effect") == 50);
  }

  @Test
  void shadow_messages_areComputedAndToldAndNothingIsDone() throws Exception {
    Queue<String> told = new ConcurrentLinkedQueue<>();
    Observer observer =
        new Observer() {
          @Override
          public void delivered(MessageDelivery d) {
            told.add(d.key() + " " + d.outcome() + " " + d.action() + " " + d.shadow());
          }
        };
    send(2);
    send(1);
    ConsumerConfig shadow = ConsumerConfig.of("shadow-" + running.topic.group, running.topic.name);
    running.consume( // It has no retry topics.
        shadow.withGuard(GuardConfig.of(shadow.group()).withObserver(observer)),
        Route.tx(PAID, TX, (d, connection) -> insert(connection, List.of(d))).shadow());
    await("all", () -> told.size() == 3);
    assertEquals(
        List.of(
            PAID + ":v1:p-0 DUPLICATE ACK true",
            PAID + ":v1:p-0 OK ACK true",
            PAID + ":v1:p-1 OK ACK true"),
        told.stream().sorted().toList());
    assertEquals(0, count("effect"));
    assertEquals(0, count("idem_record"));
  }

  @Test
  void batch_ofNone_isRefused() {
    var e =
        assertThrows(
            IllegalArgumentException.class,
            () -> Route.txBatch(PAID, TX, 0, (ds, connection) -> Results.done(ds)));
    assertTrue(e.getMessage().contains("its batch is 0"), e.getMessage());
  }
}
