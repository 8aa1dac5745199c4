package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Audit.Kind;
import io.github.idemspec.store.StoreException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what became of deliveries, and writes the counts every ten seconds and at the end: never in a
 * message's way, and no delivery fails where they cannot be written (CONS-040).
 */
final class Tally implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Guard.class);
  private static final long SECONDS = 10;

  /** How many event types are counted by their names; further ones are other (CONS-042). */
  private static final int NAMES = 200;

  private static final int LONGEST = 255;

  private final Audit audit;
  private final Map<Kind, LongAdder> counts = new ConcurrentHashMap<>();
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer;

  Tally(Audit audit) {
    this.audit = audit;
    timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "idem-audit");
              thread.setDaemon(true);
              return thread;
            });
    timer.scheduleWithFixedDelay(this::write, SECONDS, SECONDS, TimeUnit.SECONDS);
  }

  /** Counts one that was settled. */
  void add(MessageDelivery d, String scope) {
    if (d.status == Status.SKIPPED) {
      return;
    }
    boolean superseded = d.moved != null && d.moved.superseded();
    String outcome = superseded ? "SUPERSEDED" : d.outcome().name();
    Kind kind = new Kind(scope, name(d.eventType()), outcome, d.action().name(), d.layer());
    counts.computeIfAbsent(kind, k -> new LongAdder()).increment();
  }

  private String name(String eventType) {
    if (names.contains(eventType)) {
      return eventType;
    }
    boolean plain = eventType.length() <= LONGEST && eventType.chars().noneMatch(Character::isISOControl);
    if (!plain || names.size() >= NAMES) {
      return "other";
    }
    names.add(eventType);
    return eventType;
  }

  /** Writes what was counted; what cannot be written is kept for the next time. */
  private void write() {
    Map<Kind, Long> some = new HashMap<>();
    counts.forEach(
        (kind, n) -> {
          long since = n.sumThenReset();
          if (since != 0) {
            some.put(kind, since);
          }
        });
    if (some.isEmpty()) {
      return;
    }
    try {
      audit.count(some);
    } catch (StoreException e) {
      some.forEach((kind, n) -> counts.get(kind).add(n));
      LOG.warn("counts for `idem audit` are not written, and kept for the next time: {}", e.getMessage());
    }
  }

  /** Writes the last ones. */
  @Override
  public void close() {
    timer.shutdown();
    try {
      timer.awaitTermination(SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    write();
  }
}
