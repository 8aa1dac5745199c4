package io.github.idemspec.store;

import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Header;
import java.time.Duration;
import java.util.List;

/**
 * A row of msg_retry that is to be written: a delivery that is durable and still to come. It is
 * unique by the delivery that caused it; a second write at the same position or a higher one replaces
 * it, a lower one leaves it as it is (DEDUP-027).
 *
 * @param scope the consumer
 * @param key the idempotency key, or empty
 * @param eventType that of the headers, or empty
 * @param bizKey that of the headers or of the broker, or empty
 * @param eventId that of the headers, or empty
 * @param source the delivery that caused it
 * @param redriveCount the next delivery's
 * @param retryCount the next delivery's
 * @param holdCount the next delivery's
 * @param action RETRY, HOLD or DEFER
 * @param reason why, as the reject_reason header says
 * @param topic where it is published, {@code <origin>.retry.<scope>}
 * @param messageKey the broker's key, or null
 * @param headers those of the next delivery
 * @param payload the message's bytes as they are, or null
 * @param due how long from the store's present it falls due
 * @param park it waits behind the head of its lane
 */
public record Retry(
    String scope,
    String key,
    String eventType,
    String bizKey,
    String eventId,
    Source source,
    int redriveCount,
    int retryCount,
    int holdCount,
    Action action,
    String reason,
    String topic,
    byte[] messageKey,
    List<Header> headers,
    byte[] payload,
    Duration due,
    boolean park) {

  /** How far along the next delivery is (DEDUP-004). */
  public long position() {
    return (long) retryCount + holdCount;
  }
}
