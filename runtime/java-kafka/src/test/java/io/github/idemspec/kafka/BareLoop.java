package io.github.idemspec.kafka;

import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.testing.Topic;
import io.github.idemspec.v1.Admission.Verdict;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Messages a second of {@link IdemConsumer} beside a loop without any of its care: poll, claim, handle,
 * complete, commit, with the same client, statements, and number of handlers at a time. It runs on
 * DATABASE_URL and KAFKA_BROKERS; {@code scripts/bench java-consumer} does that, and reads the JSON on
 * standard output.
 */
public final class BareLoop {
  private static final String PAID = "payments.paid";
  private static final int WORKERS = 16;

  private BareLoop() {}

  /** Arguments: how many messages, how many rounds, and of which mode, tx or idempotent, or both. */
  public static void main(String[] arguments) throws Exception {
    int messages = Integer.parseInt(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    List<String> modes = List.of("tx", "idempotent");
    if (arguments.length > 2) {
      modes = List.of(arguments[2]);
    }
    List<String> comparisons = new ArrayList<>();
    for (String mode : modes) {
      comparisons.add(compare(mode, messages, rounds));
    }
    System.out.println("{\"comparisons\": [" + String.join(", ", comparisons) + "]}");
  }

  /** In turns, after one of each that warms up. */
  private static String compare(String mode, int messages, int rounds) throws Exception {
    boolean tx = mode.equals("tx");
    Side idem = new Side("idem");
    Side bare = new Side("bare loop, the same client and statements");
    for (int round = 0; round <= rounds; round++) {
      for (Side side : round % 2 == 0 ? List.of(idem, bare) : List.of(bare, idem)) {
        Figures figures = measure(messages, tx, side == bare);
        System.err.printf(
            "%s %s: %.0f/s, %.0f us%n", mode, side.name, figures.rate, figures.processorMicros);
        if (round > 0) {
          side.rates.add(figures.rate);
          side.micros.add(figures.processorMicros);
        }
      }
    }
    String title = tx ? "a transaction a message" : "no effect in the database";
    return "{\"title\": \""
        + title
        + ", messages a second\", \"unit\": \"1/s\", \"contenders\": ["
        + idem.json()
        + ", "
        + bare.json()
        + "]}";
  }

  private record Figures(double rate, double processorMicros) {}

  private static final class Side {
    private final String name;
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> micros = new ArrayList<>();

    Side(String name) {
      this.name = name;
    }

    String json() {
      List<Double> sorted = micros.stream().sorted().toList();
      return String.format(
          Locale.ROOT,
          "{\"name\": \"%s\", \"rounds\": %s, \"extra\": \"%.0f us of this process\"}",
          name,
          rates,
          sorted.get(sorted.size() / 2));
    }
  }

  /** From when the group is joined to when it is left. */
  private static final class Clock {
    private final OperatingSystemMXBean system =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private long start;
    private long cpu;

    void start() {
      start = System.nanoTime();
      cpu = system.getProcessCpuTime();
    }

    Figures read(int messages) {
      return new Figures(
          messages / ((System.nanoTime() - start) / 1e9),
          (system.getProcessCpuTime() - cpu) / 1e3 / messages);
    }
  }

  private static Figures measure(int messages, boolean tx, boolean bare) throws Exception {
    try (Servers.Database database = new Servers.Database();
        HikariDataSource pool = database.pool(true);
        Topic topic = new Topic(6)) {
      database.run("create table effect (key text)");
      topic.sendMany(PAID, messages);
      PostgresStore store = new PostgresStore(pool);
      Clock clock = new Clock();
      if (bare) {
        loop(topic, store, messages, tx, clock);
      } else {
        consume(topic, store, messages, tx, clock);
      }
      return clock.read(messages);
    }
  }

  private static void insert(Connection connection, String key) throws Exception {
    try (PreparedStatement p = connection.prepareStatement("insert into effect values (?)")) {
      p.setString(1, key);
      p.executeUpdate();
    }
  }

  private static void consume(
      Topic topic, PostgresStore store, int messages, boolean tx, Clock clock) throws Exception {
    CountDownLatch left = new CountDownLatch(messages);
    Route route =
        tx
            ? Route.tx(
                PAID,
                (d, c) -> {
                  insert(c, d.key());
                  left.countDown();
                })
            : Route.idempotent(PAID, d -> left.countDown());
    ConsumerConfig config = ConsumerConfig.of(topic.group, topic.name).withWorkers(WORKERS);
    try (IdemConsumer consumer =
        new IdemConsumer(topic.properties(), store, config, route)) {
      new Thread(consumer).start();
      consumer.awaitJoined(Duration.ofMinutes(1));
      clock.start();
      left.await();
    } // It drains and commits.
  }

  private static void loop(
      Topic topic, PostgresStore store, int messages, boolean tx, Clock clock) throws Exception {
    Map<String, Object> properties = new HashMap<>(topic.properties());
    properties.put("group.id", topic.group);
    properties.put("enable.auto.commit", false);
    properties.put("auto.offset.reset", "earliest");
    ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    try (KafkaConsumer<byte[], byte[]> kafka =
        new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      kafka.subscribe(List.of(topic.name, topic.retry()), new Joined(clock));
      for (int done = 0; done < messages; ) {
        List<Claim> claims = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : kafka.poll(Duration.ofMillis(50))) {
          String key = new String(record.headers().lastHeader("idempotency_key").value());
          String owner = record.partition() + "." + record.offset();
          claims.add(Claim.of(topic.group, key, owner, Duration.ofSeconds(40), 9));
        }
        if (claims.isEmpty()) {
          continue;
        }
        handle(store, store.claim(claims), workers, tx);
        kafka.commitSync();
        done += claims.size();
      }
    } finally {
      workers.shutdownNow();
    }
  }

  private record Joined(Clock clock) implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      clock.start();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}
  }

  private static void handle(
      PostgresStore store, List<Grant> grants, ExecutorService workers, boolean tx)
      throws Exception {
    List<Completion> completions = new ArrayList<>();
    List<Future<?>> running = new ArrayList<>();
    for (Grant grant : grants) {
      if (grant.verdict() != Verdict.PROCEED) {
        continue;
      }
      Completion completion = Completion.of(grant.lease());
      completions.add(completion);
      if (tx) {
        running.add(
            workers.submit(
                () ->
                    store.inTx(
                        null,
                        t -> {
                          insert(t.connection(), grant.lease().key());
                          t.complete().accept(completion);
                          return null;
                        })));
      }
    }
    for (Future<?> handler : running) {
      handler.get();
    }
    if (!tx) {
      store.complete(completions);
    }
  }
}
