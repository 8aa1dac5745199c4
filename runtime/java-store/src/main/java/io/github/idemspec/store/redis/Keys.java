package io.github.idemspec.store.redis;

import java.util.List;

/** The names of records. */
final class Keys {
  private final String prefix;

  /** Two keys can be on two nodes. */
  private final boolean sharded;

  Keys(String prefix, boolean sharded) {
    this.prefix = prefix;
    this.sharded = sharded;
  }

  /** It has one hash tag: all that belongs to a record is on one slot. */
  String name(String scope, String key) {
    return prefix + "{" + scope + ":" + key + "}";
  }

  /** Those of a script. */
  List<byte[]> of(String scope, String key, String previous) {
    if (previous.isEmpty()) {
      return List.of(Texts.bytes(name(scope, key)));
    }
    if (sharded) {
      throw new IllegalArgumentException(
          "a key and its previous one are on two slots of a Redis Cluster, which cannot be claimed"
              + " together: use one node or a database until the migration of the template is over");
    }
    return List.of(Texts.bytes(name(scope, key)), Texts.bytes(name(scope, previous)));
  }
}
