// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * What a producer knows of one sending, for its headers (HDR-022). All of it is optional.
 * Immutable: each method returns another context.
 *
 * <p>{@code Context.EMPTY.withEventId(id).withProducedAt(now.getEpochSecond(), now.getNano())}
 */
public final class Context {
  /** A context that knows nothing. */
  public static final Context EMPTY = new Context(null, null, null, null, null);

  private final String eventId;
  private final String topic;
  private final String producedAt;
  private final String traceparent;
  private final String tracestate;

  private Context(
      String eventId, String topic, String producedAt, String traceparent, String tracestate) {
    this.eventId = eventId;
    this.topic = topic;
    this.producedAt = producedAt;
    this.traceparent = traceparent;
    this.tracestate = tracestate;
  }

  /** With the id of the event, a UUIDv7 that is made once and kept by every retry. */
  public Context withEventId(String newEventId) {
    return new Context(newEventId, topic, producedAt, traceparent, tracestate);
  }

  /** With the topic that the message goes to. */
  public Context withTopic(String newTopic) {
    return new Context(eventId, newTopic, producedAt, traceparent, tracestate);
  }

  /**
   * With the time of production, which is written with three digits.
   *
   * @param seconds since 1970-01-01T00:00:00Z
   * @param nanos 0 to 999999999, after those seconds
   * @throws IdemException TIMESTAMP_RANGE
   */
  public Context withProducedAt(long seconds, int nanos) {
    String text =
        new KeyBuilder().timestamp(seconds, nanos, 3, HeaderName.PRODUCED_AT.text()).key();
    return new Context(eventId, topic, text, traceparent, tracestate);
  }

  /**
   * With the time of production as text of HDR-003, which is written with three digits.
   *
   * @throws IdemException TIMESTAMP_SYNTAX or TIMESTAMP_RANGE
   */
  public Context withProducedAt(String timestamp) {
    String name = HeaderName.PRODUCED_AT.text();
    int bad = TimestampText.faultOf(timestamp, true);
    if (bad >= 0) {
      throw new IdemException(ErrorCode.TIMESTAMP_SYNTAX, name, bad, timestamp);
    }
    String text = new KeyBuilder().rfc3339(timestamp, 3, name).key();
    return new Context(eventId, topic, text, traceparent, tracestate);
  }

  /** With the W3C trace parent. */
  public Context withTraceparent(String newTraceparent) {
    return new Context(eventId, topic, producedAt, newTraceparent, tracestate);
  }

  /** With the W3C trace state. */
  public Context withTracestate(String newTracestate) {
    return new Context(eventId, topic, producedAt, traceparent, newTracestate);
  }

  /** The id of the event, or null. */
  public String eventId() {
    return eventId;
  }

  /** The topic that the message goes to, or null. */
  public String topic() {
    return topic;
  }

  /** The text of the time of production, with three digits, or null. */
  public String producedAt() {
    return producedAt;
  }

  /** The W3C trace parent, or null. */
  public String traceparent() {
    return traceparent;
  }

  /** The W3C trace state, or null. */
  public String tracestate() {
    return tracestate;
  }
}
