package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.Message;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Topics;
import io.github.idemspec.store.Source;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Header;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process's part of a consumer group. {@link #run} consumes until {@link #close}; then it drains, and
 * leaves the group. A process should have one for each store and group, since a message that may kill
 * the process runs with nothing else of its own consumer (DEDUP-024).
 */
public final class IdemConsumer implements Runnable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);
  private static final String RESET = "auto.offset.reset";
  private static final String EARLIEST = "earliest";
  private static final Duration POLL = Duration.ofMillis(50);
  private static final long RETRY_MS = 1000;
  private static final Duration ASK = Duration.ofSeconds(10);
  private static final int TRIES = 5;
  private static final Duration LAST_COMMIT = Duration.ofSeconds(3);

  private final ConsumerConfig config;
  private final Guard guard;
  private final Engine engine;
  private final ReadTopics topics;
  private final Map<String, Object> properties;
  private final AtomicBoolean started = new AtomicBoolean();
  private final CountDownLatch joined = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean closing;
  private KafkaConsumer<byte[], byte[]> kafka;
  private long committedAt = System.nanoTime();

  /**
   * A consumer of routes, one for each event type. It does no I/O.
   *
   * @param properties those of kafka-clients; group, offsets and deserializers are set here
   * @param store where it claims
   * @param config its settings
   * @param routes its handlers
   */
  public IdemConsumer(
      Map<String, Object> properties, Store store, ConsumerConfig config, Route... routes) {
    if (routes.length == 0) {
      throw new IllegalArgumentException("no routes: give Route.tx or Route.idempotent");
    }
    this.config = config;
    guard = new Guard(store, config.guard());
    engine = new Engine(config, guard, List.of(routes));
    topics = new ReadTopics(config, List.of(routes));
    this.properties = new HashMap<>(properties);
    this.properties.put("group.id", config.group());
    this.properties.put("enable.auto.commit", false);
    Object reset = this.properties.put(RESET, EARLIEST); // CONS-007
    if (reset != null && !reset.equals(EARLIEST)) {
      throw new IllegalArgumentException(
          RESET
              + " is "
              + reset
              + ": leave it out, a group begins at the earliest message, so that none is lost where a"
              + " partition is new");
    }
  }

  /**
   * Consumes until it is closed. It runs once. Where one of its threads cannot go on, as where the heap is
   * exhausted, handlers that run have their time to end, and it throws what has happened: the process
   * should end, since what that thread had is not acknowledged and comes again.
   */
  @Override
  public void run() {
    if (!started.compareAndSet(false, true)) {
      throw new IllegalStateException("run was called before: make another consumer");
    }
    try {
      awaitStore();
      engine.start();
      kafka =
          new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
      awaitTopics();
      kafka.subscribe(topics.all(), new Rebalance());
      while (!closing) {
        engine.check();
        consume();
      }
    } finally {
      end();
    }
  }

  /** Waits for a store that is as it has to be: it goes on once the tables are migrated. */
  private void awaitStore() {
    while (!closing) {
      try {
        guard.store().check();
        return;
      } catch (StoreException e) {
        LOG.error("the store cannot work, and is asked again: {}", e.getMessage());
      }
      pause();
    }
  }

  /** Sees to it that its topics are there; one that was made just now is not known everywhere. */
  private void awaitTopics() {
    for (int i = 1; !closing; i++) {
      try {
        String missing = topics.missing(kafka.listTopics(ASK).keySet());
        if (missing == null) {
          return;
        }
        if (i == TRIES) {
          throw new IllegalStateException(missing);
        }
      } catch (TimeoutException e) {
        LOG.error("the brokers do not say which topics there are, and are asked again", e);
        i = 0;
      }
      pause();
    }
  }

  private void pause() {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closing = true;
    }
  }

  private void consume() {
    ConsumerRecords<byte[], byte[]> records = kafka.poll(POLL);
    for (TopicPartition partition : records.partitions()) {
      List<ConsumerRecord<byte[], byte[]>> some = records.records(partition);
      List<Message> messages = new ArrayList<>(some.size());
      some.forEach(record -> messages.add(messageOf(record)));
      engine.admit(partition, messages);
    }
    List<TopicPartition> pause = new ArrayList<>();
    List<TopicPartition> resume = new ArrayList<>();
    engine.pausing(pause, resume);
    kafka.pause(pause);
    kafka.resume(resume);
    if (System.nanoTime() - committedAt >= config.commitInterval().toNanos()) {
      commit();
    }
  }

  /** A message of Kafka's. */
  public static Message messageOf(ConsumerRecord<byte[], byte[]> record) {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(h -> headers.add(new Header(h.key(), h.value())));
    return new Message(
        new Source(record.topic(), record.partition(), record.offset()),
        record.key(),
        record.value(),
        headers,
        record.timestamp() < 0 ? null : Instant.ofEpochMilli(record.timestamp()));
  }

  private void commit() {
    committedAt = System.nanoTime();
    engine.measure();
    Map<TopicPartition, OffsetAndMetadata> offsets = engine.uncommitted();
    if (offsets.isEmpty()) {
      return;
    }
    kafka.commitAsync(
        offsets,
        (done, error) -> {
          if (error == null) {
            engine.committed(done);
          } else { // Whoever gets the messages again finds that they are duplicates.
            LOG.warn("offsets not committed: {}", error.toString());
          }
        });
  }

  /** Commits before partitions are left. */
  private void commitLast(Collection<TopicPartition> partitions) {
    Map<TopicPartition, OffsetAndMetadata> offsets = engine.uncommitted();
    offsets.keySet().retainAll(Set.copyOf(partitions));
    if (offsets.isEmpty()) {
      return;
    }
    try {
      kafka.commitSync(offsets, LAST_COMMIT);
      engine.committed(offsets);
    } catch (KafkaException e) {
      LOG.warn("the last offsets are not committed, and their messages come again: {}", e.toString());
    }
  }

  private void end() {
    // The interruption of whoever runs this must not end the drain.
    boolean interrupted = Thread.interrupted();
    try {
      if (kafka != null) {
        Set<TopicPartition> all = Set.copyOf(kafka.assignment());
        engine.revoke(all, config.drainTimeout());
        commitLast(all);
        engine.end(all);
        kafka.close();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      engine.stop();
      guard.close();
      ended.countDown();
    }
  }

  /**
   * Waits until it is a member of its group, and says whether it is: from then on it gets messages.
   */
  public boolean awaitJoined(Duration limit) throws InterruptedException {
    return joined.await(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Has {@link #run} drain and return, and waits for it. */
  @Override
  public void close() {
    closing = true;
    if (!started.compareAndSet(false, true)) {
      try {
        ended.await(config.drainTimeout().toMillis() + 30_000, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else { // It never ran.
      engine.stop();
      guard.close();
    }
  }

  /** What becomes of partitions that come and go. */
  private final class Rebalance implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      partitions.forEach(engine::assign);
      LOG.info("assigned {}", partitions);
      joined.countDown();
      guard.observer().measure(Metric.IDEM_REBALANCES_TOTAL, guard.scope(), 1);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      engine.revoke(partitions, closing ? config.drainTimeout() : config.rebalanceTimeout());
      commitLast(partitions);
      engine.end(partitions);
    }

    /** They are another's already: nobody waits, and nothing is committed. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      engine.revoke(partitions, Duration.ZERO);
      engine.end(partitions);
    }
  }
}
