package io.github.idemspec.guard;

import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Watches the handlers that run: ends those whose time is over, and renews the leases of mode
 * IDEMPOTENT at a third of each, many in one call (DEDUP-028).
 */
final class Beats implements AutoCloseable {
  /** How many times a lease's length the timer fires. */
  private static final int TICKS = 12;

  private static final long MOST_MS = 100;

  private final Store store;
  private final Duration lease;
  private final Runnable storeError;
  private final Map<MessageDelivery, Beat> running = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer;

  private static final class Beat {
    final Handling handling;
    final boolean renewed;
    long next;
    long until;

    Beat(Handling handling, boolean renewed, long claimedAt, Duration lease) {
      this.handling = handling;
      this.renewed = renewed;
      next = claimedAt + lease.toNanos() / 3;
      until = claimedAt + lease.toNanos();
    }
  }

  Beats(Store store, Duration lease, Runnable storeError) {
    this.store = store;
    this.lease = lease;
    this.storeError = storeError;
    timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "idem-beats");
              thread.setDaemon(true);
              return thread;
            });
    long tick = Math.max(Math.min(lease.toMillis() / TICKS, MOST_MS), 1);
    timer.scheduleWithFixedDelay(this::tick, tick, tick, TimeUnit.MILLISECONDS);
  }

  void add(MessageDelivery d, Handling handling) {
    boolean renewed = d.rules.mode() == Mode.IDEMPOTENT && d.held();
    running.put(d, new Beat(handling, renewed, d.claimedAt, lease));
  }

  void remove(MessageDelivery d) {
    running.remove(d);
  }

  private void tick() {
    try {
      beat(System.nanoTime());
    } catch (RuntimeException | Error e) { // The next tick asks again; a timer that throws has none.
      storeError.run();
    }
  }

  private void beat(long now) {
    List<MessageDelivery> due = new ArrayList<>();
    List<Renewal> renewals = new ArrayList<>();
    running.forEach(
        (d, beat) -> {
          boolean goesOn = beat.handling.watch(now);
          if (goesOn && beat.renewed && !d.lost && now - beat.next >= 0) {
            due.add(d);
            renewals.add(new Renewal(d.lease, lease));
          }
        });
    if (due.isEmpty()) {
      return;
    }
    boolean[] held;
    try {
      held = store.renew(renewals);
    } catch (RuntimeException e) {
      storeError.run();
      // A lease that is over by all accounts ends the handler.
      due.forEach(d -> endOver(running.get(d)));
      return;
    }
    for (int i = 0; i < held.length; i++) {
      Beat beat = running.get(due.get(i));
      if (beat == null) {
        continue;
      }
      if (held[i]) {
        beat.next = now + lease.toNanos() / 3;
        beat.until = now + lease.toNanos();
      } else {
        due.get(i).lost = true;
        beat.handling.cancel();
      }
    }
  }

  private static void endOver(Beat beat) {
    if (beat != null && System.nanoTime() - beat.until >= 0) {
      beat.handling.cancel();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
