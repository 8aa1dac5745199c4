package io.github.idemspec.guard;

import io.github.idemspec.v1.Fingerprint;
import io.github.idemspec.v1.Outcome;
import java.util.HashMap;
import java.util.Map;

/**
 * What a shadow remembers of keys, to count the duplicates that it would have stopped: the last ones, in
 * two halves of which the older is forgotten whole. It is for one thread.
 */
public final class Seen {
  private static final int HALF = 50_000;

  /** The fingerprint of each key. */
  private Map<String, String> young = new HashMap<>();

  private Map<String, String> old = Map.of();

  /** What the record of a key would say. */
  Outcome add(String key, String fingerprint) {
    String before = young.getOrDefault(key, old.get(key));
    if (before != null) {
      return Fingerprint.differ(before, fingerprint) ? Outcome.KEY_REUSED : Outcome.DUPLICATE;
    }
    if (young.size() >= HALF) {
      old = young;
      young = new HashMap<>();
    }
    young.put(key, fingerprint);
    return Outcome.OK;
  }
}
