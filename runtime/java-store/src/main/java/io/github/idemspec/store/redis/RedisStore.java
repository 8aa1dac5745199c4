package io.github.idemspec.store.redis;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.DedupRecord.State;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final State[] STATES = State.values();

  private final UnifiedJedis redis;
  private final RedisConfig config;

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
  }

  /**
   * Runs one script for each claim. A key that comes again in the batch waits for the answer to the
   * first one, and where that one proceeds it is IN_PROGRESS (DEDUP-025).
   */
  @Override
  public List<Grant> claim(List<Claim> claims) {
    return named(
        "claim " + claims.size() + " keys",
        () -> {
          Grant[] grants = new Grant[claims.size()];
          Map<List<String>, Claim> claimed = new HashMap<>();
          List<Integer> open = new ArrayList<>();
          for (int i = 0; i < grants.length; i++) {
            open.add(i);
          }
          while (!open.isEmpty()) {
            open = claimOnce(claims, open, claimed, grants);
          }
          return List.of(grants);
        });
  }

  /** Claims those that share no key with one before them, and gives the others. */
  private List<Integer> claimOnce(
      List<Claim> claims, List<Integer> open, Map<List<String>, Claim> claimed, Grant[] grants) {
    List<Integer> now = new ArrayList<>();
    List<Integer> later = new ArrayList<>();
    Set<List<String>> asked = new HashSet<>();
    List<Script.Call> calls = new ArrayList<>();
    for (int i : open) {
      Claim claim = claims.get(i);
      List<List<String>> names = names(claim);
      Claim by = names.stream().map(claimed::get).filter(c -> c != null).findFirst().orElse(null);
      if (by != null) {
        grants[i] = Grant.inProgress(claim, by.lease().toMillis());
      } else if (names.stream().anyMatch(asked::contains)) {
        later.add(i);
      } else {
        asked.addAll(names);
        now.add(i);
        calls.add(callOf(claim));
      }
    }
    List<Object> replies = Script.CLAIM.run(redis, calls);
    for (int n = 0; n < now.size(); n++) {
      Claim claim = claims.get(now.get(n));
      Grant grant = grantOf(claim, (List<?>) replies.get(n));
      grants[now.get(n)] = grant;
      if (grant.verdict() == Verdict.PROCEED) {
        names(claim).forEach(name -> claimed.put(name, claim));
      }
    }
    return later;
  }

  private static List<List<String>> names(Claim claim) {
    List<String> key = List.of(claim.scope(), claim.key());
    return claim.dual() ? List.of(key, List.of(claim.scope(), claim.previous())) : List.of(key);
  }

  private Script.Call callOf(Claim claim) {
    if (claim.lane() != null) {
      throw new IllegalArgumentException(
          "Redis keeps no lanes, so that a route cannot park: order it by BLOCK, or use a database");
    }
    return new Script.Call(
        keys(claim.scope(), claim.key(), claim.dual() ? claim.previous() : ""),
        arguments(
            claim.owner(),
            claim.fingerprint(),
            claim.redriveCount(),
            claim.retryCount(),
            claim.holdCount(),
            claim.maxAttempts(),
            claim.lease().toMillis(),
            config.retention().toMillis(),
            claim.old() ? 1 : 0));
  }

  private static Grant grantOf(Claim claim, List<?> reply) {
    String word = text(reply.get(0));
    int retries = (int) number(reply.get(7));
    int holds = (int) number(reply.get(8));
    if (word.equals("TOO_OLD")) {
      return Grant.tooOld(claim);
    }
    Verdict verdict = Verdict.valueOf(word);
    boolean proceeds = verdict == Verdict.PROCEED;
    Lease lease = null;
    if (proceeds || verdict == Verdict.CRASH_LOOP) {
      lease =
          new Lease(
              claim.scope(),
              claim.key(),
              number(reply.get(1)),
              claim.dual() ? claim.previous() : "",
              claim.dual() ? number(reply.get(2)) : 0,
              proceeds ? claim.owner() : "");
    }
    return new Grant(
        verdict,
        false,
        false,
        false,
        lease,
        proceeds ? number(reply.get(3)) : 0,
        proceeds ? number(reply.get(4)) : 0,
        proceeds && text(reply.get(5)).equals("1"),
        (byte[]) reply.get(11),
        verdict == Verdict.IN_PROGRESS ? number(reply.get(6)) : 0,
        retries,
        holds,
        (int) number(reply.get(9)),
        text(reply.get(10)));
  }

  @Override
  public boolean[] complete(List<Completion> completions) {
    Steps steps = new Steps(completions.size());
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
    Steps steps = new Steps(settlements.size());
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
    Steps steps = new Steps(renewals.size());
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
    Steps steps = new Steps(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      steps.call(i, keys(scope, keys.get(i), ""), arguments(steps.token(i), retention()));
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
            records.add(recordOf(scope, key, redis.hgetAll(bytes(name(scope, key)))));
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
    hash.forEach((name, value) -> fields.put(text(name), value));
    return new StoredRecord(
        scope,
        key,
        STATES[(int) number(fields.get("st")) - 1],
        number(fields.get("fe")),
        number(fields.get("at")),
        text(fields.get("ow")),
        number(fields.get("rd")),
        number(fields.get("po")),
        number(fields.get("lu")),
        text(fields.get("fp")),
        fields.get("re"),
        (int) number(fields.get("rc")),
        (int) number(fields.get("hc")),
        Instant.ofEpochMilli(number(fields.get("cr"))),
        Instant.ofEpochMilli(number(fields.get("up"))),
        Instant.ofEpochMilli(number(fields.get("ex"))));
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
            accept(redis.info());
          }
          Steps step = new Steps(1);
          step.call(
              0, keys("check", "check", ""), arguments("check", 0, 0, 0)); // It changes nothing.
          return step.run(Script.RENEW);
        });
  }

  private void accept(String info) {
    Map<String, String> facts = new HashMap<>();
    for (String line : info.split("\r?\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        facts.put(line.substring(0, colon), line.substring(colon + 1));
      }
    }
    String policy = facts.getOrDefault("maxmemory_policy", "noeviction");
    boolean bounded = !facts.getOrDefault("maxmemory", "0").equals("0");
    if (!config.allowEviction() && bounded && !policy.equals("noeviction")) {
      throw new StoreException(
          "check redis: Redis evicts keys when its memory is full, and the effect of a key whose record"
              + " was evicted can happen again: set maxmemory-policy noeviction (it is "
              + policy
              + "), or allowEviction",
          null);
    }
    if ("slave".equals(facts.get("role"))) {
      throw new StoreException(
          "check redis: the node is a read-only replica: connect to the primary", null);
    }
  }

  private long retention() {
    return config.retention().toMillis();
  }

  /** It has one hash tag: all that belongs to a record is on one slot. */
  private String name(String scope, String key) {
    return config.prefix() + "{" + scope + ":" + key + "}";
  }

  private List<byte[]> keys(String scope, String key, String previous) {
    if (previous.isEmpty()) {
      return List.of(bytes(name(scope, key)));
    }
    if (sharded) {
      throw new IllegalArgumentException(
          "a key and its previous one are on two slots of a Redis Cluster, which cannot be claimed"
              + " together: use one node or a database until the migration of the template is over");
    }
    return List.of(bytes(name(scope, key)), bytes(name(scope, previous)));
  }

  private static List<byte[]> arguments(Object... values) {
    List<byte[]> arguments = new ArrayList<>();
    for (Object value : values) {
      arguments.add(value instanceof byte[] b ? b : bytes(String.valueOf(value)));
    }
    return arguments;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(Object bytes) {
    return bytes == null ? "" : new String((byte[]) bytes, StandardCharsets.UTF_8);
  }

  private static long number(Object bytes) {
    String text = text(bytes);
    return text.isEmpty() ? 0 : Long.parseLong(text);
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

  /** One script for each of some leases. */
  private final class Steps {
    private final String call = token();
    private final boolean[] done;
    private final List<Integer> which = new ArrayList<>();
    private final List<Script.Call> calls = new ArrayList<>();

    Steps(int size) {
      done = new boolean[size];
    }

    private static String token() {
      return Long.toHexString(RANDOM.nextLong());
    }

    /** That of one call: a client may send it again when its reply was lost. */
    String token(int i) {
      return call + "." + i;
    }

    /** The arguments, and the fences behind them. */
    void add(int i, Lease lease, Object... values) {
      if (!lease.held()) {
        return;
      }
      List<byte[]> arguments = arguments(values);
      arguments.add(bytes(Long.toString(lease.fence())));
      if (!lease.previous().isEmpty()) {
        arguments.add(bytes(Long.toString(lease.previousFence())));
      }
      call(i, keys(lease.scope(), lease.key(), lease.previous()), arguments);
    }

    void call(int i, List<byte[]> keys, List<byte[]> arguments) {
      which.add(i);
      calls.add(new Script.Call(keys, arguments));
    }

    /** False for what was not added. */
    boolean[] run(Script script) {
      List<Object> replies = script.run(redis, calls);
      for (int n = 0; n < replies.size(); n++) {
        done[which.get(n)] = text(replies.get(n)).equals("1");
      }
      return done;
    }
  }
}
