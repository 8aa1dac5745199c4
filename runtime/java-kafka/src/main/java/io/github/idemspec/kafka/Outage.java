package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Result;
import io.github.idemspec.v1.Outcome;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a circuit makes of a delivery that ran, and what is told of a route that rests. */
final class Outage {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);

  private Outage() {}

  /** A failure while the route rests costs nothing. */
  static void judge(Circuit circuit, MessageDelivery d, boolean probe, long now) {
    if (circuit.ends(d.key(), verdictOf(d), probe, now)) {
      long wait = TimeUnit.NANOSECONDS.toMillis(circuit.left(now));
      d.end(new Result(Outcome.IN_PROGRESS, wait, null), d.error());
    }
  }

  private static Circuit.Verdict verdictOf(MessageDelivery d) {
    switch (d.outcome()) {
      case OK:
        return Circuit.Verdict.WORKED;
      case RETRYABLE:
      case THROTTLED:
        return Circuit.Verdict.BROKE;
      default:
        return Circuit.Verdict.NEITHER;
    }
  }

  /** Tells of a route that begins to rest, or works again. */
  static void tell(Guard guard, String eventType, boolean rested, boolean rests, Throwable error) {
    if (rested == rests) {
      return;
    }
    if (rests) {
      LOG.error(
          "the route rests, since failures of different keys follow each other; its messages wait, and"
              + " it is probed: event_type={}",
          eventType,
          error);
    } else {
      LOG.warn("the route works again: event_type={}", eventType);
    }
    guard
        .observer()
        .measureRoute(Metric.IDEM_ROUTE_BREAKER_OPEN, guard.scope(), eventType, rests ? 1 : 0);
  }
}
