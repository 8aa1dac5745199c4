package io.github.idemspec.kafka;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** A partition, from its assignment to its end. It is under the engine's lock. */
final class Part {
  final TopicPartition partition;
  final Watermark mark = new Watermark();

  /** Those that have not ended, the oldest first. */
  final Set<Task> tasks = new LinkedHashSet<>();

  long bytes;
  long committed = Watermark.NONE;

  /** Tasks in flight. */
  int flight;

  /** Nothing of it begins any more. */
  boolean revoked;

  boolean paused;

  Part(TopicPartition partition) {
    this.partition = partition;
  }
}
