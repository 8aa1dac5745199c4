package io.github.idemspec.kafka;

import io.github.idemspec.guard.Seen;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/** A route of one consumer, and its deliveries that wait while it rests. It is under the engine's lock. */
final class Rest {
  final Route route;
  final Circuit circuit;

  /** Of a shadow; the polling thread's. */
  final Seen seen = new Seen();

  private final Deque<Task> resting = new ArrayDeque<>();

  Rest(Route route) {
    this.route = route;
    circuit = new Circuit(route.breaker);
  }

  /** Whether a delivery must not begin. */
  boolean holds(Task task) {
    return circuit.state() != Circuit.State.CLOSED && !task.probe;
  }

  void add(Task task) {
    resting.addLast(task);
  }

  /** Takes the next probe where it is time for one, or null; another key's than the last, if there is one. */
  Task probe(long now) {
    resting.removeIf(task -> task.state != Task.State.WAITING);
    if (!circuit.isDue(now) || resting.isEmpty()) {
      return null;
    }
    Task found = null;
    for (Iterator<Task> all = resting.iterator(); found == null && all.hasNext(); ) {
      Task task = all.next();
      if (circuit.isOther(task.delivery.key())) {
        found = task;
        all.remove();
      }
    }
    if (found == null) {
      found = resting.pollFirst();
    }
    circuit.starts(found.delivery.key());
    found.probe = true;
    return found;
  }

  /** Takes note of a probe that never came to its handler. */
  void lost(Task task) {
    task.probe = false;
    circuit.ends(task.delivery.key(), Circuit.Verdict.NEITHER, true, System.nanoTime());
  }

  /** The last one that rests, or null. */
  Task takeLast() {
    return resting.pollLast();
  }
}
