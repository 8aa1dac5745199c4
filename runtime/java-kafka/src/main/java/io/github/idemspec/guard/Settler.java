package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.DeadLetter;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Retry;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.NextHeaders;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Transport;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what follows from deliveries, and makes it durable. */
final class Settler {
  private static final Logger LOG = LoggerFactory.getLogger(Guard.class);

  /** What is fenced is deferred in another pass, under no claim, which nothing can fence out. */
  private static final int PASSES = 4;

  private final Guard guard;

  Settler(Guard guard) {
    this.guard = guard;
  }

  /** One pass over some deliveries. */
  private static final class Pass {
    final List<Completion> completions = new ArrayList<>();
    final List<MessageDelivery> completing = new ArrayList<>();
    final List<Settlement> settlements = new ArrayList<>();
    final List<MessageDelivery> settling = new ArrayList<>();
    final List<MessageDelivery> again = new ArrayList<>();
    RuntimeException failure;

    void failed(RuntimeException e) {
      if (failure == null) {
        failure = e;
      } else if (failure != e) {
        failure.addSuppressed(e);
      }
    }

    void settle(MessageDelivery d, Settlement.Builder settlement) {
      settlements.add(settlement.build());
      settling.add(d);
    }
  }

  void settle(List<MessageDelivery> deliveries) {
    List<MessageDelivery> todo = new ArrayList<>(deliveries.size());
    for (MessageDelivery d : deliveries) {
      boolean ended = d.status == Status.ENDED || d.status == Status.PARKED;
      if (d.completed && !d.settled && d.status == Status.ENDED) {
        decide(d); // SUCCESS is there already, which leaves nothing to write.
        done(d);
      } else if (!d.settled && (ended || d.status == Status.SKIPPED)) {
        todo.add(d);
      }
    }
    RuntimeException failure = null;
    for (int i = 0; i < PASSES && !todo.isEmpty(); i++) {
      Pass pass = new Pass();
      pass.failure = failure;
      for (MessageDelivery d : todo) {
        try {
          plan(pass, d);
        } catch (IdemException e) { // The next delivery is due after the year 9999.
          pass.failed(new StoreException("write the next headers of " + d.message.source(), e));
        }
      }
      complete(pass);
      settleSome(pass, pass.settlements, pass.settling);
      todo = pass.again;
      failure = pass.failure;
    }
    if (failure != null) {
      throw failure;
    }
    if (!todo.isEmpty()) {
      throw new StoreException(
          "settle " + todo.get(0).message.source() + ": the store fences out what holds no claim",
          null);
    }
  }

  /** Decides, and puts a delivery where it has to go first. */
  private void plan(Pass pass, MessageDelivery d) {
    if (d.status == Status.SKIPPED) {
      d.result = Result.OK;
      d.decision = Decision.ack();
      done(d);
      return;
    }
    decide(d);
    d.inPlace = false;
    Action action = d.decision.action();
    boolean waits = action == Action.RETRY || action == Action.DEFER;
    if (action == Action.ACK) {
      planAck(pass, d);
    } else if (d.holdInPlace && waits) {
      d.inPlace = true;
      if (d.held()) {
        pass.settle(d, inPlace(d, action == Action.DEFER));
      } else {
        done(d);
      }
    } else if (action == Action.DEAD_LETTER) {
      pass.settle(d, dead(d));
    } else {
      pass.settle(d, next(d));
    }
  }

  void decide(MessageDelivery d) {
    if (d.status == Status.PARKED) {
      // It waits for the head of its lane, and not for a time.
      d.result = Result.of(Outcome.IN_PROGRESS, "PARKED");
      d.decision = Decision.defer(0, d.retryCount, d.holdCount);
      return;
    }
    Result r = d.result;
    d.decision =
        Decision.of(
            r.outcome(), d.backoffKey(), d.retryCount, d.holdCount, d.policy, r.waitMs(), r.reason());
  }

  /** Completes what is held, lets the lane go on, or has nothing to do. */
  private void planAck(Pass pass, MessageDelivery d) {
    if (d.held() && !d.completed) {
      if (d.value != null && d.value.length > StoredRecord.MAX_RESULT) {
        // The effect is there, and cannot be taken back.
        LOG.error("{}: a result of {} bytes is dropped", d.message.source(), d.value.length);
        d.value = null;
      }
      pass.completions.add(d.completion());
      pass.completing.add(d);
    } else if (d.outcome() == Outcome.DUPLICATE && d.grant.head() && d.lane != null) {
      Lease none = Lease.none(guard.scope(), d.key);
      pass.settle(d, Settlement.failed(none).lane(d.lane, true));
    } else {
      done(d);
    }
  }

