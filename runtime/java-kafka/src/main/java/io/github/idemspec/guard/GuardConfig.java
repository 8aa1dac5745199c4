package io.github.idemspec.guard;

import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.Policy;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * What a guard is made of. Immutable: each method gives another one.
 *
 * @param scope the consumer, {@code [A-Za-z0-9._-]{1,200}}: those who share it share the records
 * @param retention how long records are kept, by the store's own setting; a message that was produced
 *     before cannot be told from new (DEDUP-029)
 * @param clockSkew how far the clocks of producers may be ahead
 * @param limits the most that the headers of a message can ask for, or null (RETRY-003)
 * @param lease how long a claim holds in mode IDEMPOTENT, renewed at a third
 * @param handlerTimeout that of routes which give none
 * @param observer sees what happens
 */
public record GuardConfig(
    String scope,
    Duration retention,
    Duration clockSkew,
    Policy.Values limits,
    Duration lease,
    Duration handlerTimeout,
    Observer observer) {
  private static final Pattern SCOPE = Pattern.compile("[A-Za-z0-9._-]{1,200}");

  /** Checks what can be. */
  public GuardConfig {
    if (scope == null || !SCOPE.matcher(scope).matches()) {
      throw new IllegalArgumentException(
          "scope is \""
              + scope
              + "\": give 1 to 200 characters of [A-Za-z0-9._-], usually the consumer group's name");
    }
    if (clockSkew.compareTo(retention) >= 0) {
      throw new IllegalArgumentException(
          "clockSkew is " + clockSkew + ", and retention " + retention + ": every message is TOO_OLD");
    }
    if (lease.toMillis() < 10 || handlerTimeout.toMillis() < 1) {
      throw new IllegalArgumentException(
          "lease is "
              + lease
              + ", and handlerTimeout "
              + handlerTimeout
              + ": give at least 10 ms and 1 ms");
    }
  }

  /** The defaults for a scope. */
  public static GuardConfig of(String scope) {
    return new GuardConfig(
        scope,
        StoredRecord.DEFAULT_RETENTION,
        Duration.ofMinutes(5),
        null,
        Duration.ofSeconds(30),
        Duration.ofSeconds(30),
        Observer.NONE);
  }

  /** With the store's retention. */
  public GuardConfig withRetention(Duration kept) {
    return new GuardConfig(scope, kept, clockSkew, limits, lease, handlerTimeout, observer);
  }

  /** With limits to what headers can ask for. */
  public GuardConfig withLimits(Policy.Values most) {
    return new GuardConfig(scope, retention, clockSkew, most, lease, handlerTimeout, observer);
  }

  /** With another lease of mode IDEMPOTENT. */
  public GuardConfig withLease(Duration length) {
    return new GuardConfig(scope, retention, clockSkew, limits, length, handlerTimeout, observer);
  }

  /** With a time limit of handlers. */
  public GuardConfig withHandlerTimeout(Duration limit) {
    return new GuardConfig(scope, retention, clockSkew, limits, lease, limit, observer);
  }

  /** With somebody who sees what happens. */
  public GuardConfig withObserver(Observer who) {
    return new GuardConfig(scope, retention, clockSkew, limits, lease, handlerTimeout, who);
  }
}
