package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Audit.Kind;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Outcome;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
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

  private final Audit audit;
  private static final int OUTCOMES = Outcome.values().length + 1; // SUPERSEDED is one more.
  private static final int ACTIONS = Action.values().length;
  private static final int LAYERS = Layer.values().length;

  /** The counts of each event type, by outcome, action and layer. */
  private final Map<String, LongAdder[]> counts = new ConcurrentHashMap<>();

  private final EventTypes eventTypes = new EventTypes();
  private final String scope;
  private final ScheduledExecutorService timer;

  Tally(Audit audit, String scope) {
    this.audit = audit;
    this.scope = scope;
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
  void add(MessageDelivery d) {
    if (d.status == Status.SKIPPED) {
      return;
    }
    int outcome = d.superseded() ? OUTCOMES - 1 : d.outcome().ordinal();
    int cell = (outcome * ACTIONS + d.action().ordinal()) * LAYERS + d.layer().ordinal();
    cells(d.eventType())[cell].increment();
  }

  private LongAdder[] cells(String eventType) {
    LongAdder[] known = counts.get(eventType);
    if (known != null) {
      return known;
    }
    return counts.computeIfAbsent(eventTypes.nameOf(eventType), name -> newCells());
  }

  private static LongAdder[] newCells() {
    LongAdder[] cells = new LongAdder[OUTCOMES * ACTIONS * LAYERS];
    Arrays.setAll(cells, i -> new LongAdder());
    return cells;
  }

  private Kind kindOf(String eventType, int cell) {
    int outcome = cell / LAYERS / ACTIONS;
    return new Kind(
        scope,
        eventType,
        outcome == OUTCOMES - 1 ? "SUPERSEDED" : Outcome.values()[outcome].name(),
        Action.values()[cell / LAYERS % ACTIONS].name(),
        Layer.values()[cell % LAYERS].text());
  }

  /** Writes what was counted; what cannot be written is kept for the next time. */
  private void write() {
    Map<Kind, Long> some = new HashMap<>();
    Map<LongAdder, Long> back = new IdentityHashMap<>();
    counts.forEach(
        (eventType, cells) -> {
          for (int i = 0; i < cells.length; i++) {
            long since = cells[i].sumThenReset();
            if (since != 0) {
              some.put(kindOf(eventType, i), since);
              back.put(cells[i], since);
            }
          }
        });
    if (some.isEmpty()) {
      return;
    }
    try {
      audit.count(some);
    } catch (RuntimeException e) { // A timer that throws would count no more.
      back.forEach(LongAdder::add);
      LOG.warn("counts for `idem audit` wait for the next time: {}", e.getMessage());
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
