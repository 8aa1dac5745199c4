package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.DedupRecord.State;
import io.github.idemspec.v1.Outcome;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.List;

/** Runs handlers, with their time limits and leases, and ends deliveries by what came of them. */
final class Runs {
  /** How long a delivery is deferred that the store kept from starting. */
  private static final long PAUSE_MS = 1000;

  private final Guard guard;
  private final Beats beats;

  Runs(Guard guard, Beats beats) {
    this.guard = guard;
    this.beats = beats;
  }

  /** A handler, or a transaction around one. */
  interface Call {
    void run() throws Exception;
  }

  /** Runs the handler of one delivery. */
  void run(MessageDelivery d, Call handler) {
    if (mayRun(d)) {
      Handling handling = handling(d);
      conclude(d, handling, call(List.of(d), handling, handler));
    }
  }

  /** Runs a transaction of one delivery, which completes it. */
  void runTx(MessageDelivery d, Guard.Transaction transaction) {
    if (mayRun(d)) {
      Handling handling = handling(d);
      Completing complete = new Completing(guard.store, d);
      Throwable error = call(List.of(d), handling, () -> transaction.run(complete));
      ended(d, handling, error, complete.done());
    }
  }

  boolean mayRun(MessageDelivery d) {
    return d.status == Status.READY && refresh(d);
  }

  private Handling handling(MessageDelivery d) {
    return new Handling(System.nanoTime(), guard.timeout(d.rules));
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

  /** Ends a delivery by what its transaction threw. */
  void ended(MessageDelivery d, Handling handling, Throwable error, boolean completed) {
    if (error instanceof NotBegunException) {
      notStarted(d, error);
      return;
    }
    if (error instanceof FencedException) {
      guard.fenced(d);
      d.error = error;
      return;
    }
    if (error != null && completed && isCommitted(d, error)) {
      return;
    }
    conclude(d, handling, error);
    d.completed = error == null && completed;
  }

  /** Ends a delivery by what its handler threw. */
  void conclude(MessageDelivery d, Handling handling, Throwable thrown) {
    Throwable error = legible(thrown);
    if (d.lost) {
      guard.fenced(d);
      d.error = error;
      return;
    }
    boolean interrupted = error != null && Result.isInterruption(error);
    if (error == null) {
      d.end(Result.OK, null);
    } else if (interrupted && handling.timedOut()) {
      String text = "TIMEOUT: the handler took longer than " + guard.timeout(d.rules);
      d.end(Result.of(Outcome.RETRYABLE, text), error);
    } else if (interrupted && handling.cancelled()) {
      // It was told to stop, which says nothing of the message.
      d.end(Result.of(Outcome.IN_PROGRESS, null), error);
    } else {
      d.end(Result.of(error), error);
    }
  }

  /** An error that can be asked what it is: one whose own methods throw would end whoever reads it. */
  private static Throwable legible(Throwable error) {
    if (error == null) {
      return null;
    }
    try {
      Result.of(error);
      Result.isInterruption(error);
      error.printStackTrace(new PrintWriter(Writer.nullWriter()));
      return error;
    } catch (RuntimeException | StackOverflowError e) {
      String name = error.getClass().getName();
      return new RetryableException("a " + name + " that cannot be read: its methods throw");
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
      record = guard.record(d);
    } catch (StoreException e) {
      return false;
    }
    if (!Guard.isOurs(d, record)) {
      guard.fenced(d);
      return true;
    }
    if (record.state() != State.SUCCESS) {
      return false;
    }
    d.end(Result.OK, cause);
    d.completed = true;
    return true;
  }

  /** It is deferred, for what is no fault of it: the claim and the attempt go back (DEDUP-023). */
  private static void notStarted(MessageDelivery d, Throwable cause) {
    String text = "NOT_STARTED: " + cause.getMessage();
    d.end(new Result(Outcome.IN_PROGRESS, PAUSE_MS, text), cause);
  }

  /**
   * Renews a lease that has been waiting for its turn, so that the handler begins with nearly all of
   * it; false where it is lost, or nobody can say.
   */
  private boolean refresh(MessageDelivery d) {
    long now = System.nanoTime();
    if (!d.held() || now - d.claimedAt < guard.slackNanos(d.rules)) {
      return true;
    }
    try {
      Renewal renewal = new Renewal(d.lease, guard.lease(d.rules));
      if (!guard.store.renew(List.of(renewal))[0]) {
        guard.fenced(d);
        return false;
      }
    } catch (StoreException e) { // Whether it is held is the store's to say when it is settled.
      guard.storeError();
      notStarted(d, e);
      return false;
    }
    d.claimedAt = now;
    return true;
  }
}
