package io.github.idemspec.golden;

import static io.github.idemspec.golden.Faults.assertFault;
import static io.github.idemspec.golden.Faults.assertMissing;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.protobuf.Timestamp;
import io.github.idemspec.conformance.v1.OrderState;
import io.github.idemspec.conformance.v1.OrderStateIdem;
import io.github.idemspec.conformance.v1.PayError;
import io.github.idemspec.conformance.v1.PayErrorIdem;
import io.github.idemspec.conformance.v1.PaymentSucceeded;
import io.github.idemspec.conformance.v1.PaymentSucceededIdem;
import io.github.idemspec.v1.Context;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.StateMachine.Verdict;
import io.github.idemspec.v1.Transition;
import io.github.idemspec.v1.Transport;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The message that the spec explains itself with (chapter 1). */
class PaymentTest {
  // 2025-01-01T04:00:00Z by java.time.
  private static final long FOUR = Instant.parse("2025-01-01T04:00:00Z").getEpochSecond();

  private static final PaymentSucceeded PAYMENT =
      PaymentSucceeded.newBuilder()
          .setPaymentId("p/17")
          .setOrderId("order-17")
          .setAmount("100.00")
          .setCurrency("USD")
          .setOccurredAt(Timestamp.newBuilder().setSeconds(FOUR))
          .build();

  private static List<String> texts(List<Header> headers) {
    return headers.stream().map(Header::toString).collect(Collectors.toList());
  }

  @Test
  void keys() {
    assertEquals("payments.payment_success", PaymentSucceededIdem.EVENT_TYPE);
    assertEquals("payments.payment_success:v1:p%2F17", PaymentSucceededIdem.idempotencyKey(PAYMENT));
    assertEquals("order-17", PaymentSucceededIdem.bizKey(PAYMENT));
    // By xxhash of Python: "{amount}:{currency}" and "100:USD".
    assertEquals("549bde46-a5ea4653f17fea90", PaymentSucceededIdem.fingerprint(PAYMENT));
  }

  @Test
  void partition() {
    // By the partitioner of Kafka's own clients.
    assertEquals(9, PaymentSucceededIdem.kafkaPartition(PAYMENT, 12));
    assertFault(
        ErrorCode.PARTITION_COUNT, null, () -> PaymentSucceededIdem.kafkaPartition(PAYMENT, 0));
  }

  @Test
  void headers() {
    Context context =
        Context.EMPTY
            .withEventId("e-1")
            .withTopic("payments")
            .withProducedAt(FOUR, 5_999_999)
            .withTraceparent("00-a")
            .withTracestate("b=c");
    assertEquals(
        List.of(
            "idempotency_key: payments.payment_success:v1:p%2F17",
            "event_id: e-1",
            "event_type: payments.payment_success",
            "biz_key: order-17",
            "topic: payments",
            "produced_at: 2025-01-01T04:00:00.005Z",
            "occurred_at: 2025-01-01T04:00:00.000Z",
            "traceparent: 00-a",
            "tracestate: b=c",
            "expected_current_state: PAYING",
            "fingerprint: 549bde46-a5ea4653f17fea90",
            "idem_spec: 1",
            "max_retry: 5",
            "max_hold: 20",
            "backoff_base: 1",
            "backoff_jitter: 1000",
            "backoff_max: 300"),
        texts(PaymentSucceededIdem.headers(PAYMENT, context)));
  }

  @Test
  void headers_missingOccurredAt_leftOut() {
    PaymentSucceeded timeless = PAYMENT.toBuilder().clearOccurredAt().build();
    List<String> headers = texts(PaymentSucceededIdem.headers(timeless, null));
    assertFalse(headers.stream().anyMatch(h -> h.startsWith("occurred_at")), headers::toString);
    assertEquals(11, headers.size(), headers::toString);
  }

  @Test
  void headers_emptyContext_nothing() {
    Context empty = Context.EMPTY.withEventId("").withTopic("").withTraceparent("").withTracestate("");
    assertEquals(
        texts(PaymentSucceededIdem.headers(PAYMENT, null)),
        texts(PaymentSucceededIdem.headers(PAYMENT, empty)));
  }

  @Test
  void headers_otherTransport_itsNames() {
    assertEquals(
        "Idempotency-Key: \"payments.payment_success:v1:p%2F17\"",
        PaymentSucceededIdem.headers(PAYMENT, null, Transport.HTTP).get(0).toString());
  }

  @Test
  void headers_severalFaults_firstIsTheAnswer() {
    PaymentSucceeded.Builder m = PAYMENT.toBuilder();
    m.getOccurredAtBuilder().setNanos(-1);
    assertFault(
        ErrorCode.TIMESTAMP_RANGE,
        "occurred_at",
        () -> PaymentSucceededIdem.headers(m.build(), null));
    m.setAmount("1.005");
    assertFault(
        ErrorCode.DECIMAL_SCALE, "amount", () -> PaymentSucceededIdem.headers(m.build(), null));
    m.setOrderId("");
    assertMissing("order_id", () -> PaymentSucceededIdem.headers(m.build(), null));
    m.setPaymentId("");
    assertMissing("payment_id", () -> PaymentSucceededIdem.headers(m.build(), null));
  }

  @Test
  void policyAndTransition() {
    assertEquals(5, PaymentSucceededIdem.POLICY.maxRetry());
    assertEquals(new Transition("PAYING", "PAID"), PaymentSucceededIdem.TRANSITION);
    assertFalse(PaymentSucceededIdem.DEAD_LETTER_SUPERSEDED);
  }

  @Test
  void verdict() {
    assertEquals(Verdict.EARLY, PaymentSucceededIdem.verdict(""));
    assertEquals(Verdict.EARLY, PaymentSucceededIdem.verdict("CREATED"));
    assertEquals(Verdict.APPLY, PaymentSucceededIdem.verdict("PAYING"));
    assertEquals(Verdict.DUPLICATE, PaymentSucceededIdem.verdict("PAID"));
    assertEquals(Verdict.CONFLICT, PaymentSucceededIdem.verdict("CANCELLED"));
    assertFault(ErrorCode.STATE_UNKNOWN, null, () -> PaymentSucceededIdem.verdict("LOST"));
    assertFault(ErrorCode.STATE_UNKNOWN, null, () -> PaymentSucceededIdem.verdict("UNSPECIFIED"));
  }

  @Test
  void states() {
    assertEquals("PAYING", OrderStateIdem.text(OrderState.ORDER_STATE_PAYING));
    assertEquals(OrderState.ORDER_STATE_PAYING, OrderStateIdem.parse("PAYING"));
    assertNull(OrderStateIdem.text(OrderState.UNRECOGNIZED));
    assertNull(OrderStateIdem.parse("ORDER_STATE_PAYING"));
    assertNull(OrderStateIdem.parse(""));
  }

  @Test
  void errors() {
    assertEquals(Outcome.NON_RETRYABLE, PayErrorIdem.classify(PayError.PAY_ERROR_DECLINED));
    assertEquals(Outcome.THROTTLED, PayErrorIdem.classify(PayError.PAY_ERROR_BUSY));
    assertEquals(Outcome.RETRYABLE, PayErrorIdem.classify(PayError.PAY_ERROR_UNSPECIFIED));
    assertEquals(Outcome.RETRYABLE, PayErrorIdem.classify(PayError.UNRECOGNIZED));
    assertEquals(Outcome.THROTTLED, PayErrorIdem.classify(2));
    assertEquals(Outcome.RETRYABLE, PayErrorIdem.classify(99));
    assertEquals(Outcome.RETRYABLE, PayErrorIdem.classify(-1));
  }
}
