package io.github.idemspec.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.kafka.Circuit.State;
import io.github.idemspec.kafka.Circuit.Verdict;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CircuitTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final Circuit circuit =
      new Circuit(new Breaker(3, Duration.ofSeconds(1), Duration.ofSeconds(3)));

  private boolean fails(String key, long now) {
    return circuit.ends(key, Verdict.BROKE, false, now);
  }

  private void open() {
    assertFalse(fails("a", 0));
    assertFalse(fails("b", 0));
    assertTrue(fails("c", 0), "the one that opens it costs nothing");
    assertEquals(State.OPEN, circuit.state());
  }

  @Test
  void ends_failuresOfOneKey_doNotOpenIt() {
    for (int i = 0; i < 10; i++) {
      assertFalse(fails("a", 0));
    }
    assertEquals(State.CLOSED, circuit.state());
  }

  @Test
  void ends_aSuccessBetweenFailures_beginsAgain() {
    fails("a", 0);
    fails("b", 0);
    circuit.ends("x", Verdict.WORKED, false, 0);
    assertFalse(fails("c", 0));
    circuit.ends("y", Verdict.NEITHER, false, 0);
    assertFalse(fails("d", 0));
    assertTrue(fails("e", 0), "a refusal is no success");
  }

  @Test
  void isDue_open_comesWithThePauseAndIsNobodysWhileAProbeIsOnItsWay() {
    open();
    assertFalse(circuit.isDue(SECOND - 1));
    assertTrue(circuit.isDue(SECOND));
    circuit.starts("a");
    assertFalse(circuit.isDue(9 * SECOND));
    assertFalse(circuit.isOther("a"));
  }

  @Test
  void ends_probesThatFail_doubleThePauseUpToItsMost() {
    open();
    long now = SECOND;
    for (long pause : new long[] {2, 3, 3}) {
      circuit.starts("a");
      assertTrue(circuit.ends("a", Verdict.BROKE, true, now));
      assertEquals(pause * SECOND, circuit.left(now));
      now += pause * SECOND;
    }
    circuit.starts("b");
    assertFalse(circuit.ends("b", Verdict.WORKED, true, now));
    assertEquals(State.CLOSED, circuit.state());
  }

  @Test
  void ends_aProbeThatSaysNothing_letsTheNextOneGoAtOnce() {
    open();
    circuit.starts("a");
    circuit.ends("a", Verdict.NEITHER, true, SECOND);
    assertTrue(circuit.isDue(SECOND));
  }

  @Test
  void ends_whileItRests_costsNothing() {
    open();
    assertTrue(fails("d", 1));
    circuit.ends("e", Verdict.WORKED, false, 1);
    assertEquals(State.OPEN, circuit.state());
  }

  @Test
  void none_neverRests() {
    Circuit none = new Circuit(Breaker.NONE);
    for (int i = 0; i < 100; i++) {
      assertFalse(none.ends("k" + i, Verdict.BROKE, false, 0));
    }
    assertEquals(State.CLOSED, none.state());
  }

  @Test
  void breaker_timesThatCannotBe_areRefused() {
    Duration second = Duration.ofSeconds(1);
    assertThrows(IllegalArgumentException.class, () -> new Breaker(3, Duration.ZERO, second));
    assertThrows(
        IllegalArgumentException.class, () -> new Breaker(3, second, second.minusNanos(1)));
  }
}
