package io.github.idemspec.guard;

import io.github.idemspec.v1.Policy;
import java.time.Duration;
import java.util.function.Function;

/**
 * What a route says. Immutable: each method gives other rules.
 *
 * <pre>{@code
 * Rules.of(Mode.TX).order(Order.BLOCK).handlerTimeout(Duration.ofSeconds(5))
 * }</pre>
 */
public final class Rules {
  private final Mode mode;
  private final Order order;
  private final MissingKey missingKey;
  private final Function<Message, String> derive;
  private final Policy policy;
  private final Duration handlerTimeout;
  private final int maxBytes;

  private Rules(
      Mode mode,
      Order order,
      MissingKey missingKey,
      Function<Message, String> derive,
      Policy policy,
      Duration handlerTimeout,
      int maxBytes) {
    this.mode = mode;
    this.order = order;
    this.missingKey = missingKey;
    this.derive = derive;
    this.policy = policy;
    this.handlerTimeout = handlerTimeout;
    this.maxBytes = maxBytes;
  }

  /** Unordered, with the default policy, and no message without a key. */
  public static Rules of(Mode mode) {
    return new Rules(
        mode, Order.UNORDERED, MissingKey.REJECT, null, Policy.DEFAULT, null, Integer.MAX_VALUE);
  }

  /** With an order. */
  public Rules order(Order newOrder) {
    return new Rules(mode, newOrder, missingKey, derive, policy, handlerTimeout, maxBytes);
  }

  /** With keys computed from messages that have none: the generated {@code idempotencyKey}. */
  public Rules derive(Function<Message, String> key) {
    return new Rules(mode, order, MissingKey.DERIVE, key, policy, handlerTimeout, maxBytes);
  }

  /** With messages that have no key run without dedup. */
  public Rules passThrough() {
    return new Rules(
        mode, order, MissingKey.PASS_THROUGH, null, policy, handlerTimeout, maxBytes);
  }

  /** With the schema's policy, the generated {@code policy()}. */
  public Rules policy(Policy newPolicy) {
    return new Rules(mode, order, missingKey, derive, newPolicy, handlerTimeout, maxBytes);
  }

  /** With how long a handler may take. */
  public Rules handlerTimeout(Duration limit) {
    if (limit.toMillis() < 1) {
      throw new IllegalArgumentException(
          "handlerTimeout is " + limit + ": give a millisecond or more");
    }
    return new Rules(mode, order, missingKey, derive, policy, limit, maxBytes);
  }

  /** With the largest payload; a larger one is MALFORMED. */
  public Rules maxBytes(int most) {
    return new Rules(mode, order, missingKey, derive, policy, handlerTimeout, most);
  }

  /** What the effect is. */
  public Mode mode() {
    return mode;
  }

  /** The order. */
  public Order order() {
    return order;
  }

  MissingKey missingKey() {
    return missingKey;
  }

  Function<Message, String> derive() {
    return derive;
  }

  Policy policy() {
    return policy;
  }

  Duration handlerTimeout() {
    return handlerTimeout;
  }

  int maxBytes() {
    return maxBytes;
  }
}
