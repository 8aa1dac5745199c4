package io.github.idemspec.kafka;

import java.util.HashSet;
import java.util.Set;

/** The breaker of one route. Times are those of System.nanoTime, and arguments. */
final class Circuit {
  enum State {
    /** The route works. */
    CLOSED,
    /** It rests, until the time of the next probe. */
    OPEN,
    /** One delivery is on its way. */
    PROBING
  }

  /** What one delivery says of what the route depends on. */
  enum Verdict {
    /** The handler succeeded. */
    WORKED,
    /** RETRYABLE or THROTTLED. */
    BROKE,
    /** It was never asked, or answered with a refusal. */
    NEITHER
  }

  private final Breaker settings;

  /** The keys of failures that follow each other. */
  private final Set<String> failed = new HashSet<>();

  private State state = State.CLOSED;
  private long pauseNanos;
  private long until;
  private String probed = "";

  Circuit(Breaker settings) {
    this.settings = settings;
  }

  State state() {
    return state;
  }

  /** How long until the next probe may go, in nanoseconds. */
  long left(long now) {
    return Math.max(until - now, 0);
  }

  /** Whether it is time for a probe. */
  boolean isDue(long now) {
    return state == State.OPEN && now - until >= 0;
  }

  /** Whether the last probe was of another key. */
  boolean isOther(String key) {
    return !key.equals(probed);
  }

  /** Takes note of a probe. */
  void starts(String key) {
    state = State.PROBING;
    probed = key;
  }

  /** Takes note of what a delivery has come to, and says whether its failure costs nothing. */
  boolean ends(String key, Verdict verdict, boolean probe, long now) {
    if (settings.failures() <= 0) {
      return false;
    }
    if (probe) {
      return probeEnds(verdict, now);
    }
    if (verdict == Verdict.WORKED && state == State.CLOSED) {
      failed.clear(); // One that began before an outage says little of the present.
    }
    if (verdict != Verdict.BROKE) {
      return false;
    }
    if (state != State.CLOSED) {
      return true;
    }
    failed.add(key);
    if (failed.size() < settings.failures()) {
      return false;
    }
    failed.clear();
    probed = "";
    rest(settings.pause().toNanos(), now);
    return true;
  }

  private boolean probeEnds(Verdict verdict, long now) {
    switch (verdict) {
      case WORKED:
        state = State.CLOSED;
        return false;
      case BROKE:
        rest(Math.min(2 * pauseNanos, settings.maxPause().toNanos()), now);
        return true;
      default: // It says nothing: another one, now.
        state = State.OPEN;
        until = now;
        return false;
    }
  }

  private void rest(long nanos, long now) {
    state = State.OPEN;
    pauseNanos = nanos;
    until = now + nanos;
  }
}
