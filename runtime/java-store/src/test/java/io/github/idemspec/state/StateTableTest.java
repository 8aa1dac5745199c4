package io.github.idemspec.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.StateMachine;
import io.github.idemspec.v1.StateMachine.Verdict;
import io.github.idemspec.v1.Transition;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StateTableTest {
  private static final Transition CREATION = new Transition("", "CREATED");
  private static final Transition PAID = new Transition("PAYING", "PAID");
  private static final StateMachine MACHINE =
      StateMachine.of(
          CREATION,
          new Transition("CREATED", "PAYING"),
          PAID,
          new Transition("PAID", "REFUNDED"),
          new Transition("CREATED", "CANCELLED"));

  private static final StateTable PLAIN = StateTable.of("plain", "id", "status");
  private static final StateTable ORDERS =
      StateTable.of("shop.Orders", "order_id", "state").version("version").lastKey("last_key");

  private static Servers.Database database;
  private static HikariDataSource pool;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    pool = database.pool(false);
    database.run(
        "create schema shop;"
            + " create type shop.state as enum ('CREATED', 'PAYING', 'PAID', 'REFUNDED', 'CANCELLED', 'LOST');"
            + " create table shop.\"Orders\" (order_id uuid primary key, state shop.state,"
            + " version int, last_key text, note text);"
            + " create table plain (id bigint primary key, status text)");
  }

  @AfterAll
  static void close() {
    if (database != null) {
      pool.close();
      database.close();
    }
  }

  private interface Work<T> {
    T in(Connection connection) throws Exception;
  }

  private static <T> T inTx(Work<T> work) throws Exception {
    try (Connection connection = pool.getConnection()) {
      T value = work.in(connection);
      connection.commit();
      return value;
    }
  }

  private static Move move(Object id, Transition transition) {
    return Move.of(id, transition, current -> MACHINE.verdict(current, transition));
  }

  private static String uuid() {
    return java.util.UUID.randomUUID().toString();
  }

  private static String order(String status) {
    String id = uuid();
    database.run(
        "insert into shop.\"Orders\" values ('" + id + "', '" + status + "', 4, 'other:v1:1', null)");
    return id;
  }

  private static String row(String id) {
    return database.ask(
        "select concat_ws(' ', state, version, last_key, note) from shop.\"Orders\" where order_id = '"
            + id
            + "'");
  }

  @ParameterizedTest
  @CsvSource({
    "PAYING, APPLY, false, PAID 5 mine:v1:1",
    "PAID, DUPLICATE, true, PAID 4 other:v1:1",
    "REFUNDED, DUPLICATE, true, REFUNDED 4 other:v1:1",
    "CREATED, EARLY, false, CREATED 4 other:v1:1",
    "CANCELLED, CONFLICT, false, CANCELLED 4 other:v1:1",
  })
  void apply_rowInEachState_movesItOrSaysWhyNot(
      String state, Verdict verdict, boolean superseded, String after) throws Exception {
    String id = order(state);
    Moved moved = inTx(c -> ORDERS.apply(c, move(id, PAID), "mine:v1:1", ""));
    assertEquals(verdict, moved.verdict());
    assertEquals(state, moved.current());
    assertEquals(superseded, moved.superseded());
    assertEquals(superseded ? "other:v1:1" : "", moved.supersededBy());
    assertEquals(after, row(id));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mine:v2:1", "mine:v1:1"})
  void apply_ownKeyMadeTheMove_isDuplicateAndNotSuperseded(String last) throws Exception {
    String id = order("PAYING");
    inTx(c -> ORDERS.apply(c, move(id, PAID), last, ""));
    Moved again = inTx(c -> ORDERS.apply(c, move(id, PAID), "mine:v2:1", "mine:v1:1"));
    assertEquals(Verdict.DUPLICATE, again.verdict());
    assertFalse(again.superseded());
  }

  @Test
  void apply_furtherColumns_areWrittenWithTheMove() throws Exception {
    String id = order("PAYING");
    inTx(c -> ORDERS.apply(c, move(id, PAID).set("note", "it's paid"), "k:v1:1", ""));
    assertEquals("PAID 5 k:v1:1 it's paid", row(id));
  }

  @Test
  void apply_rolledBack_leavesTheRow() throws Exception {
    String id = order("PAYING");
    try (Connection connection = pool.getConnection()) {
      ORDERS.apply(connection, move(id, PAID), "k:v1:1", "");
      connection.rollback();
    }
    assertEquals("PAYING 4 other:v1:1", row(id));
  }

  @Test
  void apply_stateThatTheMachineDoesNotHave_throws() {
    String id = order("LOST");
    assertThrows(
        IdemException.class, () -> inTx(c -> ORDERS.apply(c, move(id, PAID), "k:v1:1", "")));
  }

  @Test
  void apply_noRow_isEarlyForAMove() throws Exception {
    Moved moved = inTx(c -> ORDERS.apply(c, move(uuid(), PAID), "k:v1:1", ""));
    assertEquals(Verdict.EARLY, moved.verdict());
    assertTrue(moved.missing());
    assertEquals("the object does not exist", moved.where());
  }

  @Test
  void apply_creation_isInsertedByTheGuardOnce() throws Exception {
    String id = uuid();
    StateTable creates = ORDERS.guardCreates();
    Move creation = move(id, CREATION).set("note", "new");
    assertEquals(Verdict.APPLY, inTx(c -> creates.apply(c, creation, "k:v1:1", "")).verdict());
    assertEquals("CREATED 1 k:v1:1 new", row(id));
    assertEquals(Verdict.DUPLICATE, inTx(c -> creates.apply(c, creation, "k:v1:2", "")).verdict());
    assertEquals("CREATED 1 k:v1:1 new", row(id));
  }

  @Test
  void apply_rowWithoutAState_isCreatedByAnUpdate() throws Exception {
    String id = uuid();
    database.run("insert into shop.\"Orders\" values ('" + id + "', null, 0)");
    assertEquals(
        Verdict.APPLY, inTx(c -> ORDERS.apply(c, move(id, CREATION), "k:v1:1", "")).verdict());
    assertEquals("CREATED 1 k:v1:1", row(id));
  }

  /** Of two at once, the second waits, and finds the row as the first one left it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void apply_twoAtOnce_oneApplies(boolean creation) throws Exception {
    long id = creation ? 1 : 2;
    database.run("insert into plain values (2, 'PAYING') on conflict do nothing");
    Move move = move(id, creation ? CREATION : PAID);
    CountDownLatch asked = new CountDownLatch(1);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (Connection connection = pool.getConnection()) {
      assertEquals(Verdict.APPLY, PLAIN.apply(connection, move, "k:v1:1", "").verdict());
      if (creation) { // The caller inserts what it was told to.
        connection.createStatement().execute("insert into plain values (1, 'CREATED')");
      }
      Future<Moved> second =
          other.submit(
              () -> {
                asked.countDown();
                return inTx(c -> PLAIN.apply(c, move, "k:v1:2", ""));
              });
      asked.await();
      awaitLock();
      assertFalse(second.isDone());
      connection.commit();
      assertEquals(Verdict.DUPLICATE, second.get().verdict());
      assertTrue(second.get().superseded());
    } finally {
      other.shutdown();
    }
  }

  private static void awaitLock() throws InterruptedException {
    String waits =
        "select count(*) from pg_locks l join pg_database d on d.datname = current_database()"
            + " and d.oid = coalesce(l.database, d.oid) where not l.granted";
    while (database.ask(waits).equals("0")) {
      Thread.sleep(5);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "a.b.c, id, status, table",
    "orders\"; drop, id, status, A-Z",
    "orders, id, id, twice",
    "orders, '', status, A-Z"
  })
  void of_namesThatCannotBe_areRefused(String table, String id, String status, String says) {
    var e =
        assertThrows(
            IllegalArgumentException.class, () -> StateTable.of(table, id, status).keepsKey());
    assertTrue(e.getMessage().contains(says), e.getMessage());
  }

  @Test
  void apply_columnThatTheGuardWrites_isRefused() {
    Move move = move(uuid(), PAID).set("version", 7);
    var e =
        assertThrows(
            IllegalArgumentException.class, () -> inTx(c -> ORDERS.apply(c, move, "k:v1:1", "")));
    assertTrue(e.getMessage().contains("which the guard writes itself"), e.getMessage());
  }
}
