package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.DeadLetter;
import io.github.idemspec.store.Retry;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.NextHeaders;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Transport;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes down what follows from deliveries: retries, holds, deferrals and dead letters. */
final class FollowUps {
  private final String scope;

  FollowUps(String scope) {
    this.scope = scope;
  }

  /** Leaves the record at this very delivery, with the counts it has come to (DEDUP-011). */
  Settlement.Builder inPlace(MessageDelivery d, boolean giveBack) {
    boolean decided = d.decision != null && d.decision.retryCount() >= 0;
    return Settlement.failed(d.lease)
        .giveBack(giveBack)
        .counts(d.redriveCount(), d.headers.retryCount(), d.headers.holdCount())
        .kept(
            decided ? (int) d.decision.retryCount() : d.retryCount,
            decided ? (int) d.decision.holdCount() : d.holdCount);
  }

  /** A retry, a hold or a deferral. */
  Settlement.Builder next(MessageDelivery d) {
    Decision decision = d.decision;
    Action action = decision.action();
    int retries = (int) decision.retryCount();
    int holds = (int) decision.holdCount();
    List<Header> headers = headers(d);
    String reason = reason(d, headers);
    Retry row =
        new Retry(
            scope,
            d.key,
            d.eventType(),
            d.bizKey,
            column(d.text(HeaderName.EVENT_ID)),
            d.message.source(),
            d.redriveCount(),
            retries,
            holds,
            action,
            reason,
            Topics.retry(d.origin, scope),
            d.message.key(),
            headers,
            d.message.value(),
            d.delay(),
            d.status == Status.PARKED);
    return Settlement.failed(d.lease)
        .giveBack(action != Action.RETRY)
        .counts(d.redriveCount(), retries, holds)
        .retry(row)
        .lane(d.lane, action == Action.HOLD);
  }

  /** A dead letter. */
  Settlement.Builder dead(MessageDelivery d) {
    Settlement.Builder settlement;
    boolean malformed = d.outcome() == Outcome.MALFORMED;
    if (malformed && d.headers != null && d.held()) {
      // The same key may come with a payload that can be read (DEDUP-012).
      settlement = inPlace(d, true);
    } else {
      settlement =
          (malformed ? Settlement.failed(d.lease) : Settlement.dead(d.lease))
              .counts(d.redriveCount(), d.retryCount, d.holdCount);
    }
    // Without a claim it is another message with the head's key, which stays (CONS-014).
    return settlement.deadLetter(letter(d)).lane(d.lane, d.lane != null && d.held());
  }

  private DeadLetter letter(MessageDelivery d) {
    boolean faulty = d.headers == null;
    List<Header> headers = headers(d);
    return new DeadLetter(
        scope,
        faulty ? sound(d, HeaderName.IDEMPOTENCY_KEY) : d.key,
        faulty ? sound(d, HeaderName.EVENT_TYPE) : d.eventType(),
        faulty ? sound(d, HeaderName.BIZ_KEY) : d.bizKey,
        faulty ? sound(d, HeaderName.EVENT_ID) : column(d.text(HeaderName.EVENT_ID)),
        d.message.source(),
        d.redriveCount(),
        d.retryCount,
        d.holdCount,
        d.outcome(),
        reason(d, headers),
        d.origin,
        d.message.key(),
        headers,
        d.message.value());
  }

  /** Faulty headers keep their counts, which nobody could read (HDR-031). */
  private List<Header> headers(MessageDelivery d) {
    Decision decision = d.decision;
    if (d.headers == null) {
      decision = Decision.deadLetter(-1, -1, decision.rejectReason());
    }
    return NextHeaders.of(
        Transport.KAFKA,
        d.message.headers(),
        decision,
        scope,
        d.origin,
        System.currentTimeMillis());
  }

  /** What the reject_reason says; of what has none, the outcome or what came of it. */
  private static String reason(MessageDelivery d, List<Header> headers) {
    if (d.decision.rejectReason() == null) {
      return d.result.reason() == null ? d.outcome().name() : d.result.reason();
    }
    String name = HeaderName.REJECT_REASON.text();
    for (Header header : headers) {
      if (header.name().equals(name)) {
        return new String(header.value(), StandardCharsets.UTF_8);
      }
    }
    return d.outcome().name();
  }

  /** A text as a database can hold it: one with a zero is left to the headers. */
  private static String column(String text) {
    return text.indexOf(0) >= 0 ? "" : text;
  }

  /** What of faulty headers is sound all the same, to find the dead letter by. */
  private static String sound(MessageDelivery d, HeaderName name) {
    List<Header> same = new ArrayList<>();
    for (Header header : d.message.headers()) {
      if (header.name().equals(name.text())) {
        same.add(header);
      }
    }
    try {
      String text = Headers.parse(Transport.KAFKA, same).text(name);
      return text == null ? "" : column(text);
    } catch (IdemException e) {
      return "";
    }
  }
}
