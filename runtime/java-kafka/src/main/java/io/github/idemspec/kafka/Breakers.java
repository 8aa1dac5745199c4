package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Result;
import io.github.idemspec.v1.Outcome;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has routes rest, and work again (RETRY-031). It is under the engine's lock. */
final class Breakers {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);

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
    if (circuit.ends(d.key(), verdictOf(d), probe, now)) {
      long wait = TimeUnit.NANOSECONDS.toMillis(circuit.left(now));
      d.end(new Result(Outcome.IN_PROGRESS, wait, null), d.error());
    }
    if (probe || was != circuit.state()) {
      follow(task, was, now, back);
    }
  }

  private static Circuit.Verdict verdictOf(MessageDelivery d) {
    switch (d.outcome()) {
      case OK:
        return Circuit.Verdict.WORKED;
      case RETRYABLE:
      case THROTTLED:
        return Circuit.Verdict.BROKE;
      default:
        return Circuit.Verdict.NEITHER;
    }
  }

  private void follow(Task task, Circuit.State was, long now, List<Task> back) {
    Rest rest = task.rest;
    if (rest.circuit.state() == Circuit.State.CLOSED) {
      LOG.warn("the route works again: event_type={}", rest.route.eventType);
      measureOpen(rest, 0);
      wakeAll(rest);
      return;
    }
    if (was == Circuit.State.CLOSED) {
      LOG.error(
          "the route rests, since failures of different keys follow each other; its messages wait, and"
              + " it is probed: event_type={}",
          rest.route.eventType,
          task.delivery.error());
      measureOpen(rest, 1);
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

  private void measureOpen(Rest rest, int open) {
    String event = rest.route.eventType;
    guard.observer().measureRoute(Metric.IDEM_ROUTE_BREAKER_OPEN, guard.scope(), event, open);
  }
}
