package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static io.github.idemspec.v1.HeadersTest.pairs;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NextHeadersTest {
  private static final List<Header> FIRST =
      pairs("x", "1", "idempotency_key", "k", "topic", "origin", "fingerprint", "f");

  private static String text(List<Header> headers) {
    List<String> lines = new ArrayList<>();
    headers.forEach(header -> lines.add(header.toString()));
    return String.join(" | ", lines);
  }

  private static List<Header> next(List<Header> headers, Decision decision) {
    return NextHeaders.of(Transport.KAFKA, headers, decision, "payments", "source", 1_000);
  }

  @Test
  void of_aRetry_replacesAndKeepsTheRest() {
    String want =
        "idempotency_key: k | topic: origin | fingerprint: f | retry_count: 1 | hold_count: 0"
            + " | target_scope: payments | retry_interval: 2500"
            + " | next_retry_time: 1970-01-01T00:00:03.500Z | reject_reason: a b | x: 1";
    assertEquals(want, text(next(FIRST, Decision.retry(2_500, 1, 0, "a\nb"))));
  }

  @Test
  void of_aDeferral_keepsTheReason() {
    List<Header> retried = next(FIRST, Decision.hold(2_500, 0, 1, "why"));
    String want =
        "idempotency_key: k | topic: origin | fingerprint: f | retry_count: 0 | hold_count: 1"
            + " | target_scope: payments | retry_interval: 0"
            + " | next_retry_time: 1970-01-01T00:00:01.000Z | reject_reason: why | x: 1";
    assertEquals(want, text(next(retried, Decision.defer(0, 0, 1))));
  }

  @Test
  void of_aDeadLetter_isDueNever() {
    List<Header> retried = next(FIRST, Decision.retry(1, 1, 0, "why"));
    String want =
        "idempotency_key: k | topic: origin | fingerprint: f | retry_count: 1 | hold_count: 7"
            + " | target_scope: payments | reject_reason: over | x: 1";
    assertEquals(want, text(next(retried, Decision.deadLetter(-1, 7, "over"))));
  }

  @Test
  void of_ahundredRetries_doNotGrow() {
    List<Header> headers = FIRST;
    for (int i = 0; i < 100; i++) {
      headers = next(headers, Decision.retry(1, 1, 0, "why"));
    }
    assertEquals(text(next(FIRST, Decision.retry(1, 1, 0, "why"))), text(headers));
  }

  @Test
  void of_faultyHeaders_keepsTheirBytes() {
    List<Header> given =
        pairs("event_type", "a b", "event_type", "c", "event_type", "a b", "event_id", null);
    given.add(new Header("max_retry", new byte[] {(byte) 0xff}));
    given.addAll(pairs("traceparent", "1", "traceparent", "2", "y", null));
    List<Header> next = next(given, Decision.deadLetter(-1, -1, "bad"));
    assertEquals(
        "event_type: a b | event_type: c | topic: source | traceparent: 2 | max_retry: \ufffd"
            + " | target_scope: payments | reject_reason: bad | y: null",
        text(next));
    assertArrayEquals(new byte[] {(byte) 0xff}, next.get(4).value());
  }

  @Test
  void redrive_beginsAnotherLife() {
    List<Header> dead =
        pairs(
            "fingerprint",
            "f",
            "retry_count",
            "5",
            "redrive_count",
            "2",
            "retry_interval",
            "9",
            "next_retry_time",
            "t",
            "reject_reason",
            "why");
    assertEquals(
        "topic: t | fingerprint: f | retry_count: 0 | hold_count: 0 | redrive_count: 3"
            + " | target_scope: s",
        text(NextHeaders.redrive(Transport.KAFKA, dead, 1, false, "s", "t")));
    assertEquals(
        "topic: t | retry_count: 0 | hold_count: 0 | redrive_count: 8 | target_scope: s",
        text(NextHeaders.redrive(Transport.KAFKA, dead, 7, true, "s", "t")));
    for (String faulty : new String[] {"x", "", "2147483648"}) {
      List<Header> headers = pairs("redrive_count", faulty);
      assertEquals(
          "topic: t | retry_count: 0 | hold_count: 0 | redrive_count: 1 | target_scope: s",
          text(NextHeaders.redrive(Transport.KAFKA, headers, 0, false, "s", "t")));
    }
    assertEquals(
        "topic: t | retry_count: 0 | hold_count: 0 | redrive_count: 2147483647 | target_scope: s",
        text(NextHeaders.redrive(Transport.KAFKA, pairs(), Long.MAX_VALUE, false, "s", "t")));
  }

  @Test
  void of_aTimeAfterTheYear9999_isRefused() {
    long last = 253_402_300_799_999L;
    Decision one = Decision.defer(1, 0, 0);
    NextHeaders.of(Transport.KAFKA, pairs(), one, "s", "t", last - 1);
    assertFault(
        ErrorCode.TIMESTAMP_RANGE,
        () -> NextHeaders.of(Transport.KAFKA, pairs(), one, "s", "t", last));
    Decision ages = Decision.defer(Long.MAX_VALUE, 0, 0);
    assertFault(
        ErrorCode.TIMESTAMP_RANGE,
        () -> NextHeaders.of(Transport.KAFKA, pairs(), ages, "s", "t", Long.MAX_VALUE));
  }

  @Test
  void of_acknowledging_isNoDelivery() {
    assertFault(ErrorCode.INPUT_INVALID, () -> next(FIRST, Decision.ack()));
  }

  @Test
  void of_aReason_isCutAndFitForItsTransport() {
    Decision decision = Decision.deadLetter(-1, -1, "\ud83d\ude00".repeat(300));
    List<Header> kafka = NextHeaders.of(Transport.KAFKA, pairs(), decision, "s", "t", 0);
    assertEquals(1_024, kafka.get(2).value().length);
    List<Header> http = NextHeaders.of(Transport.HTTP, pairs(), decision, "s", "t", 0);
    assertEquals("Idem-Reject-Reason: " + "?".repeat(256), http.get(2).toString());
  }

  @Test
  void of_amqpIntegersAndHttpBlanks_areWrittenAsText() {
    List<Header> amqp = List.of(Header.ofInteger("max_retry", "5"));
    Decision decision = Decision.deadLetter(-1, -1, "r");
    Header written = NextHeaders.of(Transport.AMQP, amqp, decision, "s", "t", 0).get(1);
    assertEquals("max_retry: 5", written.toString());
    assertEquals(false, written.isInteger());
    List<Header> http = pairs("IDEMPOTENCY-KEY", " abc\t", "idem-max-retry", " 5");
    assertEquals(
        "Idempotency-Key: abc | Idem-Topic: t | Idem-Max-Retry: 5 | Idem-Target-Scope: s"
            + " | Idem-Reject-Reason: r",
        text(NextHeaders.of(Transport.HTTP, http, decision, "s", "t", 0)));
  }
}
