package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lane;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.Transactor;
import io.github.idemspec.v1.Admission;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.Transport;
import io.github.idemspec.v1.Xxh64;
import java.security.SecureRandom;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;

/**
 * Guards the deliveries of one scope, on a store with tables for what follows. Its methods may be
 * called from several threads, for different deliveries.
 */
public final class Guard implements AutoCloseable {
  /** What a lease that nobody renews has beyond the handler's time limit, to settle in. */
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(10);

  /** How long a delivery is deferred that the store kept from starting. */
  private static final long PAUSE_MS = 1000;

  private static final SecureRandom RANDOM = new SecureRandom();

  final GuardConfig config;
  final Store store;
  private final Beats beats;
  private final Settler settler;
  private final Batches batches;

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
    beats = new Beats(store, config.lease(), this::storeError);
    settler = new Settler(this);
    batches = new Batches(this);
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

  /** Who sees what happens. */
  public Observer observer() {
    return config.observer();
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
    String origin = Topics.origin(message.source().topic(), config.scope());
    MessageDelivery d = new MessageDelivery(message, origin, Instant.now());
    d.rules = Rules.of(Mode.IDEMPOTENT);
    try {
      d.headers = Headers.parse(Transport.KAFKA, message.headers());
    } catch (IdemException e) {
      d.end(Result.of(Outcome.MALFORMED, "BAD_HEADERS: " + e.getMessage()), e);
      return d;
    }
    String target = d.headers.text(HeaderName.TARGET_SCOPE);
    if (target != null && !target.equals(config.scope())) {
      d.skip();
      return d;
    }
    d.key = d.text(HeaderName.IDEMPOTENCY_KEY);
    d.retryCount = d.headers.retryCount();
    d.holdCount = d.headers.holdCount();
    String produced = d.headers.text(HeaderName.PRODUCED_AT);
    if (produced != null) {
      try {
        d.produced = Instant.parse(produced);
      } catch (DateTimeParseException e) {
        // A fault of context is no fault of the message.
      }
    }
    d.bizKey = d.text(HeaderName.BIZ_KEY);
    if (d.bizKey.isEmpty() && message.key() != null && message.key().length > 0) {
      d.bizKey = BizKeys.of(message.key());
    }
    return d;
  }

