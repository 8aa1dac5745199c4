package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Producing;
import io.github.idemspec.testing.Running;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.ProducerHeaders;
import io.github.idemspec.v1.Transport;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutboxRelayTest {
  private static final String PAID = "payments.paid";

  private Running running;

  @BeforeEach
  void open() throws Exception {
    running = new Running(3);
  }

  @AfterEach
  void close() throws Exception {
    if (running != null) {
      running.close();
    }
  }

  private Outgoing message(String topic, String key, int n) {
    List<Header> headers =
        new ProducerHeaders(PAID, PAID + ":v1:" + key + "-" + n)
            .bizKey(key)
            .context(Producing.to(topic))
            .list(Transport.KAFKA);
    byte[] payload = String.valueOf(n).getBytes(StandardCharsets.UTF_8);
    return new Outgoing(topic, key.getBytes(StandardCharsets.UTF_8), headers, payload);
  }

  private void relay(Map<String, Object> more) {
    Map<String, Object> properties = new HashMap<>(running.topic.properties());
    properties.putAll(more);
    running.relay(properties);
  }

  private void awaitEmpty() throws Exception {
    await("sent", () -> "0".equals(running.database.ask("select count(*) from outbox")));
  }

  /** The payloads of each key, in the order of the topic. */
  private Map<String, List<Integer>> published() {
    Map<String, List<Integer>> byKey = new TreeMap<>();
    running.topic.read(
        (key, value) -> byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(Integer.valueOf(value)));
    return byKey;
  }

  @Test
  void run_manyOfEachKeyAndTwoRelays_publishesInOrderAndRemoves() throws Exception {
    List<Outgoing> messages = new ArrayList<>();
    for (int n = 0; n < 50; n++) {
      for (String key : List.of("a", "b", "c")) {
        messages.add(message(running.topic.name, key, n));
      }
    }
    running.store.store(messages);
    relay(Map.of());
    relay(Map.of());
    awaitEmpty();
    List<Integer> all = IntStream.range(0, 50).boxed().toList();
    assertEquals(Map.of("a", all, "b", all, "c", all), published());
  }

  /** A transaction that rolls back sends nothing. */
  @Test
  void storeTx_rolledBack_publishesNothing() throws Exception {
    try (var connection = java.sql.DriverManager.getConnection(running.database.jdbcUrl())) {
      connection.setAutoCommit(false);
      running.store.storeTx(connection, List.of(message(running.topic.name, "a", 1)));
      connection.rollback();
      running.store.storeTx(connection, List.of(message(running.topic.name, "a", 2)));
      connection.commit();
    }
    Map<String, Double> counted = new ConcurrentHashMap<>();
    running.relay(
        running.topic.properties(),
        new Observer() {
          @Override
          public void measure(Metric metric, String of, double value) {
            counted.merge(metric.text() + " " + of, value, Double::sum);
          }
        });
    awaitEmpty();
    assertEquals(Map.of("a", List.of(2)), published());
    assertEquals(Map.of("idem_outbox_sent_total " + running.topic.name, 1.0), counted);
  }

  /** A message that the broker does not take holds back its own key alone, and is given up. */
  @Test
  void run_messageThatIsTooLarge_isGivenUpAndHoldsBackItsKeyAlone() throws Exception {
    Outgoing good = message(running.topic.name, "a", 1);
    Outgoing large =
        new Outgoing(good.topic(), good.messageKey(), good.headers(), new byte[40_000]);
    running.store.store(
        List.of(large, message(running.topic.name, "a", 2), message(running.topic.name, "b", 3)));
    relay(Map.of("max.request.size", 20_000));
    await(
        "given up",
        () -> "1".equals(running.database.ask("select count(*) from outbox where failed")));
    assertEquals(Map.of("b", List.of(3)), published());
    assertEquals("4", running.database.ask("select attempts from outbox where failed"));

    running.database.run("update outbox set payload = '1' where failed");
    assertEquals(1, running.store.retryFailed(10));
    awaitEmpty();
    assertEquals(Map.of("a", List.of(1, 2), "b", List.of(3)), published());
  }
}
