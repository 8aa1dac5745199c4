package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
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
  private final FollowUps followUps;
  private final Reports reports;

  Settler(Guard guard, FollowUps followUps, Reports reports) {
    this.guard = guard;
    this.followUps = followUps;
    this.reports = reports;
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
        pass.settle(d, followUps.inPlace(d, action == Action.DEFER));
      } else {
        done(d);
      }
    } else if (action == Action.DEAD_LETTER) {
      pass.settle(d, followUps.dead(d));
    } else {
      pass.settle(d, followUps.next(d));
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
      reports.tell(d);
    }
  }
}
