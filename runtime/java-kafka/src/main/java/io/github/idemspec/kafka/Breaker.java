package io.github.idemspec.kafka;

import java.time.Duration;

/**
 * When a route rests: an outage must not empty a topic into the dead letters (RETRY-031).
 *
 * @param failures how many failures of different keys have to follow each other, without a success
 *     between them; 0: it never rests
 * @param pause how long it rests before the first probe; each probe that fails doubles it
 * @param maxPause up to here
 */
public record Breaker(int failures, Duration pause, Duration maxPause) {
  /** Ten failures, one second, and thirty. */
  public static final Breaker DEFAULT =
      new Breaker(10, Duration.ofSeconds(1), Duration.ofSeconds(30));

  /** A route that never rests. */
  public static final Breaker NONE = new Breaker(0, Duration.ofSeconds(1), Duration.ofSeconds(1));

  /** Checks the times. */
  public Breaker {
    if (pause.toMillis() < 1 || maxPause.compareTo(pause) < 0) {
      throw new IllegalArgumentException(
          "pause is "
              + pause
              + ", and maxPause "
              + maxPause
              + ": give a millisecond or more, and no less than that");
    }
  }
}
