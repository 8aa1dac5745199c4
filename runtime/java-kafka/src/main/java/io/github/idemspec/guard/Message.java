package io.github.idemspec.guard;

import io.github.idemspec.store.Source;
import io.github.idemspec.v1.Header;
import java.time.Instant;
import java.util.List;

/**
 * A message as its broker has it.
 *
 * @param source where it was read
 * @param key the broker's key, or null
 * @param value its bytes, or null
 * @param headers its headers
 * @param time the broker's, or null
 */
public record Message(
    Source source, byte[] key, byte[] value, List<Header> headers, Instant time) {}
