package io.github.idemspec.spring;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Order;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.guard.Seen;
import io.github.idemspec.kafka.Breaker;
import io.github.idemspec.kafka.RouteBreaker;

/** How the messages of one event type are treated, by whichever listener gets them. */
final class ListenerRoute {
  final Rules rules;
  final RouteBreaker breaker;
  private final Seen seen = new Seen();

  ListenerRoute(Guard guard, String eventType, Rules rules, Breaker breaker) {
    this.rules = rules.order() == Order.BLOCK ? rules.order(Order.PARK) : rules;
    this.breaker = new RouteBreaker(guard, eventType, breaker);
  }

  void shadow(Guard guard, MessageDelivery d) {
    synchronized (seen) {
      guard.shadow(d, seen);
    }
  }
}
