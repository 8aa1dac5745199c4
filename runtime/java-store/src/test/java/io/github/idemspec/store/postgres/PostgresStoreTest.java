package io.github.idemspec.store.postgres;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.DeadLetter;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lane;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Retry;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.Source;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Outcome;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresStoreTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final byte[] RESULT = {1, 0, -1};

  private static Servers.Database database;
  private static HikariDataSource pool;
  private static PostgresStore store;

  private String scope;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    database.run("create table effect (key text)");
    pool = database.pool(true);
    store = new PostgresStore(pool);
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
  }

  private Claim claim(String key, String owner) {
    return Claim.of(scope, key, owner, LEASE, 9);
  }

  private Claim claim(
      String key, String owner, String print, int redrives, int retries, Lane lane) {
    return new Claim(
        scope, key, "", owner, print, redrives, retries, 0, 9, LEASE, false, lane);
  }

  private Grant claimed(String key, String owner) {
    return store.claim(List.of(claim(key, owner))).get(0);
  }

  private StoredRecord record(String key) {
    return store.records(scope, List.of(key)).get(0);
  }

  private Retry retry(String key, long offset, int retries, boolean park) {
    return new Retry(
        scope,
        key,
        "orders.created",
        "o-1",
        "e-1",
        new Source("orders", 3, offset),
        0,
        retries,
        0,
        Action.RETRY,
        "RETRYABLE",
        "orders.retry." + scope,
        "o-1".getBytes(),
        List.of(Header.of("retry_count", "" + retries)),
        RESULT,
        Duration.ofSeconds(5),
        park);
  }

  private DeadLetter letter(String key, long offset) {
    return new DeadLetter(
        scope,
        key,
        "orders.created",
        "o-1",
        "e-1",
        new Source("orders", 3, offset),
        0,
        0,
        0,
        Outcome.NON_RETRYABLE,
        "CARD_EXPIRED",
        "orders",
        null,
        List.of(Header.of("reject_reason", "CARD_EXPIRED")),
        null);
  }

  private String count(String table, String where) {
    return database.ask(
        "select count(*) from " + table + " where scope = '" + scope + "' and " + where);
  }

  @Test
  void claim_keysThatAreNew_proceedWithFenceOne() {
    List<Grant> grants = store.claim(List.of(claim("b", "w1"), claim("a", "w2")));
    for (Grant grant : grants) {
      assertEquals(Verdict.PROCEED, grant.verdict());
      assertEquals(1, grant.lease().fence());
      assertEquals(1, grant.attempts());
    }
    assertEquals(new Lease(scope, "b", 1, "", 0, "w1"), grants.get(0).lease());
    StoredRecord r = record("a");
    assertEquals(State.PROCESSING, r.state());
    assertEquals("w2", r.owner());
    assertEquals(grants.get(1).leaseUntilMs(), r.leaseUntilMs());
  }

  @Test
  void claim_aKeyThatIsHeld_isInProgressForTheRestOfTheLease() {
    claimed("k", "w1");
    Grant other = claimed("k", "w2");
    assertEquals(Verdict.IN_PROGRESS, other.verdict());
    assertTrue(other.waitMs() > 0 && other.waitMs() <= LEASE.toMillis(), "" + other.waitMs());
    Grant again = claimed("k", "w1"); // Its own reply was lost.
    assertEquals(Verdict.PROCEED, again.verdict());
    assertEquals(1, again.lease().fence());
  }

  @Test
  void claim_aKeyTwiceInABatch_isClaimedOnce() {
    List<Grant> grants =
        store.claim(List.of(claim("k", "w1"), claim("k", "w1"), claim("n", "w3")));
    assertEquals(Verdict.PROCEED, grants.get(0).verdict());
    assertEquals(Verdict.IN_PROGRESS, grants.get(1).verdict());
    assertEquals(Verdict.PROCEED, grants.get(2).verdict());
  }

  @Test
  void claim_aLeaseThatIsOver_recoversUnderTheNextFence() throws Exception {
    store.claim(List.of(Claim.of(scope, "k", "w1", Duration.ofMillis(1), 9)));
    Thread.sleep(20);
    Grant grant = claimed("k", "w2");
    assertEquals(Verdict.PROCEED, grant.verdict());
    assertEquals(2, grant.lease().fence());
    assertEquals(2, grant.attempts());
    assertTrue(grant.recovered());
    assertArrayEquals(
        new boolean[] {false},
        store.complete(List.of(Completion.of(Lease.of(scope, "k", 1, "w1")))));
  }

  @Test
  void claim_anotherFingerprint_isReused() {
    String a = "00000000-1111111111111111";
    String b = "00000000-2222222222222222";
    store.claim(List.of(claim("k", "w1", a, 0, 0, null)));
    Grant grant = store.claim(List.of(claim("k", "w2", b, 0, 0, null))).get(0);
    assertEquals(Verdict.KEY_REUSED, grant.verdict());
    assertEquals(a, grant.recordFingerprint());
    assertEquals(Outcome.KEY_REUSED, grant.outcome());
  }

  @Test
  void claim_anOldMessageWithoutARecord_isTooOldAndLeavesNone() {
    Claim old = new Claim(scope, "k", "", "w1", "", 0, 0, 0, 9, LEASE, true, null);
    assertEquals(Outcome.TOO_OLD, store.claim(List.of(old)).get(0).outcome());
    assertNull(record("k"));
  }

  @Test
  void claim_twoKeys_areClaimedAndCompletedTogether() {
    Claim both = new Claim(scope, "new", "old", "w1", "", 0, 0, 0, 9, LEASE, false, null);
    Grant grant = store.claim(List.of(both)).get(0);
    assertEquals(new Lease(scope, "new", 1, "old", 1, "w1"), grant.lease());
    assertEquals(Verdict.IN_PROGRESS, claimed("old", "w2").verdict());
    assertArrayEquals(
        new boolean[] {true},
        store.complete(List.of(new Completion(grant.lease(), RESULT, null, false))));
    assertEquals(Verdict.DUPLICATE, claimed("old", "w3").verdict());
    assertArrayEquals(RESULT, claimed("new", "w3").result());
  }

  @Test
  void claim_oneOfTwoKeysIsDone_writesTheOtherToo() {
    Grant old = claimed("old", "w1");
    store.complete(List.of(new Completion(old.lease(), RESULT, null, false)));
    Claim both = new Claim(scope, "new", "old", "w2", "", 0, 0, 0, 9, LEASE, false, null);
    assertEquals(Verdict.DUPLICATE, store.claim(List.of(both)).get(0).verdict());
    assertEquals(State.SUCCESS, record("new").state());
    assertArrayEquals(RESULT, claimed("new", "w3").result());
  }

  @Test
  void claim_aKeyThatATransactionHasLocked_isInProgressAndTheOthersProceed() throws Exception {
    Grant held = claimed("k", "w1");
    List<Grant> grants;
    try (Connection c = pool.getConnection()) {
      c.setAutoCommit(false);
      store.completeTx(c, Completion.of(held.lease()));
      grants = store.claim(List.of(claim("a", "w2"), claim("k", "w3")));
      c.rollback();
      c.setAutoCommit(true);
    }
    assertEquals(Verdict.PROCEED, grants.get(0).verdict());
    assertEquals(Verdict.IN_PROGRESS, grants.get(1).verdict());
  }

  @Test
  void claim_fromManyThreads_letsEachKeyProceedOnce() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<List<Grant>>> answers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          claims.add(claim("k" + (i * 7 + t) % 50, "w" + t));
        }
        answers.add(pool.submit(() -> store.claim(claims)));
      }
      int proceeded = 0;
      for (Future<List<Grant>> answer : answers) {
        for (Grant grant : answer.get()) {
          proceeded += grant.verdict() == Verdict.PROCEED ? 1 : 0;
        }
      }
      assertEquals(50, proceeded);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void complete_aClaim_keepsTheResultForDuplicates() {
    Grant a = claimed("a", "w1");
    Grant b = claimed("b", "w1");
    Lease stranger = Lease.of(scope, "b", b.lease().fence(), "w9");
    assertArrayEquals(
        new boolean[] {true, false},
        store.complete(
            List.of(
                new Completion(a.lease(), RESULT, null, false), Completion.of(stranger))));
    assertArrayEquals(RESULT, claimed("a", "w2").result());
    assertEquals(Verdict.IN_PROGRESS, claimed("b", "w2").verdict());
    assertArrayEquals(
        new boolean[] {false}, store.complete(List.of(Completion.of(a.lease()))));
  }

  @Test
  void complete_aResultThatIsTooLarge_saysTheLimit() {
    Completion c =
        new Completion(Lease.of(scope, "k", 1, "w"), new byte[65_537], null, false);
    String message =
        assertThrows(IllegalArgumentException.class, () -> store.complete(List.of(c)))
            .getMessage();
    assertEquals("result of key \"k\": 65537 bytes, the limit is 65536", message);
  }

  @Test
  void renew_aClaim_neverShortensIt() {
    Grant grant = claimed("k", "w1");
    assertArrayEquals(
        new boolean[] {true, false},
        store.renew(
            List.of(
                new Renewal(grant.lease(), Duration.ofMillis(1)),
                new Renewal(Lease.of(scope, "nix", 1, "w1"), LEASE))));
    assertEquals(grant.leaseUntilMs(), record("k").leaseUntilMs());
    store.renew(List.of(new Renewal(grant.lease(), Duration.ofHours(1))));
    assertTrue(record("k").leaseUntilMs() > grant.leaseUntilMs());
  }

  @Test
  void settle_aRetry_isOneTransactionWithFailed() {
    Grant grant = claimed("k", "w1");
    Settlement failed =
        Settlement.failed(grant.lease()).counts(0, 1, 0).retry(retry("k", 7, 1, false)).build();
    assertEquals(List.of(Settled.WRITTEN), store.settle(List.of(failed)));
    StoredRecord r = record("k");
    assertEquals(State.FAILED, r.state());
    assertEquals(1, r.position());
    assertEquals(1, r.retryCount());
    assertEquals(
        "1", count("msg_retry", "status = 'PENDING' and headers = '[[\"retry_count\",\"1\"]]'"));
    assertEquals("1", count("msg_retry", "payload = '\\x0100ff' and message_key = 'o-1'"));
    assertEquals(List.of(Settled.FENCED), store.settle(List.of(failed)));
    Grant stale = store.claim(List.of(claim("k", "w2"))).get(0);
    assertEquals(Verdict.STALE, stale.verdict());
    Grant next = store.claim(List.of(claim("k", "w2", "", 0, 1, null))).get(0);
    assertEquals(2, next.lease().fence());
  }

  @Test
  void settle_aFencedOne_writesNothingOfItAndAllOfTheOthers() {
    Grant grant = claimed("a", "w1");
    List<Settled> settled =
        store.settle(
            List.of(
                Settlement.failed(Lease.of(scope, "x", 1, "w1"))
                    .counts(0, 1, 0)
                    .retry(retry("x", 1, 1, false))
                    .build(),
                Settlement.dead(grant.lease()).deadLetter(letter("a", 2)).build(),
                Settlement.dead(null).deadLetter(letter("", 3)).build()));
    assertEquals(List.of(Settled.FENCED, Settled.WRITTEN, Settled.WRITTEN), settled);
    assertEquals("0", count("msg_retry", "true"));
    assertEquals("2", count("dead_letter", "outcome = 'NON_RETRYABLE'"));
    assertEquals(State.DEAD, record("a").state());
  }

  @Test
  void settle_givenBack_undoesTheAttempt() {
    Grant grant = claimed("k", "w1");
    store.settle(List.of(Settlement.failed(grant.lease()).giveBack(true).build()));
    Grant next = claimed("k", "w2");
    assertEquals(1, next.attempts());
    assertEquals(2, next.lease().fence());
  }

  @Test
  void settle_aParkedLane_letsTheNextOneGoWhenItsHeadEnds() {
    Lane lane = new Lane("orders", "o-1");
    Grant head = store.claim(List.of(claim("h", "w1", "", 0, 0, lane))).get(0);
    store.settle(
        List.of(
            Settlement.failed(head.lease())
                .counts(0, 1, 0)
                .retry(retry("h", 1, 1, false))
                .lane(lane, false)
                .build()));
    Grant next = store.claim(List.of(claim("n", "w1", "", 0, 0, lane))).get(0);
    assertTrue(next.parked());
    assertNull(record("n"));
    assertEquals(
        List.of(Settled.WRITTEN),
        store.settle(
            List.of(
                Settlement.failed(null).retry(retry("n", 2, 0, true)).lane(lane, false).build())));
    assertEquals("1", count("msg_retry", "status = 'PARKED' and idempotency_key = 'n'"));

    Grant again = store.claim(List.of(claim("h", "w1", "", 0, 1, lane))).get(0);
    assertTrue(again.head());
    assertArrayEquals(
        new boolean[] {true},
        store.complete(List.of(new Completion(again.lease(), null, lane, true))));
    assertEquals("0", count("msg_retry", "status = 'PARKED'"));
    assertEquals("n", database.ask("select head_key from idem_lane where scope = '" + scope + "'"));
    assertEquals(
        List.of(Settled.UNPARKED),
        store.settle(
            List.of(
                Settlement.failed(null).retry(retry("n", 3, 0, true)).lane(lane, false).build())));
  }

  @Test
  void inTx_theEffectAndSuccess_areOneTransaction() throws Exception {
    Grant grant = claimed("k", "w1");
    String value =
        store.inTx(
            null,
            tx -> {
              effect(tx.connection(), scope);
              tx.complete().accept(new Completion(grant.lease(), RESULT, null, false));
              return "done";
            });
    assertEquals("done", value);
    assertEquals("1", database.ask("select count(*) from effect where key = '" + scope + "'"));
    assertArrayEquals(RESULT, claimed("k", "w2").result());
  }

  @Test
  void inTx_aClaimThatWasLost_takesTheEffectBack() {
    claimed("k", "w1");
    Lease lost = Lease.of(scope, "k", 7, "w1");
    assertThrows(
        FencedException.class,
        () ->
            store.inTx(
                null,
                tx -> {
                  effect(tx.connection(), scope);
                  tx.complete().accept(Completion.of(lost));
                  return null;
                }));
    assertEquals("0", database.ask("select count(*) from effect where key = '" + scope + "'"));
  }

  @Test
  void inTx_aHandlerThatThrows_takesTheEffectBackAndThrowsOn() throws Exception {
    Grant grant = claimed("k", "w1");
    IllegalStateException thrown = new IllegalStateException("no");
    Exception e =
        assertThrows(
            IllegalStateException.class,
            () ->
                store.inTx(
                    null,
                    tx -> {
                      effect(tx.connection(), scope);
                      throw thrown;
                    }));
    assertEquals(thrown, e);
    assertEquals("0", database.ask("select count(*) from effect where key = '" + scope + "'"));
    assertTrue(store.complete(List.of(Completion.of(grant.lease())))[0]);
    try (Connection c = pool.getConnection()) {
      assertTrue(c.getAutoCommit());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void completeTx_aConnectionOfTheCallers_commitsWithIt(boolean autoCommit) throws Exception {
    try (HikariDataSource other = database.pool(autoCommit)) {
      PostgresStore store = new PostgresStore(other);
      Grant grant = store.claim(List.of(claim("k", "w1"))).get(0);
      try (Connection c = other.getConnection()) {
        c.setAutoCommit(false);
        store.completeTx(c, Completion.of(grant.lease()));
        store.storeTx(
            c, List.of(new Outgoing(scope, null, List.of(Header.of("a", "b")), RESULT)));
        assertEquals(
            State.PROCESSING, PostgresStoreTest.store.records(scope, List.of("k")).get(0).state());
        c.commit();
        assertThrows(
            FencedException.class, () -> store.completeTx(c, Completion.of(grant.lease())));
        c.rollback();
      }
      assertEquals(State.SUCCESS, record("k").state());
      assertEquals(
          "[[\"a\",\"b\"]]",
          database.ask("select headers from outbox where topic = '" + scope + "'"));
    }
  }

  private static void effect(Connection c, String key) throws Exception {
    try (Statement statement = c.createStatement()) {
      statement.execute("insert into effect values ('" + key + "')");
    }
  }

  @Test
  void forget_aKey_letsItInUnderTheNextFence() {
    Grant grant = claimed("k", "w1");
    store.complete(List.of(Completion.of(grant.lease())));
    assertEquals(1, store.forget(scope, List.of("k", "nix")));
    Grant next = claimed("k", "w2");
    assertEquals(Verdict.PROCEED, next.verdict());
    assertEquals(3, next.lease().fence());
  }

  @Test
  void check_theTables_areFit() {
    store.check();
    try (Servers.Database other = new Servers.Database()) {
      other.run("drop table outbox");
      try (HikariDataSource source = other.pool(true)) {
        String message =
            assertThrows(StoreException.class, () -> new PostgresStore(source).check())
                .getMessage();
        assertTrue(message.startsWith("check: the tables lack [outbox.id"), message);
        other.run("drop table idem_schema");
        message =
            assertThrows(StoreException.class, () -> new PostgresStore(source).check())
                .getMessage();
        assertTrue(message.contains("`idem migrate up`"), message);
      }
    }
  }

  @Test
  void inTx_noServer_hasNotBegun() {
    try (Servers.Database gone = new Servers.Database()) {
      HikariDataSource source = gone.pool(true);
      source.close();
      assertThrows(
          NotBegunException.class, () -> new PostgresStore(source).inTx(null, tx -> null));
      StoreException e =
          assertThrows(
              StoreException.class,
              () -> new PostgresStore(source).claim(List.of(claim("k", "w"))));
      assertTrue(e.getMessage().startsWith("claim 1 keys: "), e.getMessage());
    }
  }

  @Test
  void config_aTimeOfNothing_isRefused() {
    PostgresConfig d = PostgresConfig.DEFAULT;
    String message =
        assertThrows(IllegalArgumentException.class, () -> d.withRetention(Duration.ZERO))
            .getMessage();
    assertEquals("retention is PT0S: it is at least a millisecond", message);
    assertFalse(d.lockTimeout().isZero());
  }
}
