package io.github.idemspec.store.postgres;

import io.github.idemspec.store.StoredRecord;
import java.time.Duration;

/**
 * The settings of a store. {@link #DEFAULT} is safe for money.
 *
 * @param retention how long a record is kept after its last change; it has to exceed the retention of
 *     the topics (DEDUP-029)
 * @param lockTimeout how long a statement waits for what another transaction has locked. A batch of
 *     claims that runs into it is halved, until the key that is locked is alone, and IN_PROGRESS
 * @param retryWait after how long a key is worth asking for again that another transaction has locked
 * @param statementTimeout bounds each statement of the store
 * @param idleTimeout how long the server lets a transaction of the store wait for its next statement.
 *     Claims use half of their lease where that is less
 * @param handlerTimeout bounds each statement of a handler's transaction, and how long it may be idle
 */
public record PostgresConfig(
    Duration retention,
    Duration lockTimeout,
    Duration retryWait,
    Duration statementTimeout,
    Duration idleTimeout,
    Duration handlerTimeout) {

  /** Two weeks; 250 ms for a lock, 1 s to wait, 10 s and 5 s; 5 minutes for a handler. */
  public static final PostgresConfig DEFAULT =
      new PostgresConfig(
          StoredRecord.DEFAULT_RETENTION,
          Duration.ofMillis(250),
          Duration.ofSeconds(1),
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofMinutes(5));

  /** Checks that each is a millisecond or more. */
  public PostgresConfig {
    check("retention", retention);
    check("lockTimeout", lockTimeout);
    check("retryWait", retryWait);
    check("statementTimeout", statementTimeout);
    check("idleTimeout", idleTimeout);
    check("handlerTimeout", handlerTimeout);
    if (lockTimeout.compareTo(statementTimeout) >= 0) {
      throw new IllegalArgumentException(
          "lockTimeout is "
              + lockTimeout
              + ": it has to be less than statementTimeout, which is "
              + statementTimeout);
    }
  }

  /** The same, with records kept for another time. */
  public PostgresConfig withRetention(Duration kept) {
    return new PostgresConfig(
        kept, lockTimeout, retryWait, statementTimeout, idleTimeout, handlerTimeout);
  }

  private static void check(String name, Duration value) {
    if (value == null || value.toMillis() < 1) {
      throw new IllegalArgumentException(name + " is " + value + ": it is at least a millisecond");
    }
  }
}
