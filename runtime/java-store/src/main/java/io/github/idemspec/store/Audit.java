package io.github.idemspec.store;

import java.util.Map;

/** The table idem_audit: what became of deliveries, which `idem audit` reads (CONS-040). */
public interface Audit {
  /**
   * Deliveries that are counted together.
   *
   * @param scope the consumer
   * @param eventType empty where the message has none
   * @param outcome one of chapter 7, or SUPERSEDED
   * @param action what followed
   * @param layer what kept the message from another effect: store, state or handler; or empty
   */
  record Kind(String scope, String eventType, String outcome, String action, String layer) {}

  /** Adds what was counted to the present hour: every ten seconds, and not for each message. */
  void count(Map<Kind, Long> counts);
}
