package io.github.idemspec.kafka;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Deliveries that wait for each other: on an ordered route those of one biz key of one origin topic;
 * on an unordered one the copies of one message, which would only find each other's claim.
 */
final class Lanes {
  private record Key(String topic, String key) {}

  /** The head may work, the others wait. */
  static final class Lane {
    private final Key key;
    private final Set<Task> tasks = new LinkedHashSet<>();

    /** When the head was first held in place, by System.nanoTime; 0 where it is not. */
    long since;

    private Lane(Key key) {
      this.key = key;
    }
  }

  private final Map<Key, Lane> lanes = new HashMap<>();

  /** Puts a task at the end of a lane, and says whether it is the head. */
  boolean enter(String topic, String key, Task task) {
    Lane lane = lanes.computeIfAbsent(new Key(topic, key), Lane::new);
    lane.tasks.add(task);
    task.lane = lane;
    return lane.tasks.size() == 1;
  }

  /** Takes a task out of its lane, and gives the new head, or null. */
  Task leave(Task task) {
    Lane lane = task.lane;
    if (lane == null) {
      return null;
    }
    boolean wasHead = lane.tasks.iterator().next() == task;
    lane.tasks.remove(task);
    task.lane = null;
    if (lane.tasks.isEmpty()) {
      lanes.remove(lane.key);
      return null;
    }
    if (!wasHead) {
      return null;
    }
    lane.since = 0;
    return lane.tasks.iterator().next();
  }
}
