package io.github.idemspec.store.redis;

import io.github.idemspec.store.StoreException;
import java.util.HashMap;
import java.util.Map;

/** Whether a server is one that records can be left with. */
final class ServerCheck {
  private ServerCheck() {}

  static void accept(String info, boolean evictionAllowed) {
    Map<String, String> facts = new HashMap<>();
    for (String line : info.split("\r?\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        facts.put(line.substring(0, colon), line.substring(colon + 1));
      }
    }
    String policy = facts.getOrDefault("maxmemory_policy", "noeviction");
    boolean bounded = !facts.getOrDefault("maxmemory", "0").equals("0");
    if (!evictionAllowed && bounded && !policy.equals("noeviction")) {
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
}