  private void complete(Pass pass) {
    if (pass.completions.isEmpty()) {
      return;
    }
    boolean[] held;
    try {
      held = guard.store.complete(pass.completions);
    } catch (StoreException e) {
      guard.storeError();
      pass.completing.forEach(d -> d.unsure = true);
      pass.failed(e);
      return;
    }
    for (int i = 0; i < held.length; i++) {
      MessageDelivery d = pass.completing.get(i);
      if (held[i]) {
        d.completed = true;
        done(d);
      } else {
        refused(pass, d, State.SUCCESS);
      }
    }
  }

  /**
   * Writes a batch; one that the store refuses for what is in it is cut in two, so that one bad row
   * does not hold back the others.
   */
  private void settleSome(Pass pass, List<Settlement> settlements, List<MessageDelivery> of) {
    if (of.isEmpty()) {
      return;
    }
    List<Settled> answers;
    try {
      answers = guard.store.settle(settlements);
    } catch (StoreException e) {
      guard.storeError();
      of.forEach(d -> d.unsure = true);
      int half = of.size() / 2;
      if (half == 0 || !isAboutRows(e)) {
        pass.failed(e);
        return;
      }
      settleSome(pass, settlements.subList(0, half), of.subList(0, half));
      settleSome(pass, settlements.subList(half, of.size()), of.subList(half, of.size()));
      return;
    }
    for (int i = 0; i < of.size(); i++) {
      MessageDelivery d = of.get(i);
      switch (answers.get(i)) {
        case WRITTEN:
          done(d);
          break;
        case UNPARKED:
          d.again();
          break;
        default:
          refused(pass, d, settlements.get(i).state());
      }
    }
  }

  /** A database refuses a batch for what is in it: data, constraint or limit. */
  private static boolean isAboutRows(StoreException e) {
    String state = e.sqlState();
    return state != null
        && (state.startsWith("22") || state.startsWith("23") || state.startsWith("54"));
  }

  /**
   * A write under a lease that is no longer held. It may be this very write, whose reply was lost: the
   * record says so, by its fence. Else the delivery is deferred.
   */
  private void refused(Pass pass, MessageDelivery d, State wanted) {
    if (d.unsure) {
      StoredRecord r;
      try {
        r = guard.record(d);
      } catch (StoreException e) {
        pass.failed(e);
        return;
      }
      boolean success = r != null && r.state() == State.SUCCESS;
      if (Guard.isOurs(d, r) && (success || r.state() == wanted)) {
        if (success && wanted != State.SUCCESS) { // A COMMIT that came true late.
          d.result = Result.OK;
          d.decision = Decision.ack();
          d.inPlace = false;
        }
        d.completed = success;
        done(d);
        return;
      }
    }
    guard.measure(Metric.IDEM_LEASES_LOST_TOTAL, 1);
    guard.fenced(d);
    pass.again.add(d);
  }

  /** Leaves the record at this very delivery, with the counts it has come to (DEDUP-011). */
  Settlement.Builder inPlace(MessageDelivery d, boolean giveBack) {
    boolean decided = d.decision != null && d.decision.retryCount() >= 0;
    return Settlement.failed(d.lease)
        .giveBack(giveBack)
        .counts(d.redriveCount(), d.headers.retryCount(), d.headers.holdCount())
        .kept(
            decided ? (int) d.decision.retryCount() : d.retryCount,
            decided ? (int) d.decision.holdCount() : d.holdCount);
  }

  /** A retry, a hold or a deferral. */
  private Settlement.Builder next(MessageDelivery d) {
    Decision decision = d.decision;
    Action action = decision.action();
    int retries = (int) decision.retryCount();
    int holds = (int) decision.holdCount();
    List<Header> headers = headers(d);
    String reason = reason(d, headers);
    Retry row =
        new Retry(
            guard.scope(),
            d.key,
            d.eventType(),
            d.bizKey,
            column(d.text(HeaderName.EVENT_ID)),
            d.message.source(),
            d.redriveCount(),
            retries,
            holds,
            action,
            reason,
            Topics.retry(d.origin, guard.scope()),
            d.message.key(),
            headers,
            d.message.value(),
            d.delay(),
            d.status == Status.PARKED);
    return Settlement.failed(d.lease)
        .giveBack(action != Action.RETRY)
        .counts(d.redriveCount(), retries, holds)
        .retry(row)
        .lane(d.lane, action == Action.HOLD);
  }

