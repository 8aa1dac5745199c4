// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The headers that a producer writes (HDR-020 to HDR-022). A value that is null is one that the
 * message has not.
 *
 * <pre>{@code
 * List<Header> headers = new ProducerHeaders(EVENT_TYPE, idempotencyKey(m))
 *     .bizKey(bizKey(m))
 *     .policy(POLICY)
 *     .context(context)
 *     .list(Transport.KAFKA);
 * }</pre>
 */
public final class ProducerHeaders {
  private static final String MAJOR_VERSION = "1";

  private final Map<HeaderName, String> values = new EnumMap<>(HeaderName.class);

  /** The headers of a message of this type with this key. */
  public ProducerHeaders(String eventType, String idempotencyKey) {
    put(HeaderName.IDEMPOTENCY_KEY, idempotencyKey);
    put(HeaderName.EVENT_TYPE, eventType);
    put(HeaderName.IDEM_SPEC, MAJOR_VERSION);
  }

  /** States the key by the template before (KEY-030). */
  public ProducerHeaders idempotencyKeyPrevious(String key) {
    return put(HeaderName.IDEMPOTENCY_KEY_PREVIOUS, key);
  }

  /** States the biz key. */
  public ProducerHeaders bizKey(String bizKey) {
    return put(HeaderName.BIZ_KEY, bizKey);
  }

  /** States the fingerprint. */
  public ProducerHeaders fingerprint(String fingerprint) {
    return put(HeaderName.FINGERPRINT, fingerprint);
  }

  /** States the text of the {@code occurred_at} timestamp; null where its field is missing. */
  public ProducerHeaders occurredAt(String timestamp) {
    return put(HeaderName.OCCURRED_AT, timestamp);
  }

  /** States the state before the message's transition; empty for a creation. */
  public ProducerHeaders expectedCurrentState(String from) {
    return put(HeaderName.EXPECTED_CURRENT_STATE, from);
  }

  /** States the policy of a schema that has {@code retry}. */
  public ProducerHeaders policy(Policy policy) {
    put(HeaderName.MAX_RETRY, Integer.toString(policy.maxRetry()));
    put(HeaderName.MAX_HOLD, Integer.toString(policy.maxHold()));
    put(HeaderName.BACKOFF_JITTER, Integer.toString(policy.backoffJitterMs()));
    if (policy.hasBackoffSchedule()) {
      return put(HeaderName.BACKOFF_SCHEDULE, HeaderText.schedule(policy.backoffScheduleMs()));
    }
    put(HeaderName.BACKOFF_BASE, Integer.toString(policy.backoffBaseSeconds()));
    return put(HeaderName.BACKOFF_MAX, Integer.toString(policy.backoffMaxSeconds()));
  }

  /** States what the producer knows of this sending, or nothing where it is null. */
  public ProducerHeaders context(Context context) {
    if (context == null) {
      return this;
    }
    putFilled(HeaderName.EVENT_ID, context.eventId());
    putFilled(HeaderName.TOPIC, context.topic());
    putFilled(HeaderName.PRODUCED_AT, context.producedAt());
    putFilled(HeaderName.TRACEPARENT, context.traceparent());
    putFilled(HeaderName.TRACESTATE, context.tracestate());
    return this;
  }

  /** Puts a value of the context, where an empty one says nothing (HDR-022). */
  private void putFilled(HeaderName name, String value) {
    if (value != null && !value.isEmpty()) {
      values.put(name, value);
    }
  }

  private ProducerHeaders put(HeaderName name, String value) {
    if (value != null) {
      values.put(name, value);
    }
    return this;
  }

  /**
   * The headers for a transport, in the order of {@link HeaderName}.
   *
   * @throws IdemException STRING_UTF8 where a text of the context has half a surrogate pair
   */
  public List<Header> list(Transport transport) {
    List<Header> headers = new ArrayList<>(values.size());
    for (Map.Entry<HeaderName, String> entry : values.entrySet()) {
      HeaderName name = entry.getKey();
      byte[] value = Utf8.encode(entry.getValue());
      boolean quote = transport == Transport.HTTP && name == HeaderName.IDEMPOTENCY_KEY;
      headers.add(new Header(name.on(transport), quote ? HeaderText.quoted(value) : value));
    }
    return headers;
  }
}
