package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Lane;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.Transport;
import io.github.idemspec.v1.Xxh64;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;

/** Reads messages, and applies the rules of their routes. */
final class Opening {
  private final GuardConfig config;

  Opening(GuardConfig config) {
    this.config = config;
  }

  MessageDelivery parse(Message message) {
    String origin = Topics.origin(message.source().topic(), config.scope());
    MessageDelivery d = new MessageDelivery(config.scope(), message, origin, Instant.now());
    d.rules = Rules.of(Mode.IDEMPOTENT);
    try {
      d.headers = Headers.parse(Transport.KAFKA, message.headers());
    } catch (IdemException e) {
      d.end(Result.of(Outcome.MALFORMED, "BAD_HEADERS: " + e.getMessage()), e);
      return d;
    }
    String target = d.headers.text(HeaderName.TARGET_SCOPE);
    if (target != null && !target.equals(config.scope())) {
      d.skip();
      return d;
    }
    read(d);
    return d;
  }

  private static void read(MessageDelivery d) {
    d.key = d.text(HeaderName.IDEMPOTENCY_KEY);
    d.retryCount = d.headers.retryCount();
    d.holdCount = d.headers.holdCount();
    String produced = d.headers.text(HeaderName.PRODUCED_AT);
    if (produced != null) {
      try {
        d.produced = Instant.parse(produced);
      } catch (DateTimeParseException e) {
        // A fault of context is no fault of the message.
      }
    }
    d.bizKey = d.text(HeaderName.BIZ_KEY);
    byte[] onBroker = d.message.key();
    if (d.bizKey.isEmpty() && onBroker != null && onBroker.length > 0) {
      d.bizKey = bizKeyOf(onBroker);
    }
  }

  /**
   * The lane of a message without a biz_key header is its key on the broker. One that is no text of the
   * spec is named by its hash; two that share one are merely in one lane.
   */
  private static String bizKeyOf(byte[] key) {
    try {
      Header header = new Header(HeaderName.BIZ_KEY.text(), key);
      return Headers.parse(Transport.KAFKA, List.of(header)).text(HeaderName.BIZ_KEY);
    } catch (IdemException e) {
      return "hash:" + Xxh64.hex(Xxh64.hash(key));
    }
  }

  void route(MessageDelivery d, Rules rules) {
    d.rules = rules;
    if (d.status != Status.OPENED) {
      return;
    }
    byte[] payload = d.message.value();
    if (payload != null && payload.length > rules.maxBytes()) {
      String text = payload.length + " bytes, the limit is " + rules.maxBytes();
      d.end(Result.of(Outcome.MALFORMED, "MESSAGE_TOO_LARGE: " + text), null);
      return;
    }
    if (d.key.isEmpty() && !takeKey(d)) {
      return;
    }
    d.policy = Policy.resolve(d.headers.policy(), rules.policy().toValues(), config.limits());
    if (rules.order() == Order.PARK && !d.key.isEmpty() && !d.bizKey.isEmpty()) {
      d.lane = new Lane(d.origin, d.bizKey);
    }
  }

  /** Finds a key for a message without one; false where the delivery ends (KEY-022). */
  private static boolean takeKey(MessageDelivery d) {
    switch (d.rules.missingKey()) {
      case PASS_THROUGH:
        return true;
      case DERIVE:
        try {
          String key = derived(d);
          Header header = Header.of(HeaderName.IDEMPOTENCY_KEY.text(), key);
          d.key = Headers.parse(Transport.KAFKA, List.of(header)).idempotencyKey();
          return true;
        } catch (RuntimeException e) { // The function is the user's.
          d.end(Result.of(Outcome.MALFORMED, "BAD_KEY: " + e), e);
          return false;
        }
      default:
        String text = "MISSING_KEY: no idempotency_key header; Rules.derive or passThrough take it";
        d.end(Result.of(Outcome.MALFORMED, text), null);
        return false;
    }
  }

  /** A payload that is nested too deeply is no fault of the process. */
  private static String derived(MessageDelivery d) {
    try {
      return d.rules.derive().apply(d.message);
    } catch (StackOverflowError | AssertionError e) {
      throw new IllegalArgumentException(e.toString(), e);
    }
  }

  /** What a shadow finds that a message would come to. */
  static Result shadow(MessageDelivery d, Seen seen) {
    String reason = null;
    if (d.rules.derive() != null) {
      try {
        String key = derived(d);
        reason = key.equals(d.key) ? null : "the schema's key is " + key;
      } catch (RuntimeException e) { // The function is the user's.
        return Result.of(Outcome.MALFORMED, "BAD_KEY: " + e);
      }
    }
    boolean keyed = !d.key.isEmpty();
    return Result.of(keyed ? seen.add(d.key, d.text(HeaderName.FINGERPRINT)) : Outcome.OK, reason);
  }
}