  private Settlement.Builder dead(MessageDelivery d) {
    Settlement.Builder settlement;
    boolean malformed = d.outcome() == Outcome.MALFORMED;
    if (malformed && d.headers != null && d.held()) {
      // The same key may come with a payload that can be read (DEDUP-012).
      settlement = inPlace(d, true);
    } else {
      settlement =
          (malformed ? Settlement.failed(d.lease) : Settlement.dead(d.lease))
              .counts(d.redriveCount(), d.retryCount, d.holdCount);
    }
    // Without a claim it is another message with the head's key, which stays (CONS-014).
    return settlement.deadLetter(letter(d)).lane(d.lane, d.lane != null && d.held());
  }

  private DeadLetter letter(MessageDelivery d) {
    boolean faulty = d.headers == null;
    List<Header> headers = headers(d);
    return new DeadLetter(
        guard.scope(),
        faulty ? sound(d, HeaderName.IDEMPOTENCY_KEY) : d.key,
        faulty ? sound(d, HeaderName.EVENT_TYPE) : d.eventType(),
        faulty ? sound(d, HeaderName.BIZ_KEY) : d.bizKey,
        faulty ? sound(d, HeaderName.EVENT_ID) : column(d.text(HeaderName.EVENT_ID)),
        d.message.source(),
        d.redriveCount(),
        d.retryCount,
        d.holdCount,
        d.outcome(),
        reason(d, headers),
        d.origin,
        d.message.key(),
        headers,
        d.message.value());
  }

  /** Faulty headers keep their counts, which nobody could read (HDR-031). */
  private List<Header> headers(MessageDelivery d) {
    Decision decision = d.decision;
    if (d.headers == null) {
      decision = Decision.deadLetter(-1, -1, decision.rejectReason());
    }
    return NextHeaders.of(
        Transport.KAFKA,
        d.message.headers(),
        decision,
        guard.scope(),
        d.origin,
        System.currentTimeMillis());
  }

  /** What the reject_reason says; of what has none, the outcome or what came of it. */
  private static String reason(MessageDelivery d, List<Header> headers) {
    if (d.decision.rejectReason() == null) {
      return d.result.reason() == null ? d.outcome().name() : d.result.reason();
    }
    String name = HeaderName.REJECT_REASON.text();
    for (Header header : headers) {
      if (header.name().equals(name)) {
        return new String(header.value(), StandardCharsets.UTF_8);
      }
    }
    return d.outcome().name();
  }

  /** A text as a database can hold it: one with a zero is left to the headers. */
  private static String column(String text) {
    return text.indexOf(0) >= 0 ? "" : text;
  }

  /** What of faulty headers is sound all the same, to find the dead letter by. */
  private static String sound(MessageDelivery d, HeaderName name) {
    List<Header> same = new ArrayList<>();
    for (Header header : d.message.headers()) {
      if (header.name().equals(name.text())) {
        same.add(header);
      }
    }
    try {
      String text = Headers.parse(Transport.KAFKA, same).text(name);
      return text == null ? "" : column(text);
    } catch (IdemException e) {
      return "";
    }
  }

  private void done(MessageDelivery d) {
    d.settled = true;
    if (d.inPlace) { // What again() goes on from.
      d.retryCount = (int) d.decision.retryCount();
      d.holdCount = (int) d.decision.holdCount();
    }
    if (guard.tally != null) {
      guard.tally.add(d);
    }
    if (!d.shadow) {
      tell(d);
    }
  }

  /** Tells the observer and the log. */
  void tell(MessageDelivery d) {
    try {
      guard.config.observer().delivered(d);
      log(d);
    } catch (RuntimeException e) {
      // It changes no outcome.
    }
  }

  /** A line about a delivery: never its payload. */
  private void log(MessageDelivery d) {
    if (d.shadow) {
      LOG.info(
          "shadow {} {}: idempotency_key={} event_type={} outcome={} reason={}",
          d.decision.action(),
          d.message.source(),
          d.key,
          d.eventType(),
          d.outcome(),
          d.result.reason());
      return;
    }
    String line =
        "{} {}: idempotency_key={} event_type={} scope={} outcome={} reason={} delay={}";
    Object[] facts = {
      d.decision.action(),
      d.message.source(),
      d.key,
      d.eventType(),
      guard.scope(),
      d.outcome(),
      d.result.reason(),
      d.delay()
    };
    switch (d.decision.action()) {
      case DEAD_LETTER:
        LOG.error(line, facts);
        break;
      case RETRY:
        LOG.warn(line, facts);
        break;
      case ACK:
        LOG.debug(line, facts);
        break;
      default:
        LOG.info(line, facts);
    }
  }
}
