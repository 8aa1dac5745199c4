package io.github.idemspec.testing;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.kafka.ConsumerConfig;
import io.github.idemspec.kafka.IdemConsumer;
import io.github.idemspec.kafka.OutboxRelay;
import io.github.idemspec.kafka.RetryScheduler;
import io.github.idemspec.kafka.Route;
import io.github.idemspec.store.postgres.PostgresStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/** A database and a topic of one test's own, and what runs on them until it ends. */
public final class Running implements AutoCloseable {
  /** The database. */
  public final Servers.Database database;

  /** Its store. */
  public final PostgresStore store;

  /** The topic. */
  public final Topic topic;

  private final Deque<AutoCloseable> closing = new ArrayDeque<>();

  /** With a topic of so many partitions. */
  public Running(int partitions) throws Exception {
    topic = new Topic(partitions);
    closing.push(topic);
    database = new Servers.Database();
    closing.push(database);
    HikariDataSource pool = database.pool(true);
    closing.push(pool);
    store = new PostgresStore(pool);
  }

  /** The settings of a consumer of the topic, which commits often. */
  public ConsumerConfig config() {
    return ConsumerConfig.of(topic.group, topic.name)
        .withTimes(
            Duration.ofMillis(100),
            Duration.ofSeconds(5),
            Duration.ofSeconds(20),
            Duration.ofMinutes(1));
  }

  /** Starts a consumer. */
  public IdemConsumer consume(Route... routes) {
    return consume(config(), routes);
  }

  /** Starts a consumer with settings. */
  public IdemConsumer consume(ConsumerConfig config, Route... routes) {
    IdemConsumer consumer = new IdemConsumer(topic.properties(), store, config, routes);
    start(consumer, consumer);
    return consumer;
  }

  /** Starts a scheduler of retries. */
  public void schedule() {
    RetryScheduler scheduler = new RetryScheduler(topic.properties(), store);
    start(scheduler, scheduler);
  }

  /** Starts a relay of the outbox. */
  public void relay(Map<String, Object> properties) {
    relay(properties, Observer.NONE);
  }

  /** Starts a relay of the outbox that tells what it has published. */
  public void relay(Map<String, Object> properties, Observer observer) {
    OutboxRelay relay = new OutboxRelay(properties, store, observer);
    start(relay, relay);
  }

  /** Has something closed at the end, before what was there already. */
  public void closing(AutoCloseable what) {
    closing.push(what);
  }

  private void start(Runnable run, AutoCloseable close) {
    new Thread(run, "test-" + run.getClass().getSimpleName()).start();
    closing.push(close);
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable c : closing) {
        c.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
