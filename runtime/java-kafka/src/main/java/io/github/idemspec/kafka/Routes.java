package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Order;
import io.github.idemspec.guard.Result;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.v1.Outcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The routes of one consumer, by event type. They are the polling thread's. */
final class Routes {
  private final Guard guard;
  private final Set<String> ignore;
  private final Map<String, Rest> routes = new HashMap<>();

  Routes(Guard guard, Set<String> ignore, List<Route> all) {
    this.guard = guard;
    this.ignore = ignore;
    for (Route route : all) {
      if (routes.put(route.eventType, new Rest(route)) != null) {
        throw new IllegalArgumentException("two routes for " + route.eventType + ": give one");
      }
    }
  }

  /** Finds the route of a message. What is of no route ends here (CONS-006). */
  Rest take(MessageDelivery d) {
    if (d.status() != Status.OPENED) {
      return null;
    }
    Rest rest = find(d.eventType());
    if (rest == null) {
      endWithout(d);
      return null;
    }
    // What is blocked for too long parks.
    Rules rules = rest.route.rules;
    guard.route(d, rules.order() == Order.BLOCK ? rules.order(Order.PARK) : rules);
    if (rest.route.shadow) {
      guard.shadow(d, rest.seen);
    }
    return rest;
  }

  private Rest find(String event) {
    Rest rest = routes.get(event);
    if (rest == null && event.isEmpty() && routes.size() == 1) {
      return routes.values().iterator().next(); // The only one it can be.
    }
    return rest;
  }

  private void endWithout(MessageDelivery d) {
    String event = d.eventType();
    if (ignore.contains(event)) {
      d.skip();
      return;
    }
    String why =
        event.isEmpty()
            ? "no event_type header, and several routes: set the header"
            : "no route handles " + event + ", nor is it ignored";
    d.end(Result.of(Outcome.NON_RETRYABLE, "UNKNOWN_EVENT_TYPE: " + why), null);
  }
}