  /** Applies the rules of a route: size, key, policy, lane. */
  public void route(MessageDelivery d, Rules rules) {
    d.rules = rules;
    if (d.status != Status.OPENED) {
      return;
    }
    byte[] payload = d.message.value();
    if (payload != null && payload.length > rules.maxBytes()) {
      String text = payload.length + " bytes, the limit is " + rules.maxBytes();
      d.end(Result.of(Outcome.MALFORMED, "MESSAGE_TOO_LARGE: " + text), null);
      return;
    }
    if (d.key.isEmpty() && !takeKey(d)) {
      return;
    }
    d.policy = Policy.resolve(d.headers.policy(), rules.policy().toValues(), config.limits());
    if (rules.order() == Order.PARK && !d.key.isEmpty() && !d.bizKey.isEmpty()) {
      d.lane = new Lane(d.origin, d.bizKey);
    }
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
      d.end(shadowResult(d, seen), null);
    }
    settler.decide(d);
    d.shadow = true;
    settler.tell(d);
    d.skip();
  }

  private static Result shadowResult(MessageDelivery d, Seen seen) {
    String reason = null;
    if (d.rules.derive() != null) {
      try {
        String key = d.rules.derive().apply(d.message);
        reason = key.equals(d.key) ? null : "the schema's key is " + key;
      } catch (RuntimeException e) { // The function is the user's.
        return Result.of(Outcome.MALFORMED, "BAD_KEY: " + e);
      }
    }
    boolean keyed = !d.key.isEmpty();
    return Result.of(keyed ? seen.add(d.key, d.text(HeaderName.FINGERPRINT)) : Outcome.OK, reason);
  }

  /** Finds a key for a message without one; false where the delivery ends (KEY-022). */
  private static boolean takeKey(MessageDelivery d) {
    switch (d.rules.missingKey()) {
      case PASS_THROUGH:
        return true;
      case DERIVE:
        try {
          String key = d.rules.derive().apply(d.message);
          Header header = Header.of(HeaderName.IDEMPOTENCY_KEY.text(), key);
          d.key = Headers.parse(Transport.KAFKA, List.of(header)).idempotencyKey();
          return true;
        } catch (RuntimeException e) { // The function is the user's.
          d.end(Result.of(Outcome.MALFORMED, "BAD_KEY: " + e), e);
          return false;
        }
      default:
        String text = "MISSING_KEY: no idempotency_key header; Rules.derive or passThrough take it";
        d.end(Result.of(Outcome.MALFORMED, text), null);
        return false;
    }
  }

  /**
   * Asks the store which of the deliveries that are OPENED may run, all in one call. Where it throws a
   * {@link StoreException} call it again with the same ones, which then claim by the same owner
   * (DEDUP-013).
   */
  public void claim(List<MessageDelivery> deliveries) {
    List<MessageDelivery> asked = new ArrayList<>(deliveries.size());
    List<Claim> claims = new ArrayList<>(deliveries.size());
    String prefix = token();
    long now = System.nanoTime();
    for (MessageDelivery d : deliveries) {
      if (d.status != Status.OPENED) {
        continue;
      }
      if (d.key.isEmpty()) {
        d.status = Status.READY;
        continue;
      }
      if (d.owner == null) {
        d.owner = prefix + "." + Integer.toString(asked.size(), Character.MAX_RADIX);
        d.claimedAt = now;
      }
      asked.add(d);
      claims.add(claimOf(d));
    }
    if (asked.isEmpty()) {
      return;
    }
    List<Grant> grants;
    try {
      grants = store.claim(claims);
    } catch (StoreException e) {
      storeError();
      throw e;
    }
    for (int i = 0; i < asked.size(); i++) {
      granted(asked.get(i), grants.get(i));
    }
  }

  /** 16 characters for 12 random bytes. */
  private static String token() {
    byte[] random = new byte[12];
    RANDOM.nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  private Claim claimOf(MessageDelivery d) {
    return new Claim(
        config.scope(),
        d.key,
        d.text(HeaderName.IDEMPOTENCY_KEY_PREVIOUS),
        d.owner,
        d.text(HeaderName.FINGERPRINT),
        d.redriveCount(),
        d.headers.retryCount(),
        d.headers.holdCount(),
        d.policy.maxRetry() + Admission.EXTRA_ATTEMPTS,
        lease(d.rules),
        isOld(d),
        d.lane);
  }

  private boolean isOld(MessageDelivery d) {
    Instant kept = d.received.plus(config.clockSkew()).minus(config.retention());
    return d.produced != null && d.produced.isBefore(kept);
  }

  private void granted(MessageDelivery d, Grant grant) {
    d.grant = grant;
    d.lease = grant.lease();
    d.owner = null;
    d.retryCount = Math.max(d.retryCount, grant.retryCount());
    d.holdCount = Math.max(d.holdCount, grant.holdCount());
    if (grant.parked()) {
      d.status = Status.PARKED;
      return;
    }
    Outcome outcome = grant.outcome();
    if (outcome == null) {
      d.status = Status.READY;
      d.alone = grant.recovered() && grant.attempts() >= 2;
      return;
    }
    if (outcome == Outcome.DUPLICATE) {
      d.value = grant.result();
    }
    d.end(new Result(outcome, grant.waitMs(), reasonOf(d, outcome)), null);
  }

  private String reasonOf(MessageDelivery d, Outcome outcome) {
    switch (outcome) {
      case KEY_REUSED:
        return "KEY_REUSED: its fingerprint is "
            + d.text(HeaderName.FINGERPRINT)
            + ", and the key was used with "
            + d.grant.recordFingerprint();
      case CRASH_LOOP:
        return "CRASH_LOOP: "
            + (d.policy.maxRetry() + Admission.EXTRA_ATTEMPTS)
            + " attempts are used up";
      case TOO_OLD:
        return "TOO_OLD: it was produced at "
            + d.produced
            + ", and records are kept for "
            + config.retention();
      default:
        return null;
    }
  }

  /**
   * Runs the handler of a READY delivery, and ends it with what came of it. It waits for the handler
   * to return: at its time limit, and where the lease is lost, the thread is interrupted (DEDUP-023,
   * DEDUP-028). Where the heap is exhausted, or the virtual machine fails otherwise, that is thrown: the
   * delivery has not ended, and must not be acknowledged.
   */
  public void run(MessageDelivery d, Handler handler) {
    if (d.status != Status.READY || !refresh(d)) {
      return;
    }
    Handling handling = new Handling(System.nanoTime(), timeout(d.rules));
    conclude(d, handling, call(d, handling, () -> handler.handle(d)));
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
    if (d.status != Status.READY || !refresh(d)) {
      return;
    }
    boolean[] completed = {false};
    Complete complete =
        new Complete() {
          @Override
          public void with(Consumer<Completion> how) {
            checkResult(d);
            if (d.held()) {
              how.accept(d.completion());
              completed[0] = true;
            }
          }

          @Override
          public void on(Connection connection) {
            with(completion -> ((Transactor) store).completeTx(connection, completion));
          }
        };
    Handling handling = new Handling(System.nanoTime(), timeout(d.rules));
    Throwable error = call(d, handling, () -> transaction.run(complete));
    ended(d, handling, error, completed[0]);
  }

  void ended(MessageDelivery d, Handling handling, Throwable error, boolean completed) {
    if (error instanceof NotBegunException) {
      notStarted(d, error);
      return;
    }
    if (error instanceof FencedException) {
      fenced(d);
      d.error = error;
      return;
    }
    if (error != null && completed && isCommitted(d, error)) {
      return;
    }
    conclude(d, handling, error);
    d.completed = error == null && completed;
  }

  /** A result that does not fit: what is in the transaction can still be taken back. */
  private static void checkResult(MessageDelivery d) {
    NonRetryableException fault = faultOfResult(d);
    if (fault != null) {
      throw fault;
    }
  }

  /** Of a result that does not fit; else null. */
  static NonRetryableException faultOfResult(MessageDelivery d) {
    if (d.value == null || d.value.length <= StoredRecord.MAX_RESULT) {
      return null;
    }
    return new NonRetryableException(
        "RESULT_TOO_LARGE", d.value.length + " bytes, the limit is " + StoredRecord.MAX_RESULT);
  }

  interface Call {
    void run() throws Exception;
  }

  private Throwable call(MessageDelivery d, Handling handling, Call call) {
    return call(List.of(d), handling, call);
  }

  /** Runs a handler, and gives what it threw, or null. */
  Throwable call(List<MessageDelivery> deliveries, Handling handling, Call call) {
    long start = System.nanoTime();
    for (MessageDelivery d : deliveries) {
      d.handling = handling;
      beats.add(d, handling);
    }
    try {
      call.run();
      return null;
    } catch (StackOverflowError e) {
      return e;
    } catch (VirtualMachineError e) { // It says nothing of the message, which is not to be settled.
      throw e;
    } catch (Exception | Error e) {
      return e;
    } finally {
      for (MessageDelivery d : deliveries) {
        beats.remove(d);
        d.handling = null;
      }
      handling.finish();
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      deliveries.forEach(d -> d.handler = took);
    }
  }

  /** Ends a delivery by what its handler threw. */
  void conclude(MessageDelivery d, Handling handling, Throwable error) {
    if (d.lost) {
      fenced(d);
      d.error = error;
      return;
    }
    boolean interrupted = error != null && Result.isInterruption(error);
    if (error == null) {
      d.end(Result.OK, null);
    } else if (interrupted && handling != null && handling.timedOut()) {
      String text = "TIMEOUT: the handler took longer than " + timeout(d.rules);
      d.end(Result.of(Outcome.RETRYABLE, text), error);
    } else if (interrupted && handling != null && handling.cancelled()) {
      // It was told to stop, which says nothing of the message.
      d.end(Result.of(Outcome.IN_PROGRESS, null), error);
    } else {
      d.end(Result.of(error), error);
    }
  }

  /**
   * Finds out what became of a COMMIT that came back with an error; true where that is known, and the
   * delivery has ended by it. Otherwise it may still come true: what is written under the lease then
   * waits for the row, finds the claim gone, and looks again.
   */
  private boolean isCommitted(MessageDelivery d, Throwable cause) {
    d.error = cause;
    d.unsure = true;
    StoredRecord record;
    try {
      record = record(d);
    } catch (StoreException e) {
      return false;
    }
    if (!isOurs(d, record)) {
      fenced(d);
      return true;
    }
    if (record.state() != State.SUCCESS) {
      return false;
    }
    d.end(Result.OK, cause);
    d.completed = true;
    return true;
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

  /** It is deferred, for what is no fault of it: the claim and the attempt go back (DEDUP-023). */
  private static void notStarted(MessageDelivery d, Throwable cause) {
    String text = "NOT_STARTED: " + cause.getMessage();
    d.end(new Result(Outcome.IN_PROGRESS, PAUSE_MS, text), cause);
  }

  /** Ends a delivery whose lease is lost. Another claim of its key is live, or was. */
  void fenced(MessageDelivery d) {
    d.completed = false;
    d.lease = null;
    d.end(new Result(Outcome.FENCED, lease(d.rules).toMillis(), null), d.error);
  }

  /**
   * Renews a lease that has been waiting for its turn, so that the handler begins with nearly all of
   * it; false where it is lost, or nobody can say.
   */
  boolean refresh(MessageDelivery d) {
    long slack =
        d.rules.mode() == Mode.IDEMPOTENT ? config.lease().toNanos() / 3 : LEASE_MARGIN.toNanos() / 2;
    long now = System.nanoTime();
    if (!d.held() || now - d.claimedAt < slack) {
      return true;
    }
    try {
      if (!store.renew(List.of(new Renewal(d.lease, lease(d.rules))))[0]) {
        fenced(d);
        return false;
      }
    } catch (StoreException e) { // Whether it is held is the store's to say when it is settled.
      storeError();
      notStarted(d, e);
      return false;
    }
    d.claimedAt = now;
    return true;
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
        back.add(settler.inPlace(d, true).build());
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
  private Duration lease(Rules rules) {
    return rules.mode() == Mode.IDEMPOTENT ? config.lease() : timeout(rules).plus(LEASE_MARGIN);
  }

  void storeError() {
    measure(Metric.IDEM_STORE_ERRORS_TOTAL, 1);
  }

  void measure(Metric metric, double value) {
    try {
      config.observer().measure(metric, config.scope(), value);
    } catch (RuntimeException e) {
      // It changes no outcome.
    }
  }

  /** Ends the timer of leases, and writes the last counts. */
  @Override
  public void close() {
    beats.close();
    if (tally != null) {
      tally.close();
    }
  }

  /** The lanes of messages without a biz_key header. */
  private static final class BizKeys {
    private BizKeys() {}

    /**
     * The key on the broker. One that is no text of the spec is named by its hash; two that share one
     * are merely in one lane.
     */
    static String of(byte[] key) {
      try {
        Header header = new Header(HeaderName.BIZ_KEY.text(), key);
        return Headers.parse(Transport.KAFKA, List.of(header)).text(HeaderName.BIZ_KEY);
      } catch (IdemException e) {
        return "hash:" + Xxh64.hex(Xxh64.hash(key));
      }
    }
  }
}
