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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Java beside Go, and beside Python, on one database. */
class PostgresPairTest {
  private static final byte[] RESULT = {1, 0, -1};

  private static Servers.Database database;
  private static HikariDataSource pool;
  private static PostgresStore store;
  private static final Map<String, Pair> PAIRS = new HashMap<>();

  private String scope;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    pool = database.pool(true);
    store = new PostgresStore(pool);
  }

  @AfterAll
  static void close() {
    PAIRS.values().forEach(Pair::close);
    if (database != null) {
      pool.close();
      database.close();
    }
  }

  @BeforeEach
  void name() {
    scope = "s" + Servers.unique();
  }

  private static Pair other(String language) {
    return PAIRS.computeIfAbsent(language, name -> Pair.of(name, database.url()));
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

  @ParameterizedTest
  @ValueSource(strings = {"go", "python"})
  void aClaimInTheOther_isInProgressHereAndADuplicateOnceItHasSucceeded(String language) {
    Pair other = other(language);
    JsonObject theirs = other.claim(scope, "k", "other");
    assertEquals("PROCEED", verdict(theirs));
    Grant grant = claim("k", "java", Duration.ofMinutes(1));
    assertEquals(Verdict.IN_PROGRESS, grant.verdict());
    assertTrue(grant.waitMs() > 0 && grant.waitMs() <= 60_000, "" + grant.waitMs());
    assertTrue(other.complete(theirs, RESULT));
    grant = claim("k", "java", Duration.ofMinutes(1));
    assertEquals(Verdict.DUPLICATE, grant.verdict());
    assertArrayEquals(RESULT, grant.result());
  }

  @ParameterizedTest
  @ValueSource(strings = {"go", "python"})
  void aClaimHere_isInProgressThereAndADuplicateOnceItHasSucceeded(String language) throws Exception {
    Pair other = other(language);
    Grant ours = claim("k", "java", Duration.ofMinutes(1));
    assertEquals("IN_PROGRESS", verdict(other.claim(scope, "k", "other")));
    store.inTx(
        null,
        tx -> {
          tx.complete().accept(new Completion(ours.lease(), RESULT, null, false));
          return null;
        });
    JsonObject theirs = other.claim(scope, "k", "other");
    assertEquals("DUPLICATE", verdict(theirs));
    assertEquals("AQD/", theirs.get("Result").getAsString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"go", "python"})
  void aLeaseThatIsOver_isFencedOutByTheOtherLanguage(String language) throws Exception {
    Pair other = other(language);
    JsonObject theirs = other.claim(scope, "k", "other", 1);
    Thread.sleep(20);
    Grant ours = claim("k", "java", Duration.ofMillis(1));
    assertEquals(2, ours.lease().fence());
    assertTrue(ours.recovered());
    assertFalse(other.complete(theirs, RESULT));
    Thread.sleep(20);
    JsonObject next = other.claim(scope, "k", "other2");
    assertEquals(3, leaseOf(next).fence());
    assertFalse(store.complete(List.of(Completion.of(ours.lease())))[0]);
    assertTrue(other.complete(next, RESULT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"go", "python"})
  void aClaimOfTheOther_isCompletedHereByItsFenceAndOwner(String language) {
    Pair other = other(language);
    Lease theirs = leaseOf(other.claim(scope, "k", "other"));
    assertTrue(store.complete(List.of(Completion.of(theirs)))[0]);
    assertEquals("DUPLICATE", verdict(other.claim(scope, "k", "other")));
  }
}
