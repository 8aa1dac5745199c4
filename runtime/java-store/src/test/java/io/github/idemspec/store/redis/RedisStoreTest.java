package io.github.idemspec.store.redis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lane;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.testing.Pair;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Outcome;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

class RedisStoreTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final byte[] RESULT = {1, 0, -1};

  private static RedisClient redis;
  private static RedisStore store;
  private static Pair go;

  private String scope;

  @BeforeAll
  static void open() {
    String url = Servers.need("REDIS_URL");
    redis = RedisClient.create(URI.create(url));
    store = new RedisStore(redis);
    go = Pair.go(url);
  }

  @AfterAll
  static void close() {
    if (go != null) {
      go.close();
    }
    if (redis != null) {
      redis.close();
    }
  }

  @BeforeEach
  void name() {
    scope = "s" + Servers.unique();
  }

  private Grant claimed(String key, String owner) {
    return store.claim(List.of(Claim.of(scope, key, owner, LEASE, 9))).get(0);
  }

  private StoredRecord record(String key) {
    return store.records(scope, List.of(key)).get(0);
  }

  @Test
  void claim_andComplete_keepTheResultForDuplicates() {
    List<Grant> grants =
        store.claim(
            List.of(
                Claim.of(scope, "a", "w1", LEASE, 9),
                Claim.of(scope, "a", "w2", LEASE, 9),
                Claim.of(scope, "b", "w1", LEASE, 9)));
    assertEquals(Verdict.PROCEED, grants.get(0).verdict());
    assertEquals(Verdict.IN_PROGRESS, grants.get(1).verdict());
    assertEquals(Lease.of(scope, "b", 1, "w1"), grants.get(2).lease());
    assertArrayEquals(
        new boolean[] {true, false},
        store.complete(
            List.of(
                new Completion(grants.get(0).lease(), RESULT, null, false),
                Completion.of(Lease.of(scope, "b", 1, "w9")))));
    assertArrayEquals(RESULT, claimed("a", "w3").result());
    assertEquals(State.PROCESSING, record("b").state());
    assertNull(record("c"));
  }

  @Test
  void settle_andRenew_matchFenceAndOwner() {
    Grant grant = claimed("k", "w1");
    assertArrayEquals(
        new boolean[] {true, false},
        store.renew(
            List.of(
                new Renewal(grant.lease(), Duration.ofHours(1)),
                new Renewal(Lease.of(scope, "k", 2, "w1"), LEASE))));
    assertTrue(record("k").leaseUntilMs() > grant.leaseUntilMs());
    Settlement failed = Settlement.failed(grant.lease()).counts(0, 2, 1).build();
    assertEquals(List.of(Settled.WRITTEN), store.settle(List.of(failed)));
    assertEquals(List.of(Settled.FENCED), store.settle(List.of(failed)));
    assertEquals(3, record("k").position());
    assertEquals(Verdict.STALE, claimed("k", "w2").verdict());
    assertEquals(1, store.forget(scope, List.of("k", "nix")));
    assertEquals(3, claimed("k", "w2").lease().fence());
  }

  @Test
  void claim_twoKeys_areClaimedAndCompletedTogether() {
    Claim both = new Claim(scope, "new", "old", "w1", "", 0, 0, 0, 9, LEASE, false, null);
    Grant grant = store.claim(List.of(both)).get(0);
    assertEquals(new Lease(scope, "new", 1, "old", 1, "w1"), grant.lease());
    assertTrue(store.complete(List.of(Completion.of(grant.lease())))[0]);
    assertEquals(Verdict.DUPLICATE, claimed("old", "w3").verdict());
  }

  @Test
  void claim_anOldMessageWithoutARecord_isTooOld() {
    Claim old = new Claim(scope, "k", "", "w1", "", 0, 0, 0, 9, LEASE, true, null);
    assertEquals(Outcome.TOO_OLD, store.claim(List.of(old)).get(0).outcome());
  }

  @Test
  void claim_aServerThatWasRestarted_isGivenTheScripts() {
    claimed("a", "w1");
    redis.scriptFlush();
    assertEquals(Verdict.PROCEED, claimed("b", "w1").verdict());
  }

  @Test
  void claim_inALane_isRefused() {
    Lane lane = new Lane("orders", "o-1");
    Claim claim = new Claim(scope, "k", "", "w1", "", 0, 0, 0, 9, LEASE, false, lane);
    assertThrows(IllegalArgumentException.class, () -> store.claim(List.of(claim)));
  }

  @Test
  void check_aServer_isFitOrSaysWhy() {
    store.check();
    try (RedisClient none = RedisClient.create("127.0.0.1", 1)) {
      String message =
          assertThrows(StoreException.class, () -> new RedisStore(none).check()).getMessage();
      assertTrue(message.startsWith("check redis: "), message);
    }
  }

  @Test
  void aClaimOfTheOtherLanguage_isInProgressADuplicateOnceItHasSucceededAndFenced()
      throws Exception {
    JsonObject theirs = go.claim(scope, "k", "go");
    assertEquals(Verdict.IN_PROGRESS, claimed("k", "java").verdict());
    assertTrue(go.complete(theirs, RESULT));
    assertArrayEquals(RESULT, claimed("k", "java").result());

    Grant ours = claimed("j", "java");
    assertEquals("IN_PROGRESS", go.claim(scope, "j", "go").get("Verdict").getAsString());
    assertTrue(store.complete(List.of(Completion.of(ours.lease())))[0]);
    assertEquals("DUPLICATE", go.claim(scope, "j", "go").get("Verdict").getAsString());

    JsonObject lost = go.claim(scope, "l", "go", 1);
    Thread.sleep(20);
    assertEquals(2, claimed("l", "java").lease().fence());
    assertFalse(go.complete(lost, RESULT));
  }
}
