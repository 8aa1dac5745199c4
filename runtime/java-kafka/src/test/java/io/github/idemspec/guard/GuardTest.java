package io.github.idemspec.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Source;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Policy;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardTest {
  private static final String KEY = "payments.paid:v1:p-1";
  private static final Rules TX = Rules.of(Mode.TX);
  private static final Rules IDEMPOTENT = Rules.of(Mode.IDEMPOTENT);

  private static Servers.Database database;
  private static HikariDataSource pool;

  private final List<Guard> guards = new ArrayList<>();
  private String scope;
  private PostgresStore store;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    database.run("create table effect (scope text)");
    pool = database.pool(true);
  }

  @AfterAll
  static void close() {
    if (database != null) {
      pool.close();
      database.close();
    }
  }

  @BeforeEach
  void name() {
    scope = "s" + Servers.unique();
    store = new PostgresStore(pool);
  }

  @AfterEach
  void end() {
    guards.forEach(Guard::close);
  }

  private Guard guard() {
    return guard(store);
  }

  private Guard guard(PostgresStore on) {
    Guard guard = new Guard(on, GuardConfig.of(scope));
    guards.add(guard);
    return guard;
  }

  private Message message(Header... more) {
    List<Header> headers = new ArrayList<>();
    headers.add(Header.of("event_type", "payments.paid"));
    headers.addAll(List.of(more));
    return new Message(
        new Source("paid", 0, 7), null, new byte[] {1}, headers, Instant.now());
  }

  private MessageDelivery claimed(Guard guard, Rules rules) {
    MessageDelivery d = guard.open(message(Header.of("idempotency_key", KEY)), rules);
    guard.claim(List.of(d));
    return d;
  }

  private TxHandler effect() {
    return (d, connection) -> {
      try (PreparedStatement p = connection.prepareStatement("insert into effect values (?)")) {
        p.setString(1, scope);
        p.executeUpdate();
      }
    };
  }

  private StoredRecord record() {
    return store.records(scope, List.of(KEY)).get(0);
  }

  private String effects() {
    return ask("select count(*) from effect");
  }

  private String ask(String sql) {
    return database.ask(sql + " where scope = '" + scope + "'");
  }

  /** Statements that have this in them fail, before or after they were done. */
  private static DataSource failing(String in, boolean done, AtomicInteger times) {
    return (DataSource)
        Proxy.newProxyInstance(
            GuardTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object answer = method.invoke(pool, arguments);
              return answer instanceof Connection c ? failing(c, in, done, times) : answer;
            });
  }

  private static Connection failing(Connection on, String in, boolean done, AtomicInteger times) {
    return (Connection)
        Proxy.newProxyInstance(
            GuardTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              boolean bad =
                  method.getName().equals("prepareStatement")
                      && ("\n" + arguments[0]).contains(in)
                      && times.getAndDecrement() > 0;
              try {
                Object answer = method.invoke(on, arguments);
                return bad ? failing((PreparedStatement) answer, done) : answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static PreparedStatement failing(PreparedStatement on, boolean done) {
    return (PreparedStatement)
        Proxy.newProxyInstance(
            GuardTest.class.getClassLoader(),
            new Class<?>[] {PreparedStatement.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("execute")) {
                return method.invoke(on, arguments);
              }
              if (done) {
                method.invoke(on, arguments);
              }
              throw new SQLException("the reply is lost", "08006");
            });
  }

  @Test
  void runTx_theReplyToCommitIsLost_theRecordSaysThatItWasDone() {
    AtomicInteger once = new AtomicInteger(1);
    Guard guard = guard(new PostgresStore(failing("rows ' || count", true, once)));
    MessageDelivery d = claimed(guard, TX);
    guard.runTx(d, effect());
    assertEquals(Outcome.OK, d.outcome());
    guard.settle(List.of(d));
    assertTrue(d.settled());
    assertEquals("1", effects());
    assertEquals(State.SUCCESS, record().state());
  }

  @Test
  void runTx_theCommitIsLost_isRetried() {
    AtomicInteger once = new AtomicInteger(1);
    Guard guard = guard(new PostgresStore(failing("rows ' || count", false, once)));
    MessageDelivery d = claimed(guard, TX);
    guard.runTx(d, effect());
    assertEquals(Outcome.RETRYABLE, d.outcome());
    guard.settle(List.of(d));
    assertEquals(Action.RETRY, d.action());
    assertEquals("0", effects());
    assertEquals(State.FAILED, record().state());
    assertEquals("1", ask("select retry_count from msg_retry"));
  }

  @Test
  void runTx_theClaimIsLostOnTheWay_hasNoEffectAndIsDeferred() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, TX);
    TxHandler effect = effect();
    guard.runTx(
        d,
        (delivery, connection) -> {
          effect.handle(delivery, connection);
          store.forget(scope, List.of(KEY));
        });
    assertEquals(Outcome.FENCED, d.outcome());
    guard.settle(List.of(d));
    assertEquals("0", effects());
    assertEquals("DEFER", ask("select action from msg_retry"));
    assertEquals(2, record().fence());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void settle_theReplyIsLost_isSettledAgainOnce(boolean done) {
    AtomicInteger once = new AtomicInteger(1);
    Guard guard = guard(new PostgresStore(failing("SET state = 2, result = i.result", done, once)));
    MessageDelivery d = claimed(guard, IDEMPOTENT);
    guard.run(d, delivery -> {});
    assertThrows(StoreException.class, () -> guard.settle(List.of(d)));
    assertFalse(d.settled());
    guard.settle(List.of(d));
    assertTrue(d.settled());
    assertEquals(Action.ACK, d.action());
    assertEquals(State.SUCCESS, record().state());
    assertEquals("0", ask("select count(*) from msg_retry"));
  }

  @Test
  void claim_theReplyIsLost_proceedsByTheSameOwner() {
    AtomicInteger once = new AtomicInteger(1);
    Guard guard = guard(new PostgresStore(failing("\ncommit", true, once)));
    MessageDelivery d = guard.open(message(Header.of("idempotency_key", KEY)), TX);
    assertThrows(StoreException.class, () -> guard.claim(List.of(d)));
    assertEquals(Status.OPENED, d.status());
    guard.claim(List.of(d));
    assertEquals(Status.READY, d.status());
    assertEquals(1, record().fence());
    assertEquals(1, record().attempts());
  }

  @Test
  void claim_attemptsThatAreUsedUp_isACrashLoopThatRunsNothing() throws Exception {
    Rules rules = TX.policy(Policy.values().maxRetry(0).toPolicy());
    for (int i = 0; i < 4; i++) {
      store.claim(List.of(Claim.of(scope, KEY, "w" + i, Duration.ofMillis(1), 4)));
      Thread.sleep(5);
    }
    Guard guard = guard();
    MessageDelivery d = claimed(guard, rules);
    guard.runTx(d, effect());
    guard.settle(List.of(d));
    assertEquals(Outcome.CRASH_LOOP, d.outcome());
    assertEquals("CRASH_LOOP: 4 attempts are used up", ask("select reason from dead_letter"));
    assertEquals(State.DEAD, record().state());
    assertEquals("0", effects());
  }

  @Test
  void claim_aKeyWithAnotherContent_isADeadLetterThatTouchesNoRecord() {
    Guard guard = guard();
    Header key = Header.of("idempotency_key", KEY);
    Header a = Header.of("fingerprint", "00000000-1111111111111111");
    Header b = Header.of("fingerprint", "00000000-2222222222222222");
    MessageDelivery first = guard.open(message(key, a), TX);
    guard.claim(List.of(first));
    MessageDelivery other = guard.open(message(key, b), TX);
    guard.claim(List.of(other));
    guard.settle(List.of(other));
    assertEquals(Outcome.KEY_REUSED, other.outcome());
    assertEquals("KEY_REUSED", ask("select outcome from dead_letter"));
    assertEquals(State.PROCESSING, record().state());
  }

  @Test
  void run_aPayloadThatCannotBeRead_leavesItsKeyFree() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, IDEMPOTENT);
    guard.run(
        d,
        delivery -> {
          throw new MalformedException("no JSON", null);
        });
    guard.settle(List.of(d));
    assertEquals("BAD_PAYLOAD: no JSON", ask("select reason from dead_letter"));
    assertEquals(State.FAILED, record().state());
    assertEquals(0, record().attempts());
    assertEquals(Status.READY, claimed(guard, IDEMPOTENT).status());
  }

  @Test
  void run_anInterruptionByTheCaller_isRetryableAndLeavesTheThreadAsItWas() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, IDEMPOTENT);
    guard.run(
        d,
        delivery -> {
          delivery.cancel();
          Thread.sleep(600_000);
        });
    assertEquals(Outcome.IN_PROGRESS, d.outcome());
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void run_anErrorOfAHandler_isRetryable() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, IDEMPOTENT);
    guard.run(
        d,
        delivery -> {
          throw new StackOverflowError();
        });
    assertEquals(Outcome.RETRYABLE, d.outcome());
  }

  @Test
  void open_whatIsForAnotherScope_isSkipped() {
    Guard guard = guard();
    MessageDelivery d =
        guard.open(
            message(Header.of("idempotency_key", KEY), Header.of("target_scope", "other")), TX);
    assertEquals(Status.SKIPPED, d.status());
    guard.claim(List.of(d));
    guard.settle(List.of(d));
    assertTrue(d.settled());
    assertNull(record());
  }

  @Test
  void open_aMessageWithoutAKey_isAsTheRouteSays() {
    Guard guard = guard();
    assertEquals(Outcome.MALFORMED, guard.open(message(), TX).outcome());
    assertEquals("p:p-9", guard.open(message(), TX.derive(m -> "p:p-9")).key());
    MessageDelivery bad = guard.open(message(), TX.derive(m -> "not a key"));
    assertTrue(bad.result().reason().startsWith("BAD_KEY: "), bad.result().reason());
    MessageDelivery d = guard.open(message(), TX.passThrough());
    guard.claim(List.of(d));
    guard.runTx(d, effect());
    guard.settle(List.of(d));
    assertEquals(Outcome.OK, d.outcome());
    assertEquals("1", effects());
  }

  @Test
  void open_aMessageThatIsTooLarge_isMalformed() {
    MessageDelivery d =
        guard().open(message(Header.of("idempotency_key", KEY)), TX.maxBytes(0));
    assertEquals("MESSAGE_TOO_LARGE: 1 bytes, the limit is 0", d.result().reason());
  }

  @Test
  void close_whatWasSettled_isCountedForTheAudit() {
    Guard guard = guard();
    for (int i = 0; i < 3; i++) {
      MessageDelivery d = claimed(guard, TX);
      guard.runTx(d, effect());
      guard.settle(List.of(d));
    }
    Header other = Header.of("idempotency_key", KEY + "-2");
    MessageDelivery refused = guard.open(message(other), IDEMPOTENT);
    guard.claim(List.of(refused));
    guard.run(
        refused,
        d -> {
          throw new NonRetryableException("CARD_EXPIRED", "in May");
        });
    MessageDelivery skipped = guard.open(message(other, Header.of("target_scope", "x")), TX);
    guard.settle(List.of(refused, skipped));
    guard.close();
    assertEquals(
        "DUPLICATE ACK store 2, NON_RETRYABLE DEAD_LETTER  1, OK ACK  1",
        database.ask(
            "select string_agg(outcome || ' ' || action || ' ' || layer || ' ' || count, ', '"
                + " order by outcome) from idem_audit where event_type = 'payments.paid'"
                + " and scope = '"
                + scope
                + "'"));
  }

  @Test
  void giveBack_whatNeverStarted_undoesTheAttempt() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, TX);
    guard.giveBack(List.of(d));
    assertEquals(Status.OPENED, d.status());
    assertFalse(d.settled());
    assertEquals(0, record().attempts());
    guard.claim(List.of(d));
    assertEquals(Status.READY, d.status());
  }

  @Test
  void config_aScopeThatIsNone_saysWhatWouldBe() {
    String message =
        assertThrows(IllegalArgumentException.class, () -> GuardConfig.of("a b")).getMessage();
    assertEquals(
        "scope is \"a b\": give 1 to 200 characters of [A-Za-z0-9._-], usually the consumer group's"
            + " name",
        message);
  }

  @Test
  void decode_aPayloadThatCannotBeRead_isMalformedAndLeavesItsKeyFree() {
    Guard guard = guard();
    MessageDelivery d = claimed(guard, IDEMPOTENT);
    guard.run(
        d,
        delivery ->
            delivery.decode(
                payload -> {
                  throw new IOException("it ends in mid-field");
                }));
    guard.settle(List.of(d));
    assertEquals("BAD_PAYLOAD: java.io.IOException: it ends in mid-field", d.result().reason());
    assertEquals(Action.DEAD_LETTER, d.action());
    assertEquals(State.FAILED, record().state());
    assertEquals(0, record().attempts());
  }

  private static String nested(Message message) {
    return nested(message) + message.source();
  }

  @Test
  void open_aPayloadThatIsNestedTooDeeplyForItsKey_isMalformed() {
    MessageDelivery d = guard().open(message(), IDEMPOTENT.derive(GuardTest::nested));
    assertEquals(Outcome.MALFORMED, d.outcome());
    assertTrue(d.result().reason().endsWith("StackOverflowError"), d.result().reason());
  }
}
