package io.github.idemspec.store;

import io.github.idemspec.v1.Header;
import java.util.List;

/**
 * A row of msg_retry that a scheduler has claimed.
 *
 * @param id the row's
 * @param scope the consumer it is for
 * @param key the idempotency key, or empty
 * @param redriveCount when it was claimed
 * @param position when it was claimed
 * @param topic where it is published
 * @param messageKey the broker's key, or null
 * @param headers its headers
 * @param payload its bytes, or null
 * @param publications how often a scheduler has claimed it
 * @param token the claim's
 */
public record DueRetry(
    long id,
    String scope,
    String key,
    int redriveCount,
    long position,
    String topic,
    byte[] messageKey,
    List<Header> headers,
    byte[] payload,
    int publications,
    String token) {}
