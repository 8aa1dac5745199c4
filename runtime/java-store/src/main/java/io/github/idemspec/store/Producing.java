package io.github.idemspec.store;

import io.github.idemspec.v1.Context;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;

/** What a producer knows beside its message, for the generated {@code headers}. */
public final class Producing {
  private static final SecureRandom RANDOM = new SecureRandom();

  private Producing() {}

  /**
   * A new event for a topic: its id, a UUIDv7 that every retry keeps, and the time. Make it once, before
   * the message is stored or sent for the first time.
   */
  public static Context to(String topic) {
    Instant now = Instant.now();
    return Context.EMPTY
        .withEventId(eventId(now.toEpochMilli()))
        .withTopic(topic)
        .withProducedAt(now.getEpochSecond(), now.getNano());
  }

  /** RFC 9562: 48 bits of milliseconds, the version, 12 random bits, the variant, 62 random bits. */
  private static String eventId(long ms) {
    long high = ms << 16 | 0x7000 | RANDOM.nextInt(0x1000);
    long low = RANDOM.nextLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
    return new UUID(high, low).toString();
  }
}
