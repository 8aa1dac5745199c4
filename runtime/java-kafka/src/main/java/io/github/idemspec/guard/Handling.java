package io.github.idemspec.guard;

import java.time.Duration;

/** A handler that runs: its thread, and its time limit. */
final class Handling {
  private final Thread thread = Thread.currentThread();
  private final long limit;
  private boolean over;
  private boolean timedOut;
  private boolean cancelled;

  Handling(long startNanos, Duration limit) {
    this.limit = startNanos + limit.toNanos();
  }

  /** Interrupts it where its time is over, and says whether it goes on being watched. */
  synchronized boolean watch(long nowNanos) {
    if (over || timedOut) {
      return false;
    }
    if (nowNanos - limit < 0) {
      return true;
    }
    timedOut = true;
    thread.interrupt();
    return false;
  }

  synchronized void cancel() {
    if (!over) {
      cancelled = true;
      thread.interrupt();
    }
  }

  /** Ends it: nobody interrupts the thread any more, and it forgets that somebody has. */
  synchronized void finish() {
    over = true;
    if (timedOut || cancelled) {
      Thread.interrupted();
    }
  }

  synchronized boolean timedOut() {
    return timedOut;
  }

  synchronized boolean cancelled() {
    return cancelled;
  }
}
