package io.github.idemspec.store.redis;

import io.github.idemspec.store.StoredRecord;
import java.time.Duration;

/**
 * The settings of a store.
 *
 * @param prefix begins each key; stores of one Redis that share it share their records
 * @param retention how long a record is kept after its last change
 * @param allowEviction has {@code check} accept a server that evicts keys when its memory is full
 */
public record RedisConfig(String prefix, Duration retention, boolean allowEviction) {
  /** {@code idem:}, two weeks, and no eviction. */
  public static final RedisConfig DEFAULT =
      new RedisConfig("idem:", StoredRecord.DEFAULT_RETENTION, false);

  /** Checks that something is kept. */
  public RedisConfig {
    if (retention.toMillis() < 1) {
      throw new IllegalArgumentException("retention is " + retention + ": give a millisecond or more");
    }
  }

  /** The same with another prefix. */
  public RedisConfig withPrefix(String other) {
    return new RedisConfig(other, retention, allowEviction);
  }
}
