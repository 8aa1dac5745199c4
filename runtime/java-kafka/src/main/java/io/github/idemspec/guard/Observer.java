package io.github.idemspec.guard;

/** Sees what happens. What it throws changes no outcome. */
public interface Observer {
  /** One that sees nothing. */
  Observer NONE = new Observer() {};

  /** Another one, what it throws left out. */
  static Observer safe(Observer observer) {
    return new SafeObserver(observer);
  }

  /** A delivery has ended, and what follows is durable. */
  default void delivered(MessageDelivery delivery) {}

  /**
   * A metric has moved: by so much for a counter, to this value for a gauge.
   *
   * @param of the scope; of {@link Metric#IDEM_STORE_ERRORS_TOTAL} the store's name, and the topic of what
   *     a scheduler or a relay has published
   */
  default void measure(Metric metric, String of, double value) {}

  /** The same of the route of an event type. */
  default void measureRoute(Metric metric, String scope, String eventType, double value) {
    measure(metric, scope, value);
  }
}
