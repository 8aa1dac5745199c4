package io.github.idemspec.golden;

import static io.github.idemspec.golden.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import idem.conformance.v1.*;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.StateMachine;
import io.github.idemspec.v1.StateMachine.Verdict;
import io.github.idemspec.v1.Transition;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Policies, machines and errors of schemas. */
class StatesTest {
  /** The generated table says what the machine works out, for all states and none. */
  private static void check(
      StateMachine machine, Transition transition, Function<String, Verdict> verdict) {
    Set<String> states = new HashSet<>(machine.states());
    states.add("");
    for (String state : states) {
      assertEquals(machine.verdict(state, transition), verdict.apply(state), state);
    }
    assertFault(ErrorCode.STATE_UNKNOWN, null, () -> verdict.apply("ON_HOLD"));
  }

  @Test
  void verdicts() {
    check(InvoiceStateIdem.MACHINE, InvoicePaidIdem.TRANSITION, InvoicePaidIdem::verdict);
    check(InvoiceStateIdem.MACHINE, InvoiceCancelledIdem.TRANSITION, InvoiceCancelledIdem::verdict);
    check(TicketHTTPStateIdem.MACHINE, TicketCreatedIdem.TRANSITION, TicketCreatedIdem::verdict);
    check(TicketHTTPStateIdem.MACHINE, TicketOpenedIdem.TRANSITION, TicketOpenedIdem::verdict);
    check(JobStateIdem.MACHINE, JobIdem.TRANSITION, JobIdem::verdict);
    assertEquals(Verdict.CONFLICT, InvoicePaidIdem.verdict("CANCELLED"));
    assertEquals(Verdict.EARLY, InvoicePaidIdem.verdict(""));
    assertEquals(Verdict.CONFLICT, TicketOpenedIdem.verdict("new"));
  }

  @Test
  void superseded() {
    assertTrue(TicketCreatedIdem.DEAD_LETTER_SUPERSEDED);
    assertFalse(InvoiceCancelledIdem.DEAD_LETTER_SUPERSEDED);
  }

  @Test
  void texts() {
    assertEquals("imported.v2", TicketHTTPStateIdem.text(States.TicketHTTPState.TICKET_HTTP_STATE_IMPORTED));
    assertEquals("OPEN", TicketHTTPStateIdem.text(States.TicketHTTPState.TICKET_HTTP_STATE_REOPENED));
    assertEquals(
        States.TicketHTTPState.TICKET_HTTP_STATE_OPEN, TicketHTTPStateIdem.parse("OPEN"));
    for (States.InvoiceState state : States.InvoiceState.values()) {
      String text = InvoiceStateIdem.text(state);
      if (state == States.InvoiceState.UNRECOGNIZED) {
        assertNull(text);
      } else {
        assertEquals("INVOICE_STATE_" + text, state.name());
        assertEquals(state, InvoiceStateIdem.parse(text));
      }
    }
  }

  @Test
  void headers_creation_emptyState() {
    List<String> headers =
        TicketCreatedIdem.headers(States.TicketCreated.newBuilder().setId("t").build(), null)
            .stream()
            .map(Header::toString)
            .collect(Collectors.toList());
    assertEquals(
        List.of(
            "idempotency_key: conformance.states.ticket_created:v1:t",
            "event_type: conformance.states.ticket_created",
            "expected_current_state: ",
            "idem_spec: 1"),
        headers);
  }

  @Test
  void headers_schedule_insteadOfBaseAndMax() {
    List<String> headers =
        RetryScheduleIdem.headers(States.RetrySchedule.newBuilder().setId("r").build(), null)
            .stream()
            .map(Header::toString)
            .collect(Collectors.toList());
    assertEquals(
        List.of(
            "max_retry: 3",
            "max_hold: 20",
            "backoff_jitter: 500",
            "backoff_schedule: 10000,30000,604800000"),
        headers.subList(3, headers.size()));
  }

  @Test
  void policies() {
    assertEquals(5, RetryDefaultsIdem.POLICY.maxRetry());
    assertEquals(300, RetryDefaultsIdem.POLICY.backoffMaxSeconds());
    assertEquals(0, RetryLeastIdem.POLICY.maxHold());
    assertEquals(604800, RetryMostIdem.POLICY.backoffMaxSeconds());
    assertTrue(RetryScheduleZeroIdem.POLICY.hasBackoffSchedule());
  }

  @Test
  void errors() {
    assertEquals(
        Outcome.NON_RETRYABLE,
        PaymentErrorIdem.classify(States.PaymentError.PAYMENT_ERROR_DECLINED));
    assertEquals(
        Outcome.RETRYABLE, PaymentErrorIdem.classify(States.PaymentError.PAYMENT_ERROR_TIMEOUT));
    assertEquals(
        Outcome.OUT_OF_ORDER,
        PaymentErrorIdem.classify(States.PaymentError.PAYMENT_ERROR_TOO_EARLY));
    assertEquals(Outcome.OK, PaymentErrorIdem.classify(6));
    assertEquals(Outcome.RETRYABLE, PaymentErrorIdem.classify(8));
    assertEquals(Outcome.RETRYABLE, PaymentErrorIdem.classify(1000));
  }
}
