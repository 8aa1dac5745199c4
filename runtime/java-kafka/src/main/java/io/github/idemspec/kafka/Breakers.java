package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import java.util.Iterator;
import java.util.List;

/** Has routes rest, and work again (RETRY-031). It is under the engine's lock. */
final class Breakers {
  private final Stages stages;
  private final Guard guard;

  Breakers(Stages stages, Guard guard) {
    this.stages = stages;
    this.guard = guard;
  }

  /**
   * Tells the breaker what became of a delivery; a failure while the route rests costs nothing.
   *
   * @param back gets what is claimed, has not begun, and has to be given back
   */
  void judge(Task task, List<Task> back) {
    MessageDelivery d = task.delivery;
    Circuit circuit = task.rest.circuit;
    Circuit.State was = circuit.state();
    boolean probe = task.probe;
    task.probe = false;
    long now = System.nanoTime();
    Outage.judge(circuit, d, probe, now);
    if (probe || was != circuit.state()) {
      follow(task, was != Circuit.State.CLOSED, now, back);
    }
  }

  private void follow(Task task, boolean rested, long now, List<Task> back) {
    Rest rest = task.rest;
    boolean rests = rest.circuit.state() != Circuit.State.CLOSED;
    Outage.tell(guard, rest.route.eventType, rested, rests, task.delivery.error());
    if (!rests) {
      wakeAll(rest);
      return;
    }
    if (!rested) {
      recall(rest, back);
    }
    stages.schedule(() -> stages.probe(rest), rest.circuit.left(now));
  }

  /** Takes back what is claimed and has not begun. */
  private void recall(Rest rest, List<Task> back) {
    for (Iterator<Task> all = stages.runnable.iterator(); all.hasNext(); ) {
      Task task = all.next();
      if (task.rest == rest && rest.holds(task) && !task.alone) {
        all.remove();
        task.state = Task.State.CLAIMING;
        back.add(task);
      }
    }
  }

  /** Has those that rest go on, in their order. */
  private void wakeAll(Rest rest) {
    for (Task task = rest.takeLast(); task != null; task = rest.takeLast()) {
      stages.waiting.addFirst(task);
    }
    stages.claimers.signal();
  }
}
