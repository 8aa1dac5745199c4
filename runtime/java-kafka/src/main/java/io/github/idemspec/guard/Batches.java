package io.github.idemspec.guard;

import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs handlers of several deliveries (CONS-008). */
final class Batches {
  private final Guard guard;
  private final Runs runs;

  Batches(Guard guard, Runs runs) {
    this.guard = guard;
    this.runs = runs;
  }

  void run(List<MessageDelivery> deliveries, BatchHandler handler) {
    List<MessageDelivery> ready = ready(deliveries);
    if (ready.isEmpty()) {
      return;
    }
    List<List<? extends Throwable>> given = new ArrayList<>(1);
    Handling handling = handling(ready);
    Throwable error = runs.call(ready, handling, () -> given.add(handler.handle(ready)));
    for (int i = 0; i < ready.size(); i++) {
      runs.conclude(
          ready.get(i), handling, error == null ? Results.at(given.get(0), i) : error);
    }
  }

  void runTx(Transactor store, List<MessageDelivery> deliveries, TxBatchHandler handler) {
    List<MessageDelivery> ready = ready(deliveries);
    while (!ready.isEmpty()) {
      ready = attempt(store, ready, handler);
    }
  }

  /** One transaction; gives those that have to run again. */
  private List<MessageDelivery> attempt(
      Transactor store, List<MessageDelivery> ready, TxBatchHandler handler) {
    Handling handling = handling(ready);
    boolean[] completed = {false};
    Throwable error =
        runs.call(
            ready,
            handling,
            () ->
                store.inTx(
                    limit(ready),
                    tx -> {
                      check(ready, handler.handle(ready, tx.connection()));
                      for (MessageDelivery d : ready) {
                        if (d.held()) {
                          tx.complete().accept(d.completion());
                        }
                      }
                      completed[0] = true;
                      return null;
                    }));
    if (error instanceof SomeFailed failed && !(ready.size() > 1 && failed.areEchoes())) {
      return concludeFailed(ready, handling, failed.results);
    }
    boolean over = handling.timedOut() || handling.cancelled();
    boolean fenced = error instanceof FencedException;
    boolean threw = error != null && !completed[0] && !(error instanceof NotBegunException);
    if (ready.size() > 1 && !over && (fenced || threw)) {
      ready.forEach(d -> runTx(store, List.of(d), handler)); // One of them is the cause.
      return List.of();
    }
    ready.forEach(d -> runs.ended(d, handling, error, completed[0] && d.held()));
    return List.of();
  }

  /** Rolls a batch back of which some have to run again. */
  private static final class SomeFailed extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<Throwable> results;

    SomeFailed(List<Throwable> results) {
      super("some of the batch failed", null, false, false);
      this.results = results;
    }

    /** No result says whose statement was the one that failed. */
    private boolean areEchoes() {
      return results.stream().allMatch(result -> result == null || Result.isEcho(result));
    }
  }

  private static void check(List<MessageDelivery> ready, List<? extends Throwable> given)
      throws SomeFailed {
    List<Throwable> results = new ArrayList<>(ready.size());
    boolean failed = false;
    for (int i = 0; i < ready.size(); i++) {
      Throwable result = Results.at(given, i);
      if (result == null) {
        result = Completing.faultOfResult(ready.get(i));
      }
      results.add(result);
      failed |= result != null;
    }
    if (failed) {
      throw new SomeFailed(results);
    }
  }

  private List<MessageDelivery> concludeFailed(
      List<MessageDelivery> ready, Handling handling, List<Throwable> results) {
    List<MessageDelivery> rest = new ArrayList<>();
    for (int i = 0; i < ready.size(); i++) {
      MessageDelivery d = ready.get(i);
      boolean again = results.get(i) == null || ready.size() > 1 && Result.isEcho(results.get(i));
      if (again && !d.lost) {
        rest.add(d);
      } else {
        runs.conclude(d, handling, results.get(i));
      }
    }
    return ready(rest);
  }

  /** Those that may run, with leases that will last. */
  private List<MessageDelivery> ready(List<MessageDelivery> deliveries) {
    List<MessageDelivery> ready = new ArrayList<>(deliveries.size());
    for (MessageDelivery d : deliveries) {
      if (runs.mayRun(d)) {
        ready.add(d);
      }
    }
    return ready;
  }

  private Handling handling(List<MessageDelivery> ready) {
    return new Handling(System.nanoTime(), limit(ready));
  }

  /** The shortest of their time limits. */
  private Duration limit(List<MessageDelivery> ready) {
    Duration shortest = guard.timeout(ready.get(0).rules);
    for (MessageDelivery d : ready) {
      Duration limit = guard.timeout(d.rules);
      shortest = limit.compareTo(shortest) < 0 ? limit : shortest;
    }
    return shortest;
  }
}
