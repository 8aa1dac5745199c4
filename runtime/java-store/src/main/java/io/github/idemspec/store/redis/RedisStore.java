package io.github.idemspec.store.redis;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.DedupRecord.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The store on Redis 6 and later. It keeps records alone: retries and dead letters have to be published
 * and confirmed before a delivery is settled. Its client is the caller's, with its time limits; one
 * that sends again what had no reply is safe here.
 */
public final class RedisStore implements Store {
  private static final State[] STATES = State.values();

  private final UnifiedJedis redis;
  private final RedisConfig config;
  private final Keys names;
  private final Claims claiming;

  /** Two keys can be on two nodes. */
  private final boolean sharded;

  /** A store with the settings of {@link RedisConfig#DEFAULT}. */
  public RedisStore(UnifiedJedis redis) {
    this(redis, RedisConfig.DEFAULT);
  }

  /** A store with settings. */
  @SuppressWarnings("deprecation") // Of JedisCluster, which callers may have all the same.
  public RedisStore(UnifiedJedis redis, RedisConfig config) {
    this.redis = redis;
    this.config = config;
    sharded = redis instanceof JedisCluster || redis instanceof RedisClusterClient;
    names = new Keys(config.prefix(), sharded);
    claiming = new Claims(redis, names, retention());
  }

  @Override
  public List<Grant> claim(List<Claim> claims) {
    return named("claim " + claims.size() + " keys", () -> claiming.claim(claims));
  }

  @Override
  public boolean[] complete(List<Completion> completions) {
    Steps steps = new Steps(redis, names, completions.size());
    for (int i = 0; i < completions.size(); i++) {
      Completion c = completions.get(i);
      byte[] result = c.result() == null ? new byte[0] : c.result();
      if (result.length > StoredRecord.MAX_RESULT) {
        throw new IllegalArgumentException(
            "result of key \""
                + c.lease().key()
                + "\": "
                + result.length
                + " bytes, the limit is "
                + StoredRecord.MAX_RESULT);
      }
      if (!c.lease().owner().isEmpty()) {
        steps.add(i, c.lease(), c.lease().owner(), steps.token(i), retention(), result);
      }
    }
    return named(
        "complete " + completions.size() + " keys", () -> steps.run(Script.COMPLETE));
  }

  @Override
  public List<Settled> settle(List<Settlement> settlements) {
    Steps steps = new Steps(redis, names, settlements.size());
    for (int i = 0; i < settlements.size(); i++) {
      Settlement s = settlements.get(i);
      if (s.retry() != null || s.deadLetter() != null) {
        throw new IllegalArgumentException(
            "Redis keeps no retries and no dead letters: publish them, have it confirmed, then settle"
                + " without them");
      }
      if (s.held()) {
        steps.add(
            i,
            s.lease(),
            s.lease().owner(),
            steps.token(i),
            retention(),
            s.state().ordinal() + 1,
            s.giveBack() ? 1 : 0,
            s.redriveCount(),
            s.position(),
            s.recordRetryCount(),
            s.recordHoldCount());
      }
    }
    boolean[] written =
        named("settle " + settlements.size() + " deliveries", () -> steps.run(Script.SETTLE));
    List<Settled> settled = new ArrayList<>();
    for (int i = 0; i < written.length; i++) {
      boolean fenced = settlements.get(i).held() && !written[i];
      settled.add(fenced ? Settled.FENCED : Settled.WRITTEN);
    }
    return settled;
  }

  @Override
  public boolean[] renew(List<Renewal> renewals) {
    Steps steps = new Steps(redis, names, renewals.size());
    for (int i = 0; i < renewals.size(); i++) {
      Renewal r = renewals.get(i);
      if (!r.lease().owner().isEmpty()) {
        steps.add(i, r.lease(), r.lease().owner(), r.length().toMillis(), retention());
      }
    }
    return named("renew " + renewals.size() + " leases", () -> steps.run(Script.RENEW));
  }

  /** Makes keys new again, and says how many there were. It permits a second effect (DEDUP-025). */
  public int forget(String scope, List<String> keys) {
    Steps steps = new Steps(redis, names, keys.size());
    for (int i = 0; i < keys.size(); i++) {
      steps.call(i, names.of(scope, keys.get(i), ""), Texts.arguments(steps.token(i), retention()));
    }
    int forgotten = 0;
    for (boolean was : named("forget " + keys.size() + " keys", () -> steps.run(Script.FORGET))) {
      forgotten += was ? 1 : 0;
    }
    return forgotten;
  }

  @Override
  public List<StoredRecord> records(String scope, List<String> keys) {
    return named(
        "read " + keys.size() + " records",
        () -> {
          List<StoredRecord> records = new ArrayList<>();
          for (String key : keys) {
            records.add(recordOf(scope, key, redis.hgetAll(Texts.bytes(names.name(scope, key)))));
          }
          return records;
        });
  }

  /** What is 0 or empty is left out of a hash. */
  private static StoredRecord recordOf(String scope, String key, Map<byte[], byte[]> hash) {
    if (hash.isEmpty()) {
      return null;
    }
    Map<String, byte[]> fields = new HashMap<>();
    hash.forEach((name, value) -> fields.put(Texts.text(name), value));
    return new StoredRecord(
        scope,
        key,
        STATES[(int) Texts.number(fields.get("st")) - 1],
        Texts.number(fields.get("fe")),
        Texts.number(fields.get("at")),
        Texts.text(fields.get("ow")),
        Texts.number(fields.get("rd")),
        Texts.number(fields.get("po")),
        Texts.number(fields.get("lu")),
        Texts.text(fields.get("fp")),
        fields.get("re"),
        (int) Texts.number(fields.get("rc")),
        (int) Texts.number(fields.get("hc")),
        Instant.ofEpochMilli(Texts.number(fields.get("cr"))),
        Instant.ofEpochMilli(Texts.number(fields.get("up"))),
        Instant.ofEpochMilli(Texts.number(fields.get("ex"))));
  }

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public boolean followUps() {
    return false;
  }

  /** Throws where the server cannot be reached, or is one that records cannot be left with. */
  @Override
  public void check() {
    named(
        "check redis",
        () -> {
          redis.ping();
          if (!sharded) {
            ServerCheck.accept(redis.info(), config.allowEviction());
          }
          Steps step = new Steps(redis, names, 1);
          step.call(
              0, names.of("check", "check", ""), Texts.arguments("check", 0, 0, 0)); // It changes nothing.
          return step.run(Script.RENEW);
        });
  }

  private long retention() {
    return config.retention().toMillis();
  }

  private static <T> T named(String action, Supplier<T> what) {
    try {
      return what.get();
    } catch (JedisException e) {
      throw new StoreException(action + ": " + wayOut(e) + e.getMessage(), e);
    }
  }

  private static String wayOut(JedisException e) {
    String text = String.valueOf(e.getMessage());
    if (text.startsWith("NOAUTH") || text.startsWith("WRONGPASS") || text.startsWith("NOPERM")) {
      return "Redis refuses the user: check user and password, and its rights: ";
    }
    if (text.startsWith("OOM")) {
      return "the memory of Redis is full: raise maxmemory, or lower the retention: ";
    }
    if (text.startsWith("READONLY")) {
      return "the node is a read-only replica: connect to the primary: ";
    }
    return "";
  }
}
