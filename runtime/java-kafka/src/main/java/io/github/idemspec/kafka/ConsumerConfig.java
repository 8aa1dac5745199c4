package io.github.idemspec.kafka;

import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What a consumer is made of. Immutable: each method gives another one.
 *
 * @param group the consumer group whose offsets it commits
 * @param topics the origin topics; their retry topics, {@code <topic>.retry.<scope>}, are read too,
 *     and have to exist
 * @param ignore event types that are no business of this consumer: they are acknowledged. One that is
 *     neither handled nor ignored is dead-lettered (CONS-006)
 * @param workers how many handlers run at a time
 * @param window the most messages of one partition from the oldest that is not settled to the last
 *     that was fetched (CONS-004)
 * @param windowBytes the most bytes of those of all partitions
 * @param batch the most deliveries that one call to the store claims or settles
 * @param commitInterval how often offsets are committed
 * @param rebalanceTimeout how long handlers may go on when partitions go to others
 * @param drainTimeout the same at the end
 * @param hold how long a message of a BLOCK route holds its key in this process before it waits in the
 *     store
 * @param guard the settings of deliveries
 */
public record ConsumerConfig(
    String group,
    List<String> topics,
    Set<String> ignore,
    int workers,
    int window,
    long windowBytes,
    int batch,
    Duration commitInterval,
    Duration rebalanceTimeout,
    Duration drainTimeout,
    Duration hold,
    GuardConfig guard) {

  /** Checks what can be. */
  public ConsumerConfig {
    if (group == null || group.isEmpty()) {
      throw new IllegalArgumentException("group is empty: name the consumer group");
    }
    if (topics.isEmpty()) {
      throw new IllegalArgumentException("topics is empty: name the topics to read");
    }
    if (workers < 1 || window < 1 || windowBytes < 1 || batch < 1) {
      throw new IllegalArgumentException(
          "workers is "
              + workers
              + ", window "
              + window
              + ", windowBytes "
              + windowBytes
              + ", batch "
              + batch
              + ": give 1 or more of each");
    }
    for (String topic : topics) {
      String retry = Topics.retry(topic, guard.scope());
      if (!Topics.origin(topic, guard.scope()).equals(topic)) {
        throw new IllegalArgumentException(
            "topics has \"" + topic + "\", a retry topic: name the origin, its retry topic is read too");
      }
      if (retry.length() > Topics.MAX) {
        throw new IllegalArgumentException(
            "topic \"" + retry + "\" has more than " + Topics.MAX + " bytes: shorten the scope");
      }
    }
    topics = List.copyOf(topics);
    ignore = Set.copyOf(ignore);
  }

  /** The defaults: the group is the scope, and 16 handlers run at a time. */
  public static ConsumerConfig of(String group, String... topics) {
    return new ConsumerConfig(
        group,
        List.of(topics),
        Set.of(),
        16,
        8192,
        64L << 20,
        500,
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(20),
        Duration.ofMinutes(1),
        GuardConfig.of(group));
  }

  /** With event types to acknowledge. */
  public ConsumerConfig withIgnore(String... types) {
    return new ConsumerConfig(
        group,
        topics,
        Set.of(types),
        workers,
        window,
        windowBytes,
        batch,
        commitInterval,
        rebalanceTimeout,
        drainTimeout,
        hold,
        guard);
  }

  /** With so many handlers at a time. */
  public ConsumerConfig withWorkers(int many) {
    return new ConsumerConfig(
        group,
        topics,
        ignore,
        many,
        window,
        windowBytes,
        batch,
        commitInterval,
        rebalanceTimeout,
        drainTimeout,
        hold,
        guard);
  }

  /** With other bounds of what is in memory. */
  public ConsumerConfig withWindow(int messages, long bytes) {
    return new ConsumerConfig(
        group,
        topics,
        ignore,
        workers,
        messages,
        bytes,
        batch,
        commitInterval,
        rebalanceTimeout,
        drainTimeout,
        hold,
        guard);
  }

  /** With other times: of commits, of a rebalance, of the end, of a key that is blocked. */
  public ConsumerConfig withTimes(
      Duration commit, Duration rebalance, Duration drain, Duration blocked) {
    return new ConsumerConfig(
        group,
        topics,
        ignore,
        workers,
        window,
        windowBytes,
        batch,
        commit,
        rebalance,
        drain,
        blocked,
        guard);
  }

  /** With settings of deliveries, a scope of its own among them. */
  public ConsumerConfig withGuard(GuardConfig settings) {
    return new ConsumerConfig(
        group,
        topics,
        ignore,
        workers,
        window,
        windowBytes,
        batch,
        commitInterval,
        rebalanceTimeout,
        drainTimeout,
        hold,
        settings);
  }
}
