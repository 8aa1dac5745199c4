package io.github.idemspec.store.postgres;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lease;
import io.github.idemspec.testing.Pair;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.v1.Admission.Verdict;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Java and Go on one database. */
class PostgresPairTest {
  private static final byte[] RESULT = {1, 0, -1};

  private static Servers.Database database;
  private static HikariDataSource pool;
  private static PostgresStore store;
  private static Pair go;

  private String scope;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    pool = database.pool(true);
    store = new PostgresStore(pool);
    go = new Pair(database.url());
  }

  @AfterAll
  static void close() {
    if (go != null) {
      go.close();
    }
    if (database != null) {
      pool.close();
      database.close();
    }
  }

  @BeforeEach
  void name() {
    scope = "s" + Servers.unique();
  }

  private Grant claim(String key, String owner, Duration lease) {
    return store.claim(List.of(Claim.of(scope, key, owner, lease, 9))).get(0);
  }

  private static String verdict(JsonObject grant) {
    return grant.get("Verdict").getAsString();
  }

  private Lease leaseOf(JsonObject grant) {
    JsonObject lease = grant.get("Lease").getAsJsonObject();
    return Lease.of(
        scope,
        lease.get("Key").getAsString(),
        lease.get("Fence").getAsLong(),
        lease.get("Owner").getAsString());
  }

  @Test
  void aClaimInGo_isInProgressHereAndADuplicateOnceItHasSucceeded() {
    JsonObject theirs = go.claim(scope, "k", "go");
    assertEquals("PROCEED", verdict(theirs));
    Grant grant = claim("k", "java", Duration.ofMinutes(1));
    assertEquals(Verdict.IN_PROGRESS, grant.verdict());
    assertTrue(grant.waitMs() > 0 && grant.waitMs() <= 60_000, "" + grant.waitMs());
    assertTrue(go.complete(theirs, RESULT));
    grant = claim("k", "java", Duration.ofMinutes(1));
    assertEquals(Verdict.DUPLICATE, grant.verdict());
    assertArrayEquals(RESULT, grant.result());
  }

  @Test
  void aClaimHere_isInProgressInGoAndADuplicateOnceItHasSucceeded() throws Exception {
    Grant ours = claim("k", "java", Duration.ofMinutes(1));
    assertEquals("IN_PROGRESS", verdict(go.claim(scope, "k", "go")));
    store.inTx(
        null,
        tx -> {
          tx.complete().accept(new Completion(ours.lease(), RESULT, null, false));
          return null;
        });
    JsonObject theirs = go.claim(scope, "k", "go");
    assertEquals("DUPLICATE", verdict(theirs));
    assertEquals("AQD/", theirs.get("Result").getAsString());
  }

  @Test
  void aLeaseThatIsOver_isFencedOutByTheOtherLanguage() throws Exception {
    JsonObject theirs = go.claim(scope, "k", "go", 1);
    Thread.sleep(20);
    Grant ours = claim("k", "java", Duration.ofMillis(1));
    assertEquals(2, ours.lease().fence());
    assertTrue(ours.recovered());
    assertFalse(go.complete(theirs, RESULT));
    Thread.sleep(20);
    JsonObject next = go.claim(scope, "k", "go2");
    assertEquals(3, leaseOf(next).fence());
    assertFalse(store.complete(List.of(Completion.of(ours.lease())))[0]);
    assertTrue(go.complete(next, RESULT));
  }

  @Test
  void aClaimOfGo_isCompletedHereByItsFenceAndOwner() {
    Lease theirs = leaseOf(go.claim(scope, "k", "go"));
    assertTrue(store.complete(List.of(Completion.of(theirs)))[0]);
    assertEquals("DUPLICATE", verdict(go.claim(scope, "k", "other")));
  }
}
