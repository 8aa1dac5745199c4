package io.github.idemspec.store;

import io.github.idemspec.v1.Header;
import java.util.List;

/**
 * A message for the outbox, which a relay publishes.
 *
 * @param topic where it goes
 * @param messageKey the broker's key, the biz key's bytes; null: none, and no order
 * @param headers its headers
 * @param payload its bytes
 */
public record Outgoing(String topic, byte[] messageKey, List<Header> headers, byte[] payload) {}
