package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.store.Retries;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Outcome;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes due now what waits for a state that has moved (STATE-012). It does so beside all else: that it
 * is late or lost costs time alone.
 */
final class Waker {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);

  /** What is not remembered falls due by itself, later. */
  private static final int MOST = 100_000;

  private final Guard guard;
  private final Set<String> keys = new LinkedHashSet<>();
  private boolean stopped;

  Waker(Guard guard) {
    this.guard = guard;
  }

  /** Takes note of a message that moved a state. */
  void add(MessageDelivery d) {
    boolean moved = d.moved() != null && d.outcome() == Outcome.OK && !d.bizKey().isEmpty();
    if (moved) {
      synchronized (this) {
        if (keys.size() < MOST) {
          keys.add(d.bizKey());
          notifyAll();
        }
      }
    }
  }

  void run() throws InterruptedException {
    for (Set<String> some = take(); some != null; some = take()) {
      try {
        for (String key : some) {
          ((Retries) guard.store()).wake(guard.scope(), key);
        }
      } catch (StoreException e) {
        LOG.warn("held messages are not woken, and come when they are due: {}", e.getMessage());
      }
    }
  }

  /** The keys since the last call; null at the end, where those that are left fall due by themselves. */
  private synchronized Set<String> take() throws InterruptedException {
    while (keys.isEmpty() && !stopped) {
      wait();
    }
    if (stopped) {
      return null;
    }
    Set<String> some = new LinkedHashSet<>(keys);
    keys.clear();
    return some;
  }

  synchronized void stop() {
    stopped = true;
    notifyAll();
  }
}
