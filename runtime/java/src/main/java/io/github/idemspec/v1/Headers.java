// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The headers of one delivery, read and checked (HDR-010 to HDR-015). Immutable. */
public final class Headers {
  private final Map<HeaderName, String> known = new EnumMap<>(HeaderName.class);
  private final List<HeaderName> warnings = new ArrayList<>();
  private final List<Header> unknown;

  private Headers(RawHeaders raw) {
    for (HeaderName name : HeaderName.values()) {
      read(name, raw.of(name));
    }
    unknown = raw.unknown();
  }

  /**
   * Reads the headers of a delivery.
   *
   * @param headers what the transport has, in its order
   * @throws IdemException the first fault of the first faulty header in the order of {@link
   *     HeaderName}: HEADER_CONFLICT, HEADER_UTF8, HEADER_SYNTAX, HEADER_RANGE, KEY_SYNTAX,
   *     KEY_TOO_LONG or SPEC_VERSION. The message is MALFORMED (HDR-016)
   */
  public static Headers parse(Transport transport, List<Header> headers) {
    return new Headers(new RawHeaders(transport, headers));
  }

  private void read(HeaderName name, List<RawHeaders.Value> values) {
    if (values.isEmpty()) {
      return;
    }
    RawHeaders.Value value = values.get(0);
    ErrorCode fault = values.size() > 1 ? ErrorCode.HEADER_CONFLICT : value.faultOf(name);
    if (fault == null) {
      known.put(name, value.text());
    } else if (name.kind().isContext()) {
      warnings.add(name);
    } else {
      throw new IdemException(fault, name.text(), -1, value.text());
    }
  }

  /** The text of a header, an HTTP key without its quotes; null where it is absent or left out. */
  public String text(HeaderName name) {
    return known.get(name);
  }

  /** The idempotency key, or null. */
  public String idempotencyKey() {
    return text(HeaderName.IDEMPOTENCY_KEY);
  }

  /** The retries made so far; 0 where the header is absent. */
  public int retryCount() {
    return count(HeaderName.RETRY_COUNT);
  }

  /** The holds made so far; 0 where the header is absent. */
  public int holdCount() {
    return count(HeaderName.HOLD_COUNT);
  }

  /** The lives after the first; 0 where the header is absent. */
  public int redriveCount() {
    return count(HeaderName.REDRIVE_COUNT);
  }

  private int count(HeaderName name) {
    String text = text(name);
    return text == null ? 0 : (int) HeaderText.integer(text);
  }

  /** What the headers say of the policy, for {@link Policy#resolve}. */
  public Policy.Values policy() {
    Policy.Values values = Policy.values();
    if (text(HeaderName.MAX_RETRY) != null) {
      values.maxRetry(count(HeaderName.MAX_RETRY));
    }
    if (text(HeaderName.MAX_HOLD) != null) {
      values.maxHold(count(HeaderName.MAX_HOLD));
    }
    if (text(HeaderName.BACKOFF_BASE) != null) {
      values.backoffBaseSeconds(count(HeaderName.BACKOFF_BASE));
    }
    if (text(HeaderName.BACKOFF_JITTER) != null) {
      values.backoffJitterMs(count(HeaderName.BACKOFF_JITTER));
    }
    if (text(HeaderName.BACKOFF_MAX) != null) {
      values.backoffMaxSeconds(count(HeaderName.BACKOFF_MAX));
    }
    if (text(HeaderName.BACKOFF_SCHEDULE) != null) {
      values.backoffScheduleMs(HeaderText.schedule(text(HeaderName.BACKOFF_SCHEDULE)));
    }
    return values;
  }

  /**
   * The context headers that were left out for a fault, in the order of {@link HeaderName}
   * (HDR-014).
   */
  public List<HeaderName> warnings() {
    return Collections.unmodifiableList(warnings);
  }

  /** All other headers as they came, in their order, nulls too (HDR-015). */
  public List<Header> unknown() {
    return Collections.unmodifiableList(unknown);
  }
}
