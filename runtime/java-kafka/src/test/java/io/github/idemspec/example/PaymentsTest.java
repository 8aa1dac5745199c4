package io.github.idemspec.example;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.kafka.IdemConsumer;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.testing.Topic;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The example of README.md. */
class PaymentsTest {
  @Test
  void readme_theExample_isThisFile() throws Exception {
    String file =
        Files.readString(Path.of("src/test/java/io/github/idemspec/example/Payments.java"));
    String example = file.substring(file.indexOf("    Route paid"), file.lastIndexOf("  }\n}"));
    String readme = Files.readString(Path.of("README.md"));
    assertTrue(readme.contains(example.stripTrailing().replaceAll("(?m)^    ", "")), example);
  }

  @Test
  void messages_thatComeTwice_areBookedOnce() throws Exception {
    try (Servers.Database database = new Servers.Database();
        HikariDataSource pool = database.pool(true);
        Topic topic = new Topic(1)) {
      database.run("create table payment (id text)");
      try (IdemConsumer consumer =
          Payments.consumer(pool, topic.properties(), topic.group, topic.name)) {
        new Thread(consumer).start();
        for (String id : new String[] {"p-1", "p-2", "p-1", "expired", "busy"}) {
          topic.send("payments.paid", "payments.paid:v1:" + id, "o-1", id);
        }
        await("offsets", () -> topic.committed() == 5);
      }
      assertEquals("p-1,p-2", database.ask("select string_agg(id, ',' order by id) from payment"));
      assertEquals("CARD_EXPIRED: in May", database.ask("select reason from dead_letter"));
      assertEquals(
          "THROTTLED: the bank", database.ask("select reason from msg_retry where retry_count = 1"));
    }
  }
}
