package io.github.idemspec.kafka;

import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Order;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the stages of an engine share: one lock, the queues between them, and the moves of tasks. Its
 * methods are called under the lock, unless they say that they take it.
 */
final class Stages {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);
  private static final long MAX_BACKOFF_MS = 5_000;

  final ReentrantLock lock = new ReentrantLock();
  final Condition claimers = lock.newCondition();
  final Condition workers = lock.newCondition();
  final Condition settlers = lock.newCondition();
  private final Condition landings = lock.newCondition();

  final Deque<Task> waiting = new ArrayDeque<>();
  final Deque<Task> suspects = new ArrayDeque<>();
  final Deque<Task> runnable = new ArrayDeque<>();
  final Deque<Task> settling = new ArrayDeque<>();
  private final Lanes lanes = new Lanes();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "idem-timer"));
  private final Waker waker;

  /** Tasks in a call that claims. */
  int claiming;

  /** Tasks in flight. */
  int flight;

  /** One is claimed with nothing else in the process. */
  boolean alone;

  boolean stopped;

  /** What ended a thread that should have gone on, or null. */
  private volatile Throwable failure;

  Stages(Waker waker) {
    this.waker = waker;
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  // The moves of a task.

  /** Takes a task in: what has ended already is to be settled, and the head of a lane to be claimed. */
  void enter(Task task) {
    MessageDelivery d = task.delivery;
    if (d.status() != Status.OPENED) {
      takeOff(task);
      toSettle(task);
      return;
    }
    boolean ordered = task.route.rules.order() != Order.UNORDERED && !d.bizKey().isEmpty();
    String key = ordered ? d.bizKey() : d.key();
    if (key.isEmpty() || lanes.enter(ordered ? d.origin() : "", key, task)) {
      await(task);
    }
  }

  /** It is to be claimed, after those that are. */
  void await(Task task) {
    task.state = Task.State.WAITING;
    waiting.addLast(task);
    claimers.signal();
  }

  /** It is to be claimed, before others. */
  void awaitFirst(Task task) {
    task.state = Task.State.WAITING;
    waiting.addFirst(task);
    claimers.signal();
  }

  /** Somebody begins to work on it. */
  void takeOff(Task task) {
    task.part.flight++;
    flight++;
  }

  /** Nobody works on it any more. */
  void land(Task task) {
    task.part.flight--;
    flight--;
    if (task.alone) {
      task.alone = false;
      alone = false;
    }
    if (task.part.revoked) {
      landings.signalAll();
    }
    if (alone || !suspects.isEmpty() || flight == 0) {
      claimers.signal();
    }
  }

  void toSettle(Task task) {
    task.state = Task.State.SETTLING;
    settling.add(task);
    settlers.signal();
  }

  /** The end of a delivery that may be acknowledged. */
  void finish(Task task) {
    task.part.mark.done(task.mark);
    waker.add(task.delivery);
    land(task);
    drop(task);
  }

  /** Forgets a task that is not in flight. */
  void drop(Task task) {
    task.state = Task.State.GONE;
    probeLost(task);
    if (task.part.tasks.remove(task)) {
      task.part.bytes -= task.size;
    }
    Task next = lanes.leave(task);
    if (next != null && next.state == Task.State.IN_LANE) {
      await(next);
    }
  }

  /** Sends the next probe of a route, where it is time for one. */
  void probe(Rest rest) {
    Task task = rest.probe(System.nanoTime());
    if (task != null) {
      awaitFirst(task);
    }
  }

  /** A probe that never came to its handler: another one may go. */
  void probeLost(Task task) {
    if (task.probe) {
      task.rest.lost(task);
      probe(task.rest);
    }
  }

  // Time, and the end.

  /** Does something later, under the lock. */
  void schedule(Runnable what, long nanos) {
    if (!stopped) {
      timer.schedule(() -> locked(what), nanos, TimeUnit.NANOSECONDS);
    }
  }

  private void locked(Runnable what) {
    lock.lock();
    try {
      what.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    } finally {
      lock.unlock();
    }
  }

  static long backoffMs(int tries) {
    return Math.min(50L << Math.min(tries, 10), MAX_BACKOFF_MS);
  }

  /** Nothing begins any more. */
  boolean ends() {
    return stopped || failure != null;
  }

  /** Ends the loops of all stages, and the timer. It takes the lock. */
  void stop() {
    lock.lock();
    try {
      stopped = true;
      claimers.signalAll();
      workers.signalAll();
      settlers.signalAll();
    } finally {
      lock.unlock();
    }
    timer.shutdownNow();
  }

  /**
   * Begins nothing any more: one thread less, and messages would wait for it in vain. It takes the lock.
   */
  void fail(Throwable e) {
    lock.lock();
    try {
      if (failure == null) {
        failure = e;
      }
      claimers.signalAll();
      workers.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.error("the consumer ends: {} failed unexpectedly", Thread.currentThread().getName(), e);
  }

  /** Throws what has ended a thread. */
  void check() {
    if (failure instanceof Error e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
  }

  /**
   * Lets go what a thread had that fails: nobody waits for it, and it is not acknowledged. It takes the
   * lock.
   */
  void abandon(List<Task> tasks) {
    lock.lock();
    try {
      for (Task task : tasks) {
        if (task.state.inFlight()) {
          land(task);
          task.state = Task.State.GONE;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nothing of some partitions is in flight, and says whether it is so. It takes the lock. */
  boolean awaitIdle(List<Part> parts, Duration limit) {
    long left = limit.toNanos();
    lock.lock();
    try {
      while (parts.stream().anyMatch(p -> p.flight > 0)) {
        if (left <= 0) {
          return false;
        }
        left = landings.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }
}
