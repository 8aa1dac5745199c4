package io.github.idemspec.kafka;

import io.github.idemspec.guard.Message;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.v1.Header;

/** A delivery in a consumer. But for the delivery it is under the engine's lock. */
final class Task {
  /** Where it is. */
  enum State {
    /** Behind another one of its lane. */
    IN_LANE,
    /** To be claimed. */
    WAITING,
    /** In a call to the store. */
    CLAIMING,
    /** Claimed. */
    RUNNABLE,
    /** In its handler. */
    RUNNING,
    /** In a call to the store, or waiting for one. */
    SETTLING,
    /** In place, until a timer wakes it. */
    HELD,
    /** Over, for this consumer. */
    GONE;

    /** Somebody is at work on it, who has to see what became of its partition. */
    boolean inFlight() {
      return this == CLAIMING || this == RUNNABLE || this == RUNNING || this == SETTLING;
    }
  }

  final MessageDelivery delivery;
  final Part part;

  /** In memory, about. */
  final int size;

  final Route route;

  /** The route's, or null where it has none. */
  final Rest rest;

  final Watermark.Mark mark;
  State state = State.IN_LANE;
  Lanes.Lane lane;

  /** It may take the process along, and has to be claimed alone. */
  boolean suspect;

  /** It is claimed with nothing else in the process. */
  boolean alone;

  /** It shows whether a route that rests works again. */
  boolean probe;

  /** It is not to run, but to wait in the store until it is due. */
  boolean toStore;

  /** When it is tried again, by System.nanoTime. */
  long due;

  /** Of its settlement. */
  int tries;

  Task(MessageDelivery delivery, Part part, Watermark.Mark mark, Rest rest) {
    this.delivery = delivery;
    this.part = part;
    this.mark = mark;
    this.rest = rest;
    route = rest == null ? null : rest.route;
    size = sizeOf(delivery.message());
  }

  private static int sizeOf(Message m) {
    int size = 64 + (m.key() == null ? 0 : m.key().length);
    size += m.value() == null ? 0 : m.value().length;
    for (Header h : m.headers()) {
      size += h.name().length() + 48 + (h.value() == null ? 0 : h.value().length);
    }
    return size;
  }
}
