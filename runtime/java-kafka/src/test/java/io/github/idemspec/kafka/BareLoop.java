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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Messages a second of {@link IdemConsumer} beside a loop without any of its care: poll, claim, handle,
 * complete, commit, with the same client, statements, and number of handlers at a time. It is run by
 * hand, on DATABASE_URL and KAFKA_BROKERS: {@code java … io.github.idemspec.kafka.BareLoop 20000 3}.
 */
public final class BareLoop {
  private static final String PAID = "payments.paid";
  private static final int WORKERS = 16;
  private static final boolean[] BOTH = {true, false};

  private BareLoop() {}

  /** Arguments: how many messages, and how many rounds. */
  public static void main(String[] arguments) throws Exception {
    int messages = Integer.parseInt(arguments[0]);
    boolean[] modes = arguments.length > 2 ? new boolean[] {arguments[2].equals("tx")} : BOTH;
    for (int round = 0; round < Integer.parseInt(arguments[1]); round++) {
      for (boolean tx : modes) {
        double[] bare = measure(messages, tx, true);
        double[] ours = measure(messages, tx, false);
        System.out.printf(
            "%s bare %.0f/s %.0f us idem %.0f/s %.0f us ratio %.2f, of processor time %.2f%n",
            tx ? "tx        " : "idempotent",
            bare[0],
            bare[1],
            ours[0],
            ours[1],
            ours[0] / bare[0],
            bare[1] / ours[1]);
      }
    }
  }

  /** Messages a second, and this process's processor time for each in microseconds. */
  private static double[] measure(int messages, boolean tx, boolean bare) throws Exception {
    try (Servers.Database database = new Servers.Database();
        HikariDataSource pool = database.pool(true);
        Topic topic = new Topic(6)) {
      database.run("create table effect (key text)");
      topic.sendMany(PAID, messages);
      PostgresStore store = new PostgresStore(pool);
      OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
      long start = System.nanoTime();
      long cpu = system.getProcessCpuTime();
      if (bare) {
        loop(topic, store, messages, tx);
      } else {
        consume(topic, store, messages, tx);
      }
      return new double[] {
        messages / ((System.nanoTime() - start) / 1e9),
        (system.getProcessCpuTime() - cpu) / 1e3 / messages
      };
    }
  }

  private static void insert(Connection connection, String key) throws Exception {
    try (PreparedStatement p = connection.prepareStatement("insert into effect values (?)")) {
      p.setString(1, key);
      p.executeUpdate();
    }
  }

  private static void consume(Topic topic, PostgresStore store, int messages, boolean tx)
      throws Exception {
    Route route =
        tx ? Route.tx(PAID, (d, c) -> insert(c, d.key())) : Route.idempotent(PAID, d -> {});
    ConsumerConfig config = ConsumerConfig.of(topic.group, topic.name).withWorkers(WORKERS);
    try (IdemConsumer consumer =
        new IdemConsumer(
            topic.properties(),
            store,
            config.withTimes(
                Duration.ofMillis(200),
                config.rebalanceTimeout(),
                config.drainTimeout(),
                config.hold()),
            route)) {
      new Thread(consumer).start();
      Topic.await("offsets", () -> topic.committed() == messages);
    }
  }

  private static void loop(Topic topic, PostgresStore store, int messages, boolean tx)
      throws Exception {
    Map<String, Object> properties = new HashMap<>(topic.properties());
    properties.put("group.id", topic.group);
    properties.put("enable.auto.commit", false);
    properties.put("auto.offset.reset", "earliest");
    ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    try (KafkaConsumer<byte[], byte[]> kafka =
        new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      kafka.subscribe(List.of(topic.name, topic.retry()));
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
