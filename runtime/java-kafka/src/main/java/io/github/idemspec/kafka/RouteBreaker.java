package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.kafka.Circuit.State;
import io.github.idemspec.kafka.Circuit.Verdict;

/**
 * The breaker of one route, for a consumer of one's own whose messages wait where they are
 * (RETRY-031). {@link IdemConsumer} has it in itself.
 */
public final class RouteBreaker {
  private final Guard guard;
  private final String eventType;
  private final Circuit circuit;
  private MessageDelivery probe;

  /** One of a route. */
  public RouteBreaker(Guard guard, String eventType, Breaker settings) {
    this.guard = guard;
    this.eventType = eventType;
    circuit = new Circuit(settings);
  }

  /**
   * Whether a delivery may be claimed and run: the route works, or this one is to show whether it does.
   * Then {@link #ended} has to be called, whatever becomes of it.
   */
  public synchronized boolean mayRun(MessageDelivery d) {
    if (circuit.state() == State.CLOSED) {
      return true;
    }
    if (!circuit.isDue(System.nanoTime())) {
      return false;
    }
    circuit.starts(d.key());
    probe = d;
    return true;
  }

  /**
   * Takes note of a delivery before it is settled. One that failed while the route rests is deferred, and
   * costs no retry.
   *
   * @param ran its handler was called
   */
  public synchronized void ended(MessageDelivery d, boolean ran) {
    boolean probed = probe == d;
    boolean rested = circuit.state() != State.CLOSED;
    long now = System.nanoTime();
    if (probed) {
      probe = null;
    }
    if (ran) {
      Outage.judge(circuit, d, probed, now);
    } else if (probed) {
      circuit.ends(d.key(), Verdict.NEITHER, true, now);
    }
    Outage.tell(guard, eventType, rested, circuit.state() != State.CLOSED, d.error());
  }
}
