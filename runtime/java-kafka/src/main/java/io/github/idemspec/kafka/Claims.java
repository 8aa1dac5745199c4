package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Result;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stage that claims what waits, in batches, and no more than is going to run soon. */
final class Claims {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);

  private final Stages stages;
  private final Guard guard;
  private final Pace pace;
  private final int most;

  Claims(Stages stages, Guard guard, Pace pace, int most) {
    this.stages = stages;
    this.guard = guard;
    this.pace = pace;
    this.most = most;
  }

  /** Claims until the end. */
  void loop() throws InterruptedException {
    for (List<Task> batch = take(); batch != null; batch = take()) {
      try {
        claim(batch);
      } catch (RuntimeException | Error e) {
        stages.abandon(batch);
        throw e;
      }
    }
  }

  private List<Task> take() throws InterruptedException {
    List<Task> batch = new ArrayList<>();
    stages.lock.lock();
    try {
      while (!stages.ends()) {
        fill(batch);
        if (!batch.isEmpty()) {
          stages.claiming += batch.size();
          return batch;
        }
        stages.claimers.await();
      }
      return null;
    } finally {
      stages.lock.unlock();
    }
  }

  private void fill(List<Task> batch) {
    while (!stages.suspects.isEmpty() && stages.suspects.peek().state != Task.State.WAITING) {
      stages.suspects.poll(); // Its partition is another's.
    }
    if (stages.alone) {
      return;
    }
    if (stages.suspects.isEmpty()) {
      fillAhead(batch);
    } else {
      fillAlone(batch);
    }
  }

  /** Takes a suspect, once nothing else is claimed (DEDUP-024). */
  private void fillAlone(List<Task> batch) {
    if (stages.flight > 0) {
      return;
    }
    Task task = stages.suspects.poll();
    task.alone = true;
    stages.alone = true;
    takeOff(task, batch);
  }

  private void fillAhead(List<Task> batch) {
    long ahead = pace.ahead();
    long room = ahead - stages.runnable.size() - stages.claiming;
    if (2 * room < ahead) {
      return; // Another batch is worth a call once half of the last one has begun.
    }
    while (room > 0 && batch.size() < most && !stages.waiting.isEmpty()) {
      Task task = stages.waiting.poll();
      if (task.state != Task.State.WAITING) {
        continue;
      }
      if (task.rest.holds(task) && !task.toStore) {
        task.rest.add(task);
        stages.probe(task.rest);
        continue;
      }
      takeOff(task, batch);
      room--;
    }
  }

  private void takeOff(Task task, List<Task> batch) {
    task.state = Task.State.CLAIMING;
    stages.takeOff(task);
    batch.add(task);
  }

  /** Claims a batch, however long the store takes to come back. */
  private void claim(List<Task> batch) throws InterruptedException {
    int size = batch.size();
    List<Task> open = batch;
    for (int tries = 0; !open.isEmpty(); tries++) {
      List<MessageDelivery> deliveries = new ArrayList<>(open.size());
      open.forEach(task -> deliveries.add(task.delivery));
      try {
        guard.claim(deliveries);
        break;
      } catch (StoreException e) {
        LOG.warn("the store does not claim: {}", e.getMessage());
      }
      Thread.sleep(Stages.backoffMs(tries));
      open = leaveOutRevoked(open);
    }
    claimed(open, size);
  }

  private List<Task> leaveOutRevoked(List<Task> open) {
    List<Task> rest = new ArrayList<>();
    stages.lock.lock();
    try {
      for (Task task : open) {
        if (task.part.revoked || stages.stopped) {
          stages.land(task);
          stages.drop(task);
        } else {
          rest.add(task);
        }
      }
    } finally {
      stages.lock.unlock();
    }
    return rest;
  }

  private void claimed(List<Task> batch, int size) {
    List<Task> back = new ArrayList<>();
    stages.lock.lock();
    try {
      stages.claiming -= size;
      batch.forEach(task -> claimed(task, back));
    } finally {
      stages.lock.unlock();
    }
    giveBack(back);
  }

  private void claimed(Task task, List<Task> back) {
    MessageDelivery d = task.delivery;
    if (d.status() != Status.READY) {
      stages.probeLost(task);
      stages.toSettle(task);
    } else if (task.toStore) {
      long left = TimeUnit.NANOSECONDS.toMillis(task.due - System.nanoTime());
      d.end(new Result(Outcome.IN_PROGRESS, Math.max(left, 0), null), null);
      stages.toSettle(task);
    } else if (!mayRun(task)) {
      task.suspect = d.alone();
      back.add(task);
    } else {
      task.state = Task.State.RUNNABLE;
      stages.runnable.add(task);
      stages.workers.signal();
    }
  }

  private static boolean mayRun(Task task) {
    if (task.part.revoked) {
      return false;
    }
    return task.alone || !task.delivery.alone() && !task.rest.holds(task);
  }

  /** Gives back claims of what has not begun, and has them claimed again unless they are another's. */
  void giveBack(List<Task> back) {
    if (back.isEmpty()) {
      return;
    }
    List<MessageDelivery> deliveries = new ArrayList<>();
    back.forEach(task -> deliveries.add(task.delivery));
    try {
      guard.giveBack(deliveries);
    } catch (RuntimeException e) {
      LOG.warn("claims not given back: their leases run out by themselves", e);
    }
    stages.lock.lock();
    try {
      back.forEach(this::givenBack);
    } finally {
      stages.lock.unlock();
    }
  }

  private void givenBack(Task task) {
    stages.land(task);
    if (task.part.revoked) {
      stages.drop(task);
      return;
    }
    stages.probeLost(task);
    if (task.suspect) {
      task.state = Task.State.WAITING;
      stages.suspects.addFirst(task);
      stages.claimers.signal();
    } else {
      stages.awaitFirst(task);
    }
  }
}
