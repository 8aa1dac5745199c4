package io.github.idemspec.guard;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the observer and the log what became of deliveries. */
final class Reports {
  private static final Logger LOG = LoggerFactory.getLogger(Guard.class);

  private final String scope;
  private final Observer observer;

  Reports(String scope, Observer observer) {
    this.scope = scope;
    this.observer = observer;
  }

  /** Tells of one. */
  void tell(MessageDelivery d) {
    observer.delivered(d);
    try {
      log(d);
    } catch (RuntimeException e) {
      // A log that fails changes no outcome.
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
      scope,
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
