// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The headers of the next delivery of a message: a retry, a hold, a deferral, a dead letter or a
 * redrive (HDR-030 to HDR-034). Headers are replaced and never added to, so a message has the same
 * size after 100 retries.
 */
public final class NextHeaders {
  private final Transport transport;
  private final RawHeaders before;

  /** What is set, as text; the empty {@link #REMOVED} takes a header away. */
  private final Map<HeaderName, String> changes = new EnumMap<>(HeaderName.class);

  @SuppressWarnings("StringOperationCanBeSimplified") // An identity, which no other text has.
  private static final String REMOVED = new String("");

  private NextHeaders(Transport transport, List<Header> headers, String scope, String topic) {
    this.transport = transport;
    this.before = new RawHeaders(transport, headers);
    if (before.of(HeaderName.TOPIC).isEmpty()) {
      changes.put(HeaderName.TOPIC, topic);
    }
    changes.put(HeaderName.TARGET_SCOPE, scope);
  }

  /**
   * The headers after a decision.
   *
   * @param transport what carries them, before and after
   * @param headers those of this delivery, faulty ones too
   * @param decision RETRY, HOLD, DEFER or DEAD_LETTER
   * @param scope who the next delivery is for
   * @param topic where this delivery came from, which becomes the origin where none is known
   * @param nowMs milliseconds since 1970-01-01T00:00:00Z, from 0
   * @throws IdemException TIMESTAMP_RANGE where the next delivery is due after the year 9999,
   *     INPUT_INVALID for ACK
   */
  public static List<Header> of(
      Transport transport,
      List<Header> headers,
      Decision decision,
      String scope,
      String topic,
      long nowMs) {
    NextHeaders next = new NextHeaders(transport, headers, scope, topic);
    next.count(HeaderName.RETRY_COUNT, decision.retryCount());
    next.count(HeaderName.HOLD_COUNT, decision.holdCount());
    switch (decision.action()) {
      case RETRY:
      case HOLD:
        next.reason(decision.rejectReason());
        next.due(decision.delayMs(), nowMs);
        break;
      case DEFER:
        next.due(decision.delayMs(), nowMs);
        break;
      case DEAD_LETTER:
        next.reason(decision.rejectReason());
        next.notDue();
        break;
      default:
        throw new IdemException(ErrorCode.INPUT_INVALID, "action", -1, decision.action().name());
    }
    return next.write();
  }

  /**
   * The headers of a dead letter's next life.
   *
   * @param transport what carries them, before and after
   * @param headers those of the dead letter
   * @param recordRedriveCount the redrive count of the dedup record; 0 where there is none
   * @param dropFingerprint whether the payload was repaired, so that its fingerprint is another
   * @param scope who the redrive is for
   * @param topic where the message came from, which becomes the origin where none is known
   */
  public static List<Header> redrive(
      Transport transport,
      List<Header> headers,
      long recordRedriveCount,
      boolean dropFingerprint,
      String scope,
      String topic) {
    NextHeaders next = new NextHeaders(transport, headers, scope, topic);
    if (dropFingerprint) {
      next.changes.put(HeaderName.FINGERPRINT, REMOVED);
    }
    next.count(HeaderName.RETRY_COUNT, 0);
    next.count(HeaderName.HOLD_COUNT, 0);
    long last = Math.max(next.redriveCount(), recordRedriveCount);
    next.count(HeaderName.REDRIVE_COUNT, last < Integer.MAX_VALUE ? last + 1 : Integer.MAX_VALUE);
    next.notDue();
    next.changes.put(HeaderName.REJECT_REASON, REMOVED);
    return next.write();
  }

  /** The header's redrive count; 0 where it is absent or faulty. */
  private long redriveCount() {
    List<RawHeaders.Value> values = before.of(HeaderName.REDRIVE_COUNT);
    boolean readable =
        values.size() == 1 && values.get(0).faultOf(HeaderName.REDRIVE_COUNT) == null;
    return readable ? HeaderText.integer(values.get(0).text()) : 0;
  }

  private void count(HeaderName name, long count) {
    if (count >= 0) {
      changes.put(name, Long.toString(count));
    }
  }

  private void reason(String reason) {
    changes.put(HeaderName.REJECT_REASON, HeaderText.reason(reason, transport));
  }

  private void due(long delayMs, long nowMs) {
    // Both are not negative, so a sum that overflows is one that is out of range.
    String time =
        new KeyBuilder()
            .epochUnsigned(nowMs + delayMs, EpochUnit.MILLIS, 3, HeaderName.NEXT_RETRY_TIME.text())
            .key();
    changes.put(HeaderName.RETRY_INTERVAL, Long.toString(delayMs));
    changes.put(HeaderName.NEXT_RETRY_TIME, time);
  }

  private void notDue() {
    changes.put(HeaderName.RETRY_INTERVAL, REMOVED);
    changes.put(HeaderName.NEXT_RETRY_TIME, REMOVED);
  }

  @SuppressWarnings("ReferenceEquality")
  private List<Header> write() {
    List<Header> next = new ArrayList<>();
    for (HeaderName name : HeaderName.values()) {
      String change = changes.get(name);
      if (change == null) {
        for (RawHeaders.Value value : before.of(name)) {
          next.add(new Header(name.on(transport), value.raw));
        }
      } else if (change != REMOVED) {
        next.add(Header.of(name.on(transport), change));
      }
    }
    next.addAll(before.unknown());
    return next;
  }
}
