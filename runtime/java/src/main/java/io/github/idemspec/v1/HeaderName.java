// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * The headers that idem knows, in the order of the table HDR-002, with what their values must be.
 */
public enum HeaderName {
  /** The identity of the message's effect. */
  IDEMPOTENCY_KEY("idempotency_key", Kind.KEY),
  /** A UUIDv7 that is made once and kept by every retry. */
  EVENT_ID("event_id", Kind.ID, "id"),
  /** The first segment of the idempotency key's template. */
  EVENT_TYPE("event_type", Kind.NAME, "type"),
  /** What the message is about; orders and partitions. */
  BIZ_KEY("biz_key", Kind.KEY, "partitionkey"),
  /** The origin, also after a retry elsewhere. */
  TOPIC("topic", Kind.ID),
  /** When the message was produced. */
  PRODUCED_AT("produced_at", Kind.CONTEXT_TIME),
  /** When what it tells of occurred. */
  OCCURRED_AT("occurred_at", Kind.CONTEXT_TIME, "time"),
  /** W3C Trace Context; the last value counts. */
  TRACEPARENT("traceparent", Kind.TRACE),
  /** W3C Trace Context; the last value counts. */
  TRACESTATE("tracestate", Kind.TRACE),
  /** The state before the message's transition; may be empty. */
  EXPECTED_CURRENT_STATE("expected_current_state", Kind.STATE),
  /** The key by the template before, during a migration. */
  IDEMPOTENCY_KEY_PREVIOUS("idempotency_key_previous", Kind.KEY),
  /** A hash of the content that the key stands for. */
  FINGERPRINT("fingerprint", Kind.FINGERPRINT),
  /** The major version of the spec. */
  IDEM_SPEC("idem_spec", 1, 1),
  /** The retries made so far. */
  RETRY_COUNT("retry_count", 0, Integer.MAX_VALUE),
  /** The retries allowed. */
  MAX_RETRY("max_retry", 0, 100),
  /** The holds made so far. */
  HOLD_COUNT("hold_count", 0, Integer.MAX_VALUE),
  /** The holds allowed. */
  MAX_HOLD("max_hold", 0, 100),
  /** The lives after the first. */
  REDRIVE_COUNT("redrive_count", 0, Integer.MAX_VALUE),
  /** Who a retry, deferral or redrive is for. */
  TARGET_SCOPE("target_scope", Kind.NAME),
  /** The first exponential delay in seconds. */
  BACKOFF_BASE("backoff_base", 1, 86_400),
  /** The largest jitter in milliseconds. */
  BACKOFF_JITTER("backoff_jitter", 0, 3_600_000),
  /** The cap of exponential delays in seconds. */
  BACKOFF_MAX("backoff_max", 1, 604_800),
  /** Delays in milliseconds instead of exponential ones, joined by commas. */
  BACKOFF_SCHEDULE("backoff_schedule", Kind.SCHEDULE, 0, 604_800_000),
  /** The delay chosen for this delivery, in milliseconds. */
  RETRY_INTERVAL("retry_interval", 0, 608_400_000),
  /** When this delivery falls due. */
  NEXT_RETRY_TIME("next_retry_time", Kind.TIME),
  /** Why the message is delivered again or dead: a code, or a code, a colon and detail. */
  REJECT_REASON("reject_reason", Kind.REASON);

  /** The kinds of values. */
  enum Kind {
    KEY,
    NAME,
    STATE,
    FINGERPRINT,
    INTEGER,
    SCHEDULE,
    TIME,
    ID,
    CONTEXT_TIME,
    TRACE,
    REASON;

    /** Whether a fault is a warning (HDR-014). */
    boolean isContext() {
      return this == ID || this == CONTEXT_TIME || this == TRACE || this == REASON;
    }
  }

  /** The most entries of a {@link #BACKOFF_SCHEDULE}. */
  static final int MAX_SCHEDULE = 32;

  private final String text;
  private final Kind kind;
  private final long least;
  private final long most;
  private final String http;
  private final String cloudEvents;

  HeaderName(String text, Kind kind) {
    this(text, kind, 0, 0, without(text));
  }

  HeaderName(String text, Kind kind, String cloudEvents) {
    this(text, kind, 0, 0, cloudEvents);
  }

  HeaderName(String text, long least, long most) {
    this(text, Kind.INTEGER, least, most, without(text));
  }

  HeaderName(String text, Kind kind, long least, long most) {
    this(text, kind, least, most, without(text));
  }

  HeaderName(String text, Kind kind, long least, long most, String cloudEvents) {
    this.text = text;
    this.kind = kind;
    this.least = least;
    this.most = most;
    this.http = httpName(text);
    this.cloudEvents = cloudEvents;
  }

  /** The name on Kafka and AMQP, and in the spec. */
  public String text() {
    return text;
  }

  /** The name on a transport (HDR-040 to HDR-045). */
  public String on(Transport transport) {
    switch (transport) {
      case HTTP:
        return http;
      case CLOUDEVENTS:
        return cloudEvents;
      default:
        return text;
    }
  }

  Kind kind() {
    return kind;
  }

  /** Whether an integer, or an entry of a schedule, is in the range of HDR-002. */
  boolean isInRange(long value) {
    return value >= least && value <= most;
  }

  private static String without(String text) {
    return text.replace("_", "");
  }

  private static String httpName(String text) {
    if (text.startsWith("trace")) {
      return text;
    }
    boolean named = text.equals("idempotency_key") || text.equals("idem_spec");
    StringBuilder name = new StringBuilder(named ? "" : "Idem-");
    boolean first = true;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '_') {
        name.append('-');
      } else {
        // The names are ASCII: a capital is 32 below.
        name.append(first ? (char) (c - 32) : c);
      }
      first = c == '_';
    }
    return name.toString();
  }
}
