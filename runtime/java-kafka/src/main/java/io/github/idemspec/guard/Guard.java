package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.Transactor;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Outcome;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Guards the deliveries of one scope, on a store with tables for what follows. Its methods may be
 * called from several threads, for different deliveries.
 */
public final class Guard implements AutoCloseable {
  /** What a lease that nobody renews has beyond the handler's time limit, to settle in. */
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(10);

  final GuardConfig config;
  final Store store;
  private final Observer observer;
  private final Beats beats;
  private final Opening opening;
  private final Claiming claiming;
  private final Runs runs;
  private final Batches batches;
  private final FollowUps followUps;
  private final Reports reports;
  private final Settler settler;

  /** Null where the store keeps no counts. */
  final Tally tally;

  /** A guard. */
  public Guard(Store store, GuardConfig config) {
    if (!store.followUps()) {
      throw new IllegalArgumentException(
          "the store keeps records alone, and no retries and no dead letters: give a PostgresStore");
    }
    this.store = store;
    this.config = config;
    observer = Observer.safe(config.observer());
    beats = new Beats(store, config.lease(), this::storeError);
    opening = new Opening(config);
    claiming = new Claiming(this);
    runs = new Runs(this, beats);
    batches = new Batches(this, runs);
    followUps = new FollowUps(config.scope());
    reports = new Reports(config.scope(), observer);
    settler = new Settler(this, followUps, reports);
    tally = store instanceof Audit audit ? new Tally(audit, config.scope()) : null;
  }

  /** The consumer. */
  public String scope() {
    return config.scope();
  }

  /** The store. */
  public Store store() {
    return store;
  }

  /** Who sees what happens; it throws nothing. */
  public Observer observer() {
    return observer;
  }

  /** {@link #parse} and {@link #route} in one. */
  public MessageDelivery open(Message message, Rules rules) {
    MessageDelivery d = parse(message);
    route(d, rules);
    return d;
  }

  /**
   * Reads the headers, for callers that choose the route by the event type and call {@link #route}
   * then. Faulty headers end it as MALFORMED (HDR-016), and the target_scope of another one skips it.
   */
  public MessageDelivery parse(Message message) {
    return opening.parse(message);
  }

  /** Applies the rules of a route: size, key, policy, lane. */
  public void route(MessageDelivery d, Rules rules) {
    opening.route(d, rules);
  }

  /**
   * Computes what would become of a message, tells the observer, and skips it: nothing is claimed, and no
   * handler runs. The derived key of its rules, where they have one, is compared with the one that came.
   */
  public void shadow(MessageDelivery d, Seen seen) {
    if (d.status == Status.SKIPPED) {
      return;
    }
    if (d.status == Status.OPENED) {
      d.end(Opening.shadow(d, seen), null);
    }
    settler.decide(d);
    d.shadow = true;
    reports.tell(d);
    d.skip();
  }

  /**
   * Asks the store which of the deliveries that are OPENED may run, all in one call. Where it throws a
   * {@link StoreException} call it again with the same ones, which then claim by the same owner
   * (DEDUP-013).
   */
  public void claim(List<MessageDelivery> deliveries) {
    claiming.claim(deliveries);
  }

  /**
   * Runs the handler of a READY delivery, and ends it with what came of it. It waits for the handler
   * to return: at its time limit, and where the lease is lost, the thread is interrupted (DEDUP-023,
   * DEDUP-028). Where the heap is exhausted, or the virtual machine fails otherwise, that is thrown: the
   * delivery has not ended, and must not be acknowledged.
   */
  public void run(MessageDelivery d, Handler handler) {
    runs.run(d, () -> handler.handle(d));
  }

  /**
   * {@link #run} for a handler whose effect and SUCCESS are one transaction of the store. Where the
   * claim is no longer held everything is rolled back, and the outcome is FENCED. Where the reply to
   * COMMIT is lost, the record says whether it was committed (DEDUP-020, DEDUP-022).
   */
  public void runTx(MessageDelivery d, TxHandler handler) {
    Transactor transactor = transactor();
    Duration limit = timeout(d.rules);
    runTxBy(
        d,
        complete ->
            transactor.inTx(
                limit,
                tx -> {
                  handler.handle(d, tx.connection());
                  complete.with(tx.complete());
                  return null;
                }));
  }

