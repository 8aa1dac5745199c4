package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.NonRetryableException;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.guard.Order;
import io.github.idemspec.guard.RetryableException;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.guard.TxHandler;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.testing.Pair;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.testing.Topic;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Policy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class IdemConsumerTest {
  private static final String PAID = "payments.paid";
  private static final Policy QUICK =
      Policy.values().maxRetry(3).backoffScheduleMs(50).backoffJitterMs(0).toPolicy();

  private static Servers.Database database;
  private static HikariDataSource pool;
  private static PostgresStore store;

  private final List<AutoCloseable> closing = new ArrayList<>();

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    database.run("create table effect (scope text, key text, payload text)");
    pool = database.pool(true);
    store = new PostgresStore(pool);
  }

  @AfterAll
  static void close() {
    if (database != null) {
      pool.close();
      database.close();
    }
  }

  @AfterEach
  void end() throws Exception {
    Collections.reverse(closing);
    for (AutoCloseable c : closing) {
      c.close();
    }
  }

  private Topic topic(int partitions) throws Exception {
    Topic topic = new Topic(partitions);
    closing.add(topic);
    return topic;
  }

  private IdemConsumer start(Topic topic, Route... routes) {
    return start(topic, ConsumerConfig.of(topic.group, topic.name), routes);
  }

  private IdemConsumer start(Topic topic, ConsumerConfig config, Route... routes) {
    ConsumerConfig quick =
        config.withTimes(
            Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(20), config.hold());
    IdemConsumer consumer = new IdemConsumer(topic.properties(), store, quick, routes);
    new Thread(consumer, "test-consumer").start();
    closing.add(consumer);
    return consumer;
  }

  private static TxHandler effect(Topic topic) {
    return (d, connection) ->
        insert(connection, topic.group, d.key(), new String(d.message().value(), StandardCharsets.UTF_8));
  }

  private static void insert(Connection c, String scope, String key, String payload)
      throws Exception {
    try (PreparedStatement p = c.prepareStatement("insert into effect values (?, ?, ?)")) {
      p.setString(1, scope);
      p.setString(2, key);
      p.setString(3, payload);
      p.executeUpdate();
    }
  }

  private static int count(String sql, Topic topic) {
    return Integer.parseInt(database.ask(sql + " where scope = '" + topic.group + "'"));
  }

  private static int effects(Topic topic) {
    return count("select count(*) from effect", topic);
  }

  @Test
  void tx_messagesThatComeTwice_haveOneEffectAndAreCommitted() throws Exception {
    Topic topic = topic(2);
    start(topic, Route.tx(PAID, effect(topic)));
    for (int i = 0; i < 60; i++) {
      topic.send(PAID, PAID + ":v1:p-" + i % 30, "o-" + i % 7, "x");
    }
    await("offsets", () -> topic.committed() == 60);
    assertEquals(30, effects(topic));
    assertEquals(30, count("select count(distinct key) from effect", topic));
  }

  @Test
  void tx_aFailure_isRetriedByTheSchedulerOfGoAndSucceeds() throws Exception {
    Topic topic = topic(1);
    AtomicInteger calls = new AtomicInteger();
    TxHandler effect = effect(topic);
    start(
        topic,
        Route.tx(
            PAID,
            Rules.of(Mode.TX).policy(QUICK),
            (d, connection) -> {
              effect.handle(d, connection);
              if (calls.incrementAndGet() < 3) {
                throw new RetryableException("not yet");
              }
            }));
    topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    try (Pair go = Pair.go(database.url(), topic.brokers())) {
      assertEquals(1, go.publish(1));
      assertEquals(1, go.publish(1));
    }
    await("the effect", () -> effects(topic) == 1);
    assertEquals(3, calls.get());
    assertEquals(
        "2",
        database.ask(
            "select retry_count from idem_record where state = 2 and scope = '"
                + topic.group
                + "'"));
    assertEquals(0, count("select count(*) from msg_retry", topic));
  }

  @Test
  void scheduler_ofJava_publishesWhatIsDueAndPostponesWhatCannotBe() throws Exception {
    Topic topic = topic(1);
    AtomicInteger calls = new AtomicInteger();
    TxHandler effect = effect(topic);
    start(
        topic,
        Route.tx(
            PAID,
            Rules.of(Mode.TX).policy(QUICK),
            (d, connection) -> {
              effect.handle(d, connection);
              if (calls.incrementAndGet() < 3) {
                throw new RetryableException("not yet");
              }
            }));
    topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    await("a row", () -> count("select count(*) from msg_retry", topic) == 1);
    database.run(
        "insert into msg_retry (next_retry_time, source_offset, source_partition, redrive_count,"
            + " retry_count, hold_count, scope, idempotency_key, source_topic, status, action, topic,"
            + " headers) values (now(), 1, 0, 0, 0, 0, 'nobody', 'k', 't', 'PENDING', 'RETRY',"
            + " 'no topic of this name', '[]')");
    Map<String, Double> published = new ConcurrentHashMap<>();
    Observer observer =
        new Observer() {
          @Override
          public void measure(Metric metric, String of, double value) {
            published.merge(metric.text() + " " + of, value, Double::sum);
          }
        };
    try (RetryScheduler scheduler = new RetryScheduler(topic.properties(), store, observer)) {
      new Thread(scheduler, "test-scheduler").start();
      await("the effect", () -> effects(topic) == 1);
      await(
          "a postponement",
          () ->
              "1"
                  .equals(
                      database.ask(
                          "select count(*) from msg_retry where scope = 'nobody' and token = ''"
                              + " and publications > 0")));
    }
    assertEquals(3, calls.get());
    String metric = "idem_retries_published_total " + topic.retry();
    await("both counted", () -> published.getOrDefault(metric, 0.0) == 2);
    await("no row", () -> count("select count(*) from msg_retry", topic) == 0);
    database.run("delete from msg_retry where scope = 'nobody'");
  }

  @Test
  void tx_whatCannotSucceed_isADeadLetterWithItsReasonAndNoEffect() throws Exception {
    Topic topic = topic(1);
    TxHandler effect = effect(topic);
    start(
        topic,
        ConsumerConfig.of(topic.group, topic.name).withIgnore("payments.other"),
        Route.tx(
            PAID,
            (d, connection) -> {
              effect.handle(d, connection);
              throw new NonRetryableException("CARD_EXPIRED", "in May");
            }));
    topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    topic.send("payments.other", "payments.other:v1:p-1", "o-1", "x");
    topic.send("payments.unknown", "payments.unknown:v1:p-1", "o-1", "x");
    topic.send(List.of(Header.of("event_type", PAID)), "o-1", "x");
    topic.send(List.of(Header.of("retry_count", "x"), Header.of("event_type", PAID)), "o-1", "x");
    await("offsets", () -> topic.committed() == 5);
    assertEquals(0, effects(topic));
    assertEquals(
        "NON_RETRYABLE CARD_EXPIRED: in May payments.paid",
        database.ask(letter(topic, 0)));
    assertTrue(
        database.ask(letter(topic, 2)).startsWith("NON_RETRYABLE UNKNOWN_EVENT_TYPE: no route"));
    assertTrue(database.ask(letter(topic, 3)).startsWith("MALFORMED MISSING_KEY: "));
    assertTrue(database.ask(letter(topic, 4)).startsWith("MALFORMED BAD_HEADERS: "));
    assertEquals(4, count("select count(*) from dead_letter", topic));
  }

  private static String letter(Topic topic, int offset) {
    return "select outcome || ' ' || reason || ' ' || event_type from dead_letter where scope = '"
        + topic.group
        + "' and source_offset = "
        + offset;
  }

  @Test
  void idempotent_aSlowHandler_keepsItsLease() throws Exception {
    Topic topic = topic(1);
    AtomicInteger calls = new AtomicInteger();
    ConsumerConfig config = ConsumerConfig.of(topic.group, topic.name);
    config = config.withGuard(config.guard().withLease(Duration.ofSeconds(1)));
    start(
        topic,
        config,
        Route.idempotent(
            PAID,
            d -> {
              calls.incrementAndGet();
              Thread.sleep(3_000);
              d.keep(d.key().getBytes(StandardCharsets.UTF_8));
            }));
    topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    await("offsets", () -> topic.committed() == 1);
    assertEquals(1, calls.get());
    assertEquals(
        "payments.paid:v1:p-1 1",
        database.ask(
            "select convert_from(result, 'UTF8') || ' ' || attempts from idem_record where scope = '"
                + topic.group
                + "'"));
  }

  @Test
  void idempotent_aHandlerThatHangs_isInterruptedAtItsLimit() throws Exception {
    Topic topic = topic(1);
    start(
        topic,
        Route.idempotent(
            PAID,
            Rules.of(Mode.IDEMPOTENT)
                .handlerTimeout(Duration.ofMillis(200))
                .policy(Policy.values().maxRetry(0).toPolicy()),
            d -> Thread.sleep(600_000)));
    topic.send(PAID, PAID + ":v1:p-1", "o-1", "x");
    await("offsets", () -> topic.committed() == 1);
    assertEquals(
        "RETRYABLE TIMEOUT: the handler took longer than PT0.2S payments.paid",
        database.ask(letter(topic, 0)));
  }

  @Test
  void block_aMessageThatFails_holdsBackItsKeyAlone() throws Exception {
    Topic topic = topic(1);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger calls = new AtomicInteger();
    TxHandler effect = effect(topic);
    start(
        topic,
        Route.tx(
            PAID,
            Rules.of(Mode.TX).order(Order.BLOCK).policy(QUICK),
            (d, connection) -> {
              String payload = new String(d.message().value(), StandardCharsets.UTF_8);
              if (payload.equals("a1") && calls.incrementAndGet() < 3) {
                throw new RetryableException("not yet");
              }
              order.add(payload);
              effect.handle(d, connection);
            }));
    topic.send(PAID, PAID + ":v1:a1", "a", "a1");
    topic.send(PAID, PAID + ":v1:a2", "a", "a2");
    topic.send(PAID, PAID + ":v1:a3", "a", "a3");
    topic.send(PAID, PAID + ":v1:b1", "b", "b1");
    await("offsets", () -> topic.committed() == 4);
    assertEquals(3, calls.get());
    order.remove("b1");
    assertEquals(List.of("a1", "a2", "a3"), order);
    assertEquals(4, effects(topic));
    assertEquals(0, count("select count(*) from msg_retry", topic));
  }

  @Test
  void block_heldForTooLong_parksItsKeyInTheStore() throws Exception {
    Topic topic = topic(1);
    Policy slow = Policy.values().maxRetry(9).backoffScheduleMs(100).backoffJitterMs(0).toPolicy();
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    boolean[] ready = {false};
    ConsumerConfig config = ConsumerConfig.of(topic.group, topic.name);
    config =
        config.withTimes(
            config.commitInterval(),
            config.rebalanceTimeout(),
            config.drainTimeout(),
            Duration.ofMillis(1));
    TxHandler effect = effect(topic);
    start(
        topic,
        config,
        Route.tx(
            PAID,
            Rules.of(Mode.TX).order(Order.BLOCK).policy(slow),
            (d, connection) -> {
              String payload = new String(d.message().value(), StandardCharsets.UTF_8);
              if (!ready[0]) {
                throw new RetryableException("not yet");
              }
              order.add(payload);
              effect.handle(d, connection);
            }));
    topic.send(PAID, PAID + ":v1:a1", "a", "a1");
    topic.send(PAID, PAID + ":v1:a2", "a", "a2");
    await("offsets", () -> topic.committed() == 2);
    assertEquals(0, effects(topic));
    assertEquals(
        PAID + ":v1:a1",
        database.ask("select head_key from idem_lane where scope = '" + topic.group + "'"));
    ready[0] = true;
    try (Pair go = Pair.go(database.url(), topic.brokers())) {
      go.publish(1);
      await("the head", () -> effects(topic) == 1);
      go.publish(1);
    }
    await("the next one", () -> effects(topic) == 2);
    assertEquals(List.of("a1", "a2"), order);
  }

  /** Its claims ended without a word twice (DEDUP-024). */
  @Test
  void aMessage_thatMayTakeTheProcessAlong_runsWithNothingElse() throws Exception {
    Topic topic = topic(1);
    String suspect = PAID + ":v1:suspect";
    for (int i = 0; i < 2; i++) {
      Duration lease = Duration.ofMillis(1);
      store.claim(List.of(Claim.of(topic.group, suspect, "crashed-" + i, lease, 9)));
      Thread.sleep(5);
    }
    AtomicInteger running = new AtomicInteger();
    Map<String, Integer> beside = new ConcurrentHashMap<>();
    Map<String, Integer> after = new ConcurrentHashMap<>();
    start(
        topic,
        Route.idempotent(
            PAID,
            d -> {
              beside.put(d.key(), running.getAndIncrement());
              Thread.sleep(500);
              after.put(d.key(), running.getAndDecrement());
            }));
    for (String key : new String[] {"a", "b", "suspect", "c", "d"}) {
      topic.send(PAID, PAID + ":v1:" + key, key, "x");
    }
    await("offsets", () -> topic.committed() == 5);
    assertEquals(0, beside.get(suspect));
    assertEquals(1, after.get(suspect));
    assertTrue(Collections.max(beside.values()) > 0, "the others run together: " + beside);
  }

  @Test
  void close_handlersThatRun_endAndWhatHasNotBegunComesAgain() throws Exception {
    Topic topic = topic(1);
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    TxHandler effect = effect(topic);
    IdemConsumer first =
        start(
            topic,
            ConsumerConfig.of(topic.group, topic.name).withWorkers(2),
            Route.tx(
                PAID,
                (d, connection) -> {
                  begun.countDown();
                  go.await();
                  effect.handle(d, connection);
                }));
    for (int i = 0; i < 10; i++) {
      topic.send(PAID, PAID + ":v1:p-" + i, "o-" + i, "x");
    }
    begun.await();
    Thread closes = new Thread(first::close);
    closes.start();
    Thread.sleep(300);
    go.countDown();
    closes.join();
    assertEquals(2, effects(topic));
    assertEquals(2, topic.committed());
    assertEquals(
        "0",
        database.ask(
            "select count(*) from idem_record where state = 1 and scope = '" + topic.group + "'"));
    start(topic, Route.tx(PAID, effect));
    await("offsets", () -> topic.committed() == 10);
    assertEquals(10, effects(topic));
    assertEquals(
        "1",
        database.ask(
            "select max(attempts) from idem_record where scope = '" + topic.group + "'"));
  }

  @Test
  void rebalance_consumersThatComeAndGo_haveEachEffectOnce() throws Exception {
    Topic topic = topic(6);
    int messages = 600;
    Map<String, Integer> calls = new ConcurrentHashMap<>();
    TxHandler effect = effect(topic);
    Route route =
        Route.tx(
            PAID,
            (d, connection) -> {
              calls.merge(d.key(), 1, Integer::sum);
              Thread.sleep(2);
              effect.handle(d, connection);
            });
    ConsumerConfig config = ConsumerConfig.of(topic.group, topic.name).withWorkers(4);
    IdemConsumer first = start(topic, config, route);
    for (int i = 0; i < messages; i++) {
      topic.send(PAID, PAID + ":v1:p-" + i, "o-" + i % 50, "x");
      if (i == messages / 4) {
        start(topic, config, route);
      }
      if (i == messages / 2) {
        first.close();
        start(topic, config, route);
      }
    }
    await("offsets", () -> topic.committed() == messages);
    assertEquals(messages, effects(topic));
    assertEquals(messages, count("select count(distinct key) from effect", topic));
    assertEquals(0, count("select count(*) from dead_letter", topic));
  }

  @Test
  void config_whatIsWrong_saysWhatWouldBeRight() {
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () -> ConsumerConfig.of("payments", "orders.retry.payments"))
            .getMessage();
    assertEquals(
        "topics has \"orders.retry.payments\", a retry topic: name the origin, its retry topic is"
            + " read too",
        message);
    Route route = Route.idempotent(PAID, d -> {});
    message =
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    new IdemConsumer(
                        Map.of(), store, ConsumerConfig.of("g", "orders"), route, route))
            .getMessage();
    assertEquals("two routes for payments.paid: give one", message);
    Map<String, Object> latest = Map.of("auto.offset.reset", "latest");
    message =
        assertThrows(
                IllegalArgumentException.class,
                () -> new IdemConsumer(latest, store, ConsumerConfig.of("g", "orders"), route))
            .getMessage();
    assertTrue(message.startsWith("auto.offset.reset is latest: leave it out"), message);
  }
}
