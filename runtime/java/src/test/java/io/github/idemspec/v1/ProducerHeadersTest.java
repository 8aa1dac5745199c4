package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProducerHeadersTest {
  private static String text(List<Header> headers) {
    List<String> lines = new ArrayList<>();
    headers.forEach(header -> lines.add(header.toString()));
    return String.join("\n", lines);
  }

  @Test
  void list_ofEverything_isInTheTablesOrder() {
    Context context =
        Context.EMPTY
            .withTracestate("s")
            .withTraceparent("p")
            .withProducedAt(0, 1_999_999)
            .withTopic("orders")
            .withEventId("e");
    List<Header> headers =
        new ProducerHeaders("shop.paid", "shop.paid:1")
            .policy(Policy.DEFAULT)
            .fingerprint("f")
            .idempotencyKeyPrevious("old:1")
            .expectedCurrentState("")
            .occurredAt("2025-01-01T04:00:00.000Z")
            .bizKey("o-1")
            .context(context)
            .list(Transport.KAFKA);
    assertEquals(
        String.join(
            "\n",
            "idempotency_key: shop.paid:1",
            "event_id: e",
            "event_type: shop.paid",
            "biz_key: o-1",
            "topic: orders",
            "produced_at: 1970-01-01T00:00:00.001Z",
            "occurred_at: 2025-01-01T04:00:00.000Z",
            "traceparent: p",
            "tracestate: s",
            "expected_current_state: ",
            "idempotency_key_previous: old:1",
            "fingerprint: f",
            "idem_spec: 1",
            "max_retry: 5",
            "max_hold: 20",
            "backoff_base: 1",
            "backoff_jitter: 1000",
            "backoff_max: 300"),
        text(headers));
  }

  @Test
  void list_ofTheLeast_hasThreeHeaders() {
    List<Header> headers =
        new ProducerHeaders("t", "t:1").occurredAt(null).context(null).list(Transport.AMQP);
    assertEquals("idempotency_key: t:1\nevent_type: t\nidem_spec: 1", text(headers));
  }

  @Test
  void list_withASchedule_hasNoBase() {
    Policy policy = Policy.values().backoffScheduleMs(10, 20).toPolicy();
    List<Header> headers = new ProducerHeaders("t", "t:1").policy(policy).list(Transport.KAFKA);
    assertEquals(
        "idempotency_key: t:1\nevent_type: t\nidem_spec: 1\nmax_retry: 5\nmax_hold: 20\n"
            + "backoff_jitter: 1000\nbackoff_schedule: 10,20",
        text(headers));
  }

  @Test
  void list_overHttp_quotesTheKeyAlone() {
    List<Header> headers = new ProducerHeaders("t", "a\"b\\c").bizKey("b\"").list(Transport.HTTP);
    assertEquals(
        "Idempotency-Key: \"a\\\"b\\\\c\"\nIdem-Event-Type: t\nIdem-Biz-Key: b\"\nIdem-Spec: 1",
        text(headers));
    assertEquals("a\"b\\c", Headers.parse(Transport.HTTP, headers).idempotencyKey());
  }

  @Test
  void context_ofFaultyTimes_isRefused() {
    assertFault(ErrorCode.TIMESTAMP_RANGE, () -> Context.EMPTY.withProducedAt(0, -1));
    assertFault(
        ErrorCode.TIMESTAMP_SYNTAX,
        () -> Context.EMPTY.withProducedAt("2025-01-01T00:00:00+00:00"));
    assertFault(
        ErrorCode.TIMESTAMP_RANGE, () -> Context.EMPTY.withProducedAt("0000-01-01T00:00:00Z"));
    assertEquals(
        "2025-01-01T00:00:00.123Z",
        Context.EMPTY.withProducedAt("2025-01-01T00:00:00.1239Z").producedAt());
  }
}
