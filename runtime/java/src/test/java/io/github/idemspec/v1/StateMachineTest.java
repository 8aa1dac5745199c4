package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StateMachineTest {
  private static final StateMachine ORDER =
      StateMachine.of(
          new Transition("CREATED", "PAYING"),
          new Transition("PAYING", "PAID"),
          new Transition("PAID", "REFUNDED"),
          new Transition("CREATED", "CANCELLED"));

  private static final StateMachine CREATED =
      StateMachine.of(new Transition("", "NEW"), new Transition("NEW", "OLD"));

  @ParameterizedTest
  @CsvSource({
    "PAYING,APPLY",
    "PAID,DUPLICATE",
    "REFUNDED,DUPLICATE",
    "CREATED,EARLY",
    "CANCELLED,CONFLICT",
    "'',EARLY"
  })
  void verdict_onAPayment_isByWhereTheOrderIs(String current, StateMachine.Verdict want) {
    assertEquals(want, ORDER.verdict(current, new Transition("PAYING", "PAID")));
  }

  @ParameterizedTest
  @CsvSource({"'',APPLY", "NEW,DUPLICATE", "OLD,DUPLICATE"})
  void verdict_onACreation_appliesToNoRow(String current, StateMachine.Verdict want) {
    assertEquals(want, CREATED.verdict(current, new Transition("", "NEW")));
  }

  @Test
  void verdict_onNoRowThatLeadsElsewhere_isConflict() {
    StateMachine machine = StateMachine.of(new Transition("", "A"), new Transition("B", "C"));
    assertEquals(StateMachine.Verdict.CONFLICT, machine.verdict("", new Transition("B", "C")));
  }

  @Test
  void verdict_onWhatIsNotDeclared_isRefusedInOrder() {
    assertFault(
        ErrorCode.STATE_UNKNOWN, () -> ORDER.verdict("X", new Transition("PAID", "PAYING")));
    assertFault(ErrorCode.STATE_UNKNOWN, () -> ORDER.verdict("PAID", new Transition("X", "PAID")));
    assertFault(ErrorCode.STATE_UNKNOWN, () -> ORDER.verdict("PAID", new Transition("PAID", "X")));
    assertFault(ErrorCode.STATE_UNKNOWN, () -> ORDER.verdict("", new Transition("", "PAID")));
    assertFault(
        ErrorCode.TRANSITION_UNDECLARED, () -> ORDER.verdict("", new Transition("PAID", "PAYING")));
  }

  @Test
  void machine_withACycle_isRefused() {
    assertFault(ErrorCode.STATE_CYCLE, () -> StateMachine.of(new Transition("A", "A")));
    IdemException e =
        assertFault(
            ErrorCode.STATE_CYCLE,
            () ->
                StateMachine.of(
                    new Transition("S", "A"),
                    new Transition("A", "B"),
                    new Transition("B", "C"),
                    new Transition("C", "A")));
    assertEquals("A, B, C", e.value());
  }

  @Test
  void machine_withAnEdgeTwice_isTheSame() {
    StateMachine machine = StateMachine.of(new Transition("A", "B"), new Transition("A", "B"));
    assertEquals(StateMachine.Verdict.APPLY, machine.verdict("A", new Transition("A", "B")));
  }

  @Test
  void verdict_onALongOrDenseMachine_isQuickAndShallow() {
    List<Transition> edges = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      edges.add(new Transition("s" + i, "s" + (i + 1)));
    }
    Collections.shuffle(edges, new Random(1));
    StateMachine chain = new StateMachine(edges);
    Transition last = new Transition("s19999", "s20000");
    assertEquals(StateMachine.Verdict.EARLY, chain.verdict("s0", last));
    edges.clear();
    for (int i = 0; i < 300; i++) {
      for (int k = i + 1; k < 300; k++) {
        edges.add(new Transition("s" + i, "s" + k));
      }
    }
    StateMachine dense = new StateMachine(edges);
    assertEquals(StateMachine.Verdict.DUPLICATE, dense.verdict("s299", new Transition("s0", "s1")));
  }
}