  /**
   * {@link #run} for a handler of several deliveries, under one time limit. Those that are not READY, or
   * whose lease is lost by now, are left out of what it gets.
   */
  public void runBatch(List<MessageDelivery> deliveries, BatchHandler handler) {
    batches.run(deliveries, handler);
  }

  /** {@link #runTx} for a handler of several deliveries, all within one transaction. */
  public void runTxBatch(List<MessageDelivery> deliveries, TxBatchHandler handler) {
    batches.runTx(transactor(), deliveries, handler);
  }

  private Transactor transactor() {
    if (store instanceof Transactor transactor) {
      return transactor;
    }
    throw new IllegalStateException("the store has no transactions for handlers");
  }

  /** A transaction of the caller's, in which a handler runs. */
  public interface Transaction {
    /**
     * Begins, runs the handler, completes, and commits; or rolls back and throws.
     *
     * @param complete to be called last before the commit
     * @throws NotBegunException where there was no transaction to begin with
     */
    void run(Complete complete) throws Exception;
  }

  /** Makes the record of the delivery SUCCESS. */
  public interface Complete {
    /** By what makes a claim SUCCESS; it is not called where there is none. */
    void with(Consumer<Completion> how);

    /** On the connection of a transaction, as its last statement. */
    void on(Connection connection);
  }

  /** {@link #runTx} in a transaction that is not the store's own, as that of a framework. */
  public void runTxBy(MessageDelivery d, Transaction transaction) {
    runs.runTx(d, transaction);
  }

  StoredRecord record(MessageDelivery d) {
    return store.records(config.scope(), List.of(d.lease.key())).get(0);
  }

  /** Whether a record is as the delivery's claim left it. */
  static boolean isOurs(MessageDelivery d, StoredRecord r) {
    return r != null
        && r.fence() == d.lease.fence()
        && (r.state() != State.PROCESSING || r.owner().equals(d.lease.owner()));
  }

  /** Ends a delivery whose lease is lost. Another claim of its key is live, or was. */
  void fenced(MessageDelivery d) {
    d.completed = false;
    d.lease = null;
    d.end(new Result(Outcome.FENCED, lease(d.rules).toMillis(), null), d.error);
  }

  /**
   * Decides what follows from deliveries that have ended, and makes it durable. Those that are settled
   * may be acknowledged, unless they are in place. One whose lane is free by now, where it had to
   * park, is OPENED again: claim it.
   *
   * @throws StoreException where some are not durable, and are not settled: settle them again, as often
   *     as it takes, and never acknowledge them (DEDUP-021)
   */
  public void settle(List<MessageDelivery> deliveries) {
    settler.settle(deliveries);
  }

  /**
   * Returns the claims of READY deliveries whose handler never started, and the attempts with them:
   * for a shutdown, or a partition that is lost. They are OPENED again (DEDUP-023).
   */
  public void giveBack(List<MessageDelivery> deliveries) {
    List<Settlement> back = new ArrayList<>();
    for (MessageDelivery d : deliveries) {
      if (d.status != Status.READY) {
        continue;
      }
      d.decision = null;
      if (d.held()) {
        back.add(followUps.inPlace(d, true).build());
      }
      d.again();
    }
    if (!back.isEmpty()) {
      store.settle(back);
    }
  }

  /** How long a handler may take. */
  public Duration timeout(Rules rules) {
    return rules.handlerTimeout() == null ? config.handlerTimeout() : rules.handlerTimeout();
  }

  /** How long a claim of a route holds. */
  Duration lease(Rules rules) {
    return rules.mode() == Mode.IDEMPOTENT ? config.lease() : timeout(rules).plus(LEASE_MARGIN);
  }

  /** How old a claim may be when its handler begins. */
  long slackNanos(Rules rules) {
    return rules.mode() == Mode.IDEMPOTENT
        ? config.lease().toNanos() / 3
        : LEASE_MARGIN.toNanos() / 2;
  }

  void storeError() {
    observer.measure(Metric.IDEM_STORE_ERRORS_TOTAL, store.name(), 1);
  }

  void measure(Metric metric, double value) {
    observer.measure(metric, config.scope(), value);
  }

  /** Ends the timer of leases, and writes the last counts. */
  @Override
  public void close() {
    beats.close();
    if (tally != null) {
      tally.close();
    }
  }
}
