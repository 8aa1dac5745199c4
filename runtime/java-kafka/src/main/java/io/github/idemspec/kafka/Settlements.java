package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Order;
import io.github.idemspec.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stage that makes durable what follows from deliveries, or holds them in their place. */
final class Settlements {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);

  private final Stages stages;
  private final Guard guard;
  private final Parts parts;
  private final int most;
  private final long holdNanos;

  Settlements(Stages stages, Guard guard, Parts parts, ConsumerConfig config) {
    this.stages = stages;
    this.guard = guard;
    this.parts = parts;
    most = config.batch();
    holdNanos = config.hold().toNanos();
  }

  /** Settles until the end; one thread of several. */
  void loop() throws InterruptedException {
    for (List<Task> batch = take(); batch != null; batch = take()) {
      try {
        settle(batch);
      } catch (Error e) {
        stages.abandon(batch);
        throw e;
      }
    }
  }

  private void settle(List<Task> batch) {
    List<MessageDelivery> deliveries = new ArrayList<>(batch.size());
    batch.forEach(task -> deliveries.add(task.delivery));
    try {
      guard.settle(deliveries);
    } catch (StoreException e) {
      LOG.warn("not all is durable, and is settled again: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("deliveries are settled again", e);
    }
    stages.lock.lock();
    try {
      batch.forEach(this::settled);
    } finally {
      stages.lock.unlock();
    }
  }

  private List<Task> take() throws InterruptedException {
    stages.lock.lock();
    try {
      while (stages.settling.isEmpty()) {
        if (stages.stopped) {
          return null;
        }
        stages.settlers.await();
      }
      List<Task> batch = new ArrayList<>();
      while (batch.size() < most && !stages.settling.isEmpty()) {
        Task task = stages.settling.poll();
        boolean block = task.route != null && task.route.rules.order() == Order.BLOCK;
        if (block && task.tries == 0) { // One that may have been written as held stays held.
          task.delivery.holdInPlace(mayHold(task));
        }
        batch.add(task);
      }
      return batch;
    } finally {
      stages.lock.unlock();
    }
  }

  /** Whether a message of a BLOCK route may stay in its place (CONS-012). */
  private boolean mayHold(Task task) {
    if (task.delivery.status() != Status.ENDED || task.toStore || task.part.revoked) {
      return false;
    }
    if (task.lane == null || task.delivery.bizKey().isEmpty() || task.delivery.key().isEmpty()) {
      return true; // It could not wait in the store either.
    }
    boolean tooLong = task.lane.since != 0 && System.nanoTime() - task.lane.since > holdNanos;
    return !parts.isCrowded(task.part) && !tooLong;
  }

  private void settled(Task task) {
    MessageDelivery d = task.delivery;
    if (d.settled() && d.inPlace()) {
      hold(task);
    } else if (d.settled()) {
      stages.finish(task);
    } else if (d.status() == Status.OPENED) { // The lane it was to wait in is free by now.
      stages.land(task);
      if (task.part.revoked) {
        stages.drop(task);
      } else {
        stages.awaitFirst(task);
      }
    } else { // For as long as it takes: never acknowledged before (CONS-003).
      long wait = TimeUnit.MILLISECONDS.toNanos(Stages.backoffMs(task.tries++));
      stages.schedule(() -> stages.toSettle(task), wait);
    }
  }

  /** Keeps a message in its place until it is tried again. */
  private void hold(Task task) {
    stages.land(task);
    if (task.part.revoked || stages.stopped) {
      stages.drop(task);
      return;
    }
    MessageDelivery d = task.delivery;
    long wait = d.delay().toNanos();
    long now = System.nanoTime();
    if (task.lane != null && task.lane.since == 0) {
      task.lane.since = now;
    }
    task.state = Task.State.HELD;
    task.due = now + wait;
    task.tries = 0;
    d.again();
    stages.schedule(
        () -> {
          if (task.state == Task.State.HELD) {
            stages.await(task);
          }
        },
        wait);
  }

  /** Sends what is held in place to the store, where the window has no room (CONS-012). */
  void relieve(Part part) {
    if (!parts.isFull(part)) {
      return;
    }
    for (Task task : part.tasks) {
      if (task.state == Task.State.HELD) {
        task.toStore = true;
        stages.await(task);
      }
    }
  }
}
