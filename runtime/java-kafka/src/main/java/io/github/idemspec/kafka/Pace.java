package io.github.idemspec.kafka;

import java.time.Duration;

/** How much is claimed ahead, by what handlers have taken. It is under the engine's lock. */
final class Pace {
  /** For how long work is claimed ahead: no longer, since leases run while claims wait. */
  private static final long AHEAD_NANOS = 300_000_000;

  private static final long FIRST_GUESS_NANOS = 1_000_000;

  private final int workers;
  private final int batch;

  /** What a handler takes, in nanoseconds. */
  private long handlerNanos = FIRST_GUESS_NANOS;

  Pace(ConsumerConfig config) {
    workers = config.workers();
    batch = config.batch();
  }

  /** Takes note of a handler of so many messages. */
  void add(Duration handler, int messages) {
    handlerNanos += (handler.toNanos() / messages - handlerNanos) / 64;
  }

  /** How many deliveries may be claimed and not begun. */
  long ahead() {
    long ahead = workers * (AHEAD_NANOS / Math.max(handlerNanos, 1_000));
    return Math.min(Math.max(ahead, 2L * workers), 2L * batch);
  }
}
