package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.answer;
import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class HeadersTest {
  /** Headers from names and values in turn. */
  static List<Header> pairs(String... namesAndValues) {
    List<Header> headers = new ArrayList<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      String value = namesAndValues[i + 1];
      byte[] bytes = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
      headers.add(new Header(namesAndValues[i], bytes));
    }
    return headers;
  }

  private static String read(Transport transport, HeaderName name, List<Header> headers) {
    return answer(
        () -> {
          Headers parsed = Headers.parse(transport, headers);
          return parsed.warnings().isEmpty() ? parsed.text(name) : "warning " + parsed.warnings();
        });
  }

  @ParameterizedTest
  @CsvSource({
    "idempotency_key,'',KEY_SYNTAX",
    "idempotency_key,a b,KEY_SYNTAX",
    "idempotency_key,\u00e9,KEY_SYNTAX",
    "idempotency_key,!~,!~",
    "biz_key,'',KEY_SYNTAX",
    "event_type,a b,HEADER_SYNTAX",
    "event_type,'',HEADER_SYNTAX",
    "target_scope,a_b.c-1,a_b.c-1",
    "expected_current_state,'',''",
    "fingerprint,0123abcd-0123456789abcdef,0123abcd-0123456789abcdef",
    "fingerprint,0123ABCD-0123456789abcdef,HEADER_SYNTAX",
    "idem_spec,1,1",
    "idem_spec,2,SPEC_VERSION",
    "idem_spec,0,SPEC_VERSION",
    "idem_spec,01,HEADER_SYNTAX",
    "retry_count,0,0",
    "retry_count,03,HEADER_SYNTAX",
    "retry_count,+3,HEADER_SYNTAX",
    "retry_count,-1,HEADER_SYNTAX",
    "retry_count,'',HEADER_SYNTAX",
    "retry_count,\u0663,HEADER_SYNTAX",
    "retry_count,2147483647,2147483647",
    "retry_count,2147483648,HEADER_RANGE",
    "retry_count,999999999999999999999999999999,HEADER_RANGE",
    "max_retry,101,HEADER_RANGE",
    "backoff_base,0,HEADER_RANGE",
    "backoff_base,86400,86400",
    "backoff_schedule,'1,2','1,2'",
    "backoff_schedule,'1,,2',HEADER_SYNTAX",
    "backoff_schedule,'1, 2',HEADER_SYNTAX",
    "backoff_schedule,'1,604800001',HEADER_RANGE",
    "retry_interval,608400000,608400000",
    "retry_interval,608400001,HEADER_RANGE",
    "next_retry_time,2025-01-01T00:00:00.5Z,2025-01-01T00:00:00.5Z",
    "next_retry_time,2025-01-01T00:00:00+00:00,HEADER_SYNTAX",
    "next_retry_time,0000-01-01T00:00:00Z,HEADER_RANGE",
    "produced_at,0000-01-01T00:00:00Z,warning [PRODUCED_AT]",
    "event_id,'',warning [EVENT_ID]",
    "reject_reason,CODE: d\u00e9tail,CODE: d\u00e9tail",
    "tracestate,'',''"
  })
  void parse_aValue_isCheckedBySyntaxThenRange(String header, String value, String want) {
    HeaderName name = Transport.KAFKA.find(header);
    assertEquals(want, read(Transport.KAFKA, name, pairs(header, value)));
  }

  @Test
  void parse_lengths_areBounded() {
    assertEquals(
        "KEY_TOO_LONG",
        read(Transport.KAFKA, HeaderName.BIZ_KEY, pairs("biz_key", "k".repeat(1025))));
    assertEquals(
        "HEADER_RANGE",
        read(
            Transport.KAFKA,
            HeaderName.BACKOFF_SCHEDULE,
            pairs("backoff_schedule", "1" + ",1".repeat(32))));
    assertEquals(
        "warning [TOPIC]",
        read(Transport.KAFKA, HeaderName.TOPIC, pairs("topic", "\u00e9".repeat(513))));
    assertEquals(
        "warning [REJECT_REASON]",
        read(Transport.KAFKA, HeaderName.REJECT_REASON, pairs("reject_reason", "a\nb")));
    assertEquals(
        "HEADER_SYNTAX",
        read(Transport.KAFKA, HeaderName.EVENT_TYPE, pairs("event_type", "t".repeat(201))));
  }

  @Test
  void parse_duplicates_conflictUnlessEqual() {
    HeaderName key = HeaderName.IDEMPOTENCY_KEY;
    assertEquals("a", read(Transport.KAFKA, key, pairs(key.text(), "a", key.text(), "a")));
    assertEquals(
        "HEADER_CONFLICT", read(Transport.KAFKA, key, pairs(key.text(), "a", key.text(), "")));
    assertEquals("a", read(Transport.KAFKA, key, pairs(key.text(), null, key.text(), "a")));
    assertEquals(
        "warning [TOPIC]",
        read(Transport.KAFKA, HeaderName.TOPIC, pairs("topic", "a", "topic", "b")));
    assertEquals(
        "b",
        read(
            Transport.KAFKA,
            HeaderName.TRACEPARENT,
            pairs("traceparent", "a", "traceparent", "b", "traceparent", null)));
  }

  @Test
  void parse_severalFaults_isTheFirstOfTheTable() {
    List<Header> headers = pairs("max_retry", "x", "retry_count", "9999999999", "event_id", "");
    IdemException e =
        assertFault(ErrorCode.HEADER_RANGE, () -> Headers.parse(Transport.KAFKA, headers));
    assertEquals("retry_count", e.field());
  }

  @Test
  void parse_illFormedBytes_isUtf8ForKeysToo() {
    for (HeaderName name : new HeaderName[] {HeaderName.IDEMPOTENCY_KEY, HeaderName.EVENT_TYPE}) {
      List<Header> headers = List.of(new Header(name.text(), new byte[] {'a', (byte) 0xff}));
      assertFault(ErrorCode.HEADER_UTF8, () -> Headers.parse(Transport.KAFKA, headers));
    }
  }

  @Test
  void parse_unknownHeaders_passThrough() {
    List<Header> given = pairs("x", "1", "Idempotency_Key", "k", "y", null, "x", "2");
    assertEquals(given, Headers.parse(Transport.KAFKA, given).unknown());
    assertNull(Headers.parse(Transport.KAFKA, given).idempotencyKey());
  }

  @ParameterizedTest
  @CsvSource({
    "retry_count,3,3",
    "retry_count,-1,HEADER_SYNTAX",
    "retry_count,2147483648,HEADER_RANGE",
    "idem_spec,1,1",
    "idempotency_key,5,HEADER_SYNTAX",
    "backoff_schedule,5,HEADER_SYNTAX",
    "event_id,5,warning [EVENT_ID]",
    "traceparent,5,warning [TRACEPARENT]"
  })
  void parse_anIntegerOfAmqp_standsForItsText(String header, String digits, String want) {
    List<Header> headers = List.of(Header.ofInteger(header, digits));
    assertEquals(want, read(Transport.AMQP, Transport.AMQP.find(header), headers));
  }

  @ParameterizedTest
  @CsvSource({
    "abc,abc",
    "'\"abc\"',abc",
    "' \t\"abc\" ',abc",
    "'\"a\\\"b\\\\\"','a\"b\\'",
    "'\"\"',KEY_SYNTAX",
    "'\"',KEY_SYNTAX",
    "'\"abc',KEY_SYNTAX",
    "'\"abc\";a=1',KEY_SYNTAX",
    "'\"a\\x\"',KEY_SYNTAX",
    "'\"a\\\"',KEY_SYNTAX",
    "'\"a\"b\"',KEY_SYNTAX",
    "'\"a b\"',KEY_SYNTAX",
    "'a\"b','a\"b'",
    "caf\u00e9,KEY_SYNTAX"
  })
  void parse_aKeyOverHttp_isUnquoted(String value, String want) {
    List<Header> headers = pairs("idempotency-KEY", value);
    assertEquals(want, read(Transport.HTTP, HeaderName.IDEMPOTENCY_KEY, headers));
  }

  @Test
  void parse_overHttp_comparesWhatTheValuesSay() {
    HeaderName key = HeaderName.IDEMPOTENCY_KEY;
    List<Header> equal = pairs("Idempotency-Key", "\"abc\"", "Idempotency-Key", " abc");
    assertEquals("abc", read(Transport.HTTP, key, equal));
    List<Header> other = pairs("Idempotency-Key", "\"abc", "Idempotency-Key", "\"\\\"abc\"");
    assertEquals("HEADER_CONFLICT", read(Transport.HTTP, key, other));
    List<Header> kelvin = pairs("\u212aey", "x");
    assertEquals(kelvin, Headers.parse(Transport.HTTP, kelvin).unknown());
    assertEquals(
        "warning [EVENT_ID]",
        read(Transport.HTTP, HeaderName.EVENT_ID, pairs("Idem-Event-Id", "\u00e9")));
    assertEquals(
        "3", read(Transport.HTTP, HeaderName.RETRY_COUNT, pairs("idem-retry-count", " 3\t")));
  }

  @ParameterizedTest
  @EnumSource(HeaderName.class)
  void on_everyTransport_findsTheNameBack(HeaderName name) {
    for (Transport transport : Transport.values()) {
      assertEquals(name, transport.find(name.on(transport)));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "IDEMPOTENCY_KEY,Idempotency-Key,idempotencykey",
    "IDEMPOTENCY_KEY_PREVIOUS,Idem-Idempotency-Key-Previous,idempotencykeyprevious",
    "IDEM_SPEC,Idem-Spec,idemspec",
    "EVENT_ID,Idem-Event-Id,id",
    "EVENT_TYPE,Idem-Event-Type,type",
    "OCCURRED_AT,Idem-Occurred-At,time",
    "BIZ_KEY,Idem-Biz-Key,partitionkey",
    "TOPIC,Idem-Topic,topic",
    "TRACEPARENT,traceparent,traceparent",
    "RETRY_COUNT,Idem-Retry-Count,retrycount"
  })
  void on_httpAndCloudEvents_isTheBindings(HeaderName name, String http, String cloudEvents) {
    assertEquals(http, name.on(Transport.HTTP));
    assertEquals(cloudEvents, name.on(Transport.CLOUDEVENTS));
  }

  @Test
  void policyAndDelivery_areWhatTheHeadersSay() {
    Headers headers =
        Headers.parse(
            Transport.KAFKA,
            pairs(
                "retry_count",
                "2",
                "hold_count",
                "3",
                "redrive_count",
                "4",
                "max_retry",
                "0",
                "max_hold",
                "1",
                "backoff_base",
                "2",
                "backoff_max",
                "3",
                "backoff_jitter",
                "0",
                "backoff_schedule",
                "7,8",
                "fingerprint",
                "00000000-1111111111111111"));
    assertEquals(
        "max_retry=0 max_hold=1 backoff_base=2s backoff_jitter=0ms backoff_max=3s"
            + " backoff_schedule=[7, 8]",
        headers.policy().toPolicy().toString());
    Delivery delivery = Delivery.of(headers);
    assertEquals(5, delivery.position());
    assertEquals(4, delivery.redriveCount());
    assertEquals("00000000-1111111111111111", delivery.fingerprint());
    assertEquals(0, Headers.parse(Transport.KAFKA, Arrays.asList()).retryCount());
  }

  /** Compared one by one, these would take minutes. */
  @Test
  void manyValuesOfOneHeader() {
    List<Header> headers = new ArrayList<>();
    for (int i = 0; i < 200_000; i++) {
      headers.add(new Header("topic", Integer.toString(i / 2).getBytes(StandardCharsets.UTF_8)));
    }
    assertEquals("warning [TOPIC]", read(Transport.KAFKA, HeaderName.TOPIC, headers));
    RawHeaders raw = new RawHeaders(Transport.KAFKA, headers);
    assertEquals(100_000, raw.of(HeaderName.TOPIC).size());
    assertEquals("99999", raw.of(HeaderName.TOPIC).get(99_999).text());
  }
}
