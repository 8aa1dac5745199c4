package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The stage that runs handlers. */
final class Handlers {
  private final Stages stages;
  private final Guard guard;
  private final Pace pace;
  private final Claims claims;
  private final Breakers breakers;

  Handlers(Stages stages, Guard guard, Pace pace, Claims claims, Breakers breakers) {
    this.stages = stages;
    this.guard = guard;
    this.pace = pace;
    this.claims = claims;
    this.breakers = breakers;
  }

  /** Runs handlers until the end; one thread of several. */
  void loop() throws InterruptedException {
    for (List<Task> tasks = next(List.of()); tasks != null; tasks = next(tasks)) {
      try {
        run(tasks);
      } catch (RuntimeException | Error e) {
        stages.abandon(tasks);
        throw e;
      }
    }
  }

  private void run(List<Task> tasks) {
    List<MessageDelivery> deliveries = deliveriesOf(tasks);
    tasks.get(0).route.runner.run(guard, deliveries);
    for (MessageDelivery d : deliveries) {
      if (d.completed()) { // It is durable, and settling it asks nothing of the store.
        guard.settle(List.of(d));
      }
    }
  }

  private static List<MessageDelivery> deliveriesOf(List<Task> tasks) {
    if (tasks.size() == 1) {
      return List.of(tasks.get(0).delivery);
    }
    List<MessageDelivery> deliveries = new ArrayList<>(tasks.size());
    tasks.forEach(task -> deliveries.add(task.delivery));
    return deliveries;
  }

  /** Puts away those that ran, and takes the next ones. */
  private List<Task> next(List<Task> ran) throws InterruptedException {
    List<Task> back = new ArrayList<>(0);
    stages.lock.lock();
    try {
      ran.forEach(task -> putAway(task, ran.size(), back));
      while (back.isEmpty() && !stages.ends()) {
        Task task = stages.runnable.poll();
        if (task != null) {
          return withBatch(task);
        }
        stages.workers.await();
      }
      if (back.isEmpty()) {
        return null;
      }
    } finally {
      stages.lock.unlock();
    }
    claims.giveBack(back);
    return next(List.of());
  }

  /** Others of the same route, for a batch. */
  private List<Task> withBatch(Task first) {
    first.state = Task.State.RUNNING;
    int most = first.alone ? 1 : first.route.batch;
    if (most == 1) {
      return List.of(first);
    }
    List<Task> batch = new ArrayList<>();
    batch.add(first);
    for (Iterator<Task> all = stages.runnable.iterator(); batch.size() < most && all.hasNext(); ) {
      Task task = all.next();
      if (task.route == first.route && !task.alone) {
        all.remove();
        task.state = Task.State.RUNNING;
        batch.add(task);
      }
    }
    return batch;
  }

  private void putAway(Task ran, int together, List<Task> back) {
    MessageDelivery d = ran.delivery;
    pace.add(d.handlerTime(), together);
    breakers.judge(ran, back);
    if (d.settled()) {
      stages.finish(ran);
    } else {
      stages.toSettle(ran);
    }
    boolean half = 2L * (stages.runnable.size() + stages.claiming) <= pace.ahead();
    if (half && !stages.waiting.isEmpty()) {
      stages.claimers.signal();
    }
  }
}
