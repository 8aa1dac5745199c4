package io.github.idemspec.kafka;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The partitions that are assigned: their windows and offsets. It is under the engine's lock. */
final class Parts {
  private final int window;
  private final long windowBytes;
  private final Map<TopicPartition, Part> parts = new HashMap<>();

  Parts(ConsumerConfig config) {
    window = config.window();
    windowBytes = config.windowBytes();
  }

  void assign(TopicPartition partition) {
    parts.put(partition, new Part(partition));
  }

  /** The part, or null where it is not assigned. */
  Part get(TopicPartition partition) {
    return parts.get(partition);
  }

  /** Those of some partitions that are assigned. */
  List<Part> of(Iterable<TopicPartition> partitions) {
    List<Part> some = new ArrayList<>();
    for (TopicPartition partition : partitions) {
      Part part = parts.get(partition);
      if (part != null) {
        some.add(part);
      }
    }
    return some;
  }

  /** Ends the partitions: what is settled later moves nothing. */
  void end(Iterable<TopicPartition> partitions) {
    for (TopicPartition partition : partitions) {
      Part part = parts.remove(partition);
      if (part != null) {
        part.revoked = true;
        part.mark.close();
      }
    }
  }

  boolean isFull(Part part) {
    return part.mark.span() >= window || part.bytes >= share();
  }

  /** What only waits should do so elsewhere. */
  boolean isCrowded(Part part) {
    return 2L * part.mark.span() >= window || 2 * part.bytes >= share();
  }

  private long share() {
    return Math.max(windowBytes / Math.max(parts.size(), 1), 1);
  }

  /** The partitions that have to be paused, and those that may go on. */
  void pausing(Collection<TopicPartition> pause, Collection<TopicPartition> resume) {
    for (Part part : parts.values()) {
      boolean full = isFull(part);
      if (full != part.paused) {
        part.paused = full;
        (full ? pause : resume).add(part.partition);
      }
    }
  }

  /** What has moved since the last commit. */
  Map<TopicPartition, OffsetAndMetadata> uncommitted() {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (Part part : parts.values()) {
      if (part.mark.offset() > part.committed) {
        offsets.put(part.partition, new OffsetAndMetadata(part.mark.offset()));
      }
    }
    return offsets;
  }

  void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
    offsets.forEach(
        (partition, offset) -> {
          Part part = parts.get(partition);
          if (part != null) {
            part.committed = Math.max(part.committed, offset.offset());
          }
        });
  }

  /** How many deliveries have not ended. */
  int inFlight() {
    return parts.values().stream().mapToInt(p -> p.tasks.size()).sum();
  }
}
