package io.github.idemspec.guard;

import java.util.Locale;

/** The metrics of a runtime in Java, by the names that all languages share. */
public enum Metric {
  /** Deliveries that ended, by outcome; derived from {@link Observer#delivered}. */
  IDEM_MESSAGES_TOTAL,
  /** Time in the handler; derived from {@link Observer#delivered}. */
  IDEM_HANDLER_SECONDS,
  /** Deliveries that were fetched and have not ended. */
  IDEM_MESSAGES_IN_FLIGHT,
  /** Calls of a store that failed. */
  IDEM_STORE_ERRORS_TOTAL,
  /** Claims that were lost while their handler ran. */
  IDEM_LEASES_LOST_TOTAL,
  /** Assignments of partitions that this process has got. */
  IDEM_REBALANCES_TOTAL,
  /** 1 while a route rests, 0 otherwise. */
  IDEM_ROUTE_BREAKER_OPEN,
  /** Messages whose transition another key had made; derived from {@link Observer#delivered}. */
  IDEM_SUPERSEDED_TOTAL,
  /** Rows of msg_retry that a scheduler has published, of a topic. */
  IDEM_RETRIES_PUBLISHED_TOTAL,
  /** Messages of the outbox that a relay has published, of a topic. */
  IDEM_OUTBOX_SENT_TOTAL;

  /** Prometheus's name. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
