package io.github.idemspec.store.redis;

import io.github.idemspec.store.Lease;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** One script for each of some leases. */
final class Steps {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final UnifiedJedis redis;
  private final Keys names;
  private final String call = token();
  private final boolean[] done;
  private final List<Integer> which = new ArrayList<>();
  private final List<Script.Call> calls = new ArrayList<>();

  Steps(UnifiedJedis redis, Keys names, int size) {
    this.redis = redis;
    this.names = names;
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
    List<byte[]> arguments = Texts.arguments(values);
    arguments.add(Texts.bytes(Long.toString(lease.fence())));
    if (!lease.previous().isEmpty()) {
      arguments.add(Texts.bytes(Long.toString(lease.previousFence())));
    }
    call(i, names.of(lease.scope(), lease.key(), lease.previous()), arguments);
  }

  void call(int i, List<byte[]> keys, List<byte[]> arguments) {
    which.add(i);
    calls.add(new Script.Call(keys, arguments));
  }

  /** False for what was not added. */
  boolean[] run(Script script) {
    List<Object> replies = script.run(redis, calls);
    for (int n = 0; n < replies.size(); n++) {
      done[which.get(n)] = Texts.text(replies.get(n)).equals("1");
    }
    return done;
  }
}
