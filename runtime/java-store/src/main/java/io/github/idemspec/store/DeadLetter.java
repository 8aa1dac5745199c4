package io.github.idemspec.store;

import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Outcome;
import java.util.List;

/**
 * A row of dead_letter that is to be written: a message that ended, with all that is needed to
 * understand it and to redrive it. A second write of the same delivery leaves one that still waits as
 * it is.
 *
 * @param scope the consumer
 * @param key the idempotency key, or empty
 * @param eventType that of the headers, or empty
 * @param bizKey that of the headers or of the broker, or empty
 * @param eventId that of the headers, or empty
 * @param source the delivery that ended
 * @param redriveCount its life
 * @param retryCount the retries it had
 * @param holdCount the holds it had
 * @param outcome what it came to
 * @param reason why, as the reject_reason header says
 * @param topic the origin
 * @param messageKey the broker's key, or null
 * @param headers those of the message, with why it ended (HDR-031)
 * @param payload the message's bytes as they are, or null
 */
public record DeadLetter(
    String scope,
    String key,
    String eventType,
    String bizKey,
    String eventId,
    Source source,
    int redriveCount,
    int retryCount,
    int holdCount,
    Outcome outcome,
    String reason,
    String topic,
    byte[] messageKey,
    List<Header> headers,
    byte[] payload) {}
