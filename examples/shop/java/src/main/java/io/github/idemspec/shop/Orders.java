package io.github.idemspec.shop;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.kafka.ConsumerConfig;
import io.github.idemspec.kafka.IdemConsumer;
import io.github.idemspec.kafka.OutboxRelay;
import io.github.idemspec.kafka.RetryScheduler;
import io.github.idemspec.store.postgres.PostgresStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The orders service: takes orders and refunds on HTTP, sends them through the outbox, and keeps each
 * order's state by what the payments service says. It is configured by its environment, see {@link
 * Settings}, and ends by SIGTERM once what has begun is done.
 */
public final class Orders {
  private static final Logger LOG = LoggerFactory.getLogger(Orders.class);
  private static final Duration JOIN = Duration.ofSeconds(30);

  private Orders() {}

  public static void main(String[] args) throws Exception {
    Settings settings;
    try {
      settings = Settings.of(System.getenv());
    } catch (IllegalArgumentException e) {
      System.err.println("orders: " + e.getMessage());
      System.exit(2);
      return;
    }
    HikariDataSource pool = settings.pool();
    makeTables(pool);
    PostgresStore store = new PostgresStore(pool);
    ConsumerConfig config =
        ConsumerConfig.of("orders", OrderEvents.PAYMENTS_TOPIC, OrderBook.REFUNDS_TOPIC)
            .withWorkers(Settings.WORKERS);
    if (settings.handlerTimeout() != null) {
      config =
          config.withGuard(GuardConfig.of("orders").withHandlerTimeout(settings.handlerTimeout()));
    }
    IdemConsumer consumer =
        new IdemConsumer(
            settings.kafka(), store, config, OrderEvents.paid(), OrderEvents.refunded());
    // Any number of schedulers and relays may run: each instance of the service runs one.
    RetryScheduler scheduler = new RetryScheduler(settings.kafka(), store);
    OutboxRelay relay = new OutboxRelay(settings.kafka(), store);
    OrdersApi api = new OrdersApi(store, settings.address());
    drainOnSignal(api, consumer, scheduler, relay, pool);

    start("consumer", consumer);
    start("scheduler", scheduler);
    start("relay", relay);
    say("orders: listening on " + api.url());
    while (!consumer.awaitJoined(JOIN)) {
      LOG.warn("not joined yet: instance={} brokers={}", settings.instance(), settings.brokers());
    }
    say("orders: ready");
  }

  /** What fails takes the process along, which is then begun anew: it would be of no use without. */
  private static void start(String name, Runnable part) {
    Thread thread = new Thread(part, name);
    thread.setUncaughtExceptionHandler(
        (failed, e) -> {
          LOG.error("the {} has failed, and the process ends", name, e);
          Runtime.getRuntime().halt(1);
        });
    thread.start();
  }

  /** Waits for the database, and makes the tables that are not there. */
  static void makeTables(HikariDataSource pool) throws IOException, InterruptedException {
    String text;
    try (InputStream in = Orders.class.getResourceAsStream("/orders.sql")) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    while (true) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        // Of instances that start at once, one makes them.
        statement.execute("begin; select pg_advisory_xact_lock(1); " + text + "; commit");
        return;
      } catch (SQLException e) {
        LOG.warn("the tables are not made yet: {}", e.getMessage());
        Thread.sleep(1000);
      }
    }
  }

  /** Ends in order: first what brings work, last what work needs. */
  private static void drainOnSignal(AutoCloseable... parts) {
    Runnable drain =
        () -> {
          for (AutoCloseable part : parts) {
            try {
              part.close();
            } catch (Exception e) {
              LOG.warn("on the way down", e);
            }
          }
          LOG.info("drained");
          Runtime.getRuntime().halt(0); // The JVM says 143 of a SIGTERM, however well all has ended.
        };
    Runtime.getRuntime().addShutdownHook(new Thread(drain, "drain"));
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
