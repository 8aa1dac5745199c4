package io.github.idemspec.example;

import io.github.idemspec.guard.NonRetryableException;
import io.github.idemspec.guard.ThrottledException;
import io.github.idemspec.kafka.ConsumerConfig;
import io.github.idemspec.kafka.IdemConsumer;
import io.github.idemspec.kafka.Route;
import io.github.idemspec.store.postgres.PostgresStore;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** Books each payment once, however often its message comes. */
public final class Payments {
  private Payments() {}

  /** The consumer of a group. */
  public static IdemConsumer consumer(
      DataSource pool, Map<String, Object> kafka, String group, String topic) {
    Route paid =
        Route.tx(
            "payments.paid",
            (delivery, connection) -> {
              String id = new String(delivery.message().value(), StandardCharsets.UTF_8);
              switch (id) {
                case "expired":
                  throw new NonRetryableException("CARD_EXPIRED", "in May"); // A dead letter.
                case "busy":
                  throw new ThrottledException(Duration.ofSeconds(30), "the bank"); // Later.
                default:
                  String sql = "insert into payment (id) values (?)";
                  try (PreparedStatement insert = connection.prepareStatement(sql)) {
                    insert.setString(1, id);
                    insert.executeUpdate();
                  } // The commit is the consumer's, and SUCCESS is part of it.
              }
            });
    return new IdemConsumer(
        kafka, new PostgresStore(pool), ConsumerConfig.of(group, topic), paid);
  }
}
