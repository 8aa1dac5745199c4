package io.github.idemspec.kafka;

import io.github.idemspec.store.DueRetry;
import io.github.idemspec.store.Retries;
import io.github.idemspec.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the rows of msg_retry when they are due, of all scopes of a store. Any number of schedulers
 * may run, in any language; a row may be published twice, and is never lost. {@link #run} works until
 * {@link #close} (CONS-020, CONS-021).
 */
public final class RetryScheduler implements Runnable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RetryScheduler.class);
  private static final int BATCH = 500;
  private static final int SWEEP = 500;
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final int DELIVERY_MS = 20_000;
  private static final long POLL_MS = 1_000;
  private static final long LEAST_PAUSE_MS = 20;
  private static final long SWEEP_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration MOST_DELAY = Duration.ofMinutes(1);

  private final Retries retries;
  private final KafkaProducer<byte[], byte[]> producer;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean running;
  private long sweptAt = System.nanoTime() - SWEEP_EVERY_NANOS;

  /** A scheduler; the properties are those of kafka-clients. */
  public RetryScheduler(Map<String, Object> properties, Retries retries) {
    this.retries = retries;
    Map<String, Object> own = new HashMap<>(properties);
    own.put("acks", "all");
    own.put("delivery.timeout.ms", DELIVERY_MS); // Well within the lease.
    own.put("request.timeout.ms", DELIVERY_MS / 4);
    own.put("max.block.ms", DELIVERY_MS / 4);
    producer = new KafkaProducer<>(own, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public void run() {
    running = true;
    try {
      long pause = 0;
      while (!closing.await(pause, TimeUnit.MILLISECONDS)) {
        pause = round();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      producer.close(Duration.ofMillis(DELIVERY_MS));
      ended.countDown();
    }
  }

  /** One round, and how long to wait before the next one, in milliseconds. */
  private long round() {
    try {
      if (System.nanoTime() - sweptAt >= SWEEP_EVERY_NANOS) {
        retries.sweepLanes(SWEEP);
        sweptAt = System.nanoTime();
      }
      List<DueRetry> rows = retries.claimDue(UUID.randomUUID().toString(), BATCH, LEASE);
      int published = publish(rows);
      if (rows.size() == BATCH && published > 0) {
        return 0; // There is more.
      }
      if (!rows.isEmpty() && published == 0) {
        return POLL_MS;
      }
      OptionalLong next = retries.nextDueMs();
      return Math.min(Math.max(next.orElse(POLL_MS), LEAST_PAUSE_MS), POLL_MS);
    } catch (StoreException e) {
      LOG.error("rows that are due wait, and none is lost: {}", e.getMessage());
      return POLL_MS;
    }
  }

  /** Publishes rows, removes what is confirmed, and that alone, and postpones the rest. */
  private int publish(List<DueRetry> rows) {
    List<Future<RecordMetadata>> sent = new ArrayList<>(rows.size());
    for (DueRetry row : rows) {
      sent.add(send(row));
    }
    List<DueRetry> done = new ArrayList<>(rows.size());
    Map<Duration, List<DueRetry>> later = new HashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      DueRetry row = rows.get(i);
      Exception error = errorOf(sent.get(i));
      if (error == null) {
        done.add(row);
        continue;
      }
      Duration due = Duration.ofSeconds(1L << Math.min(Math.max(row.publications() - 1, 0), 6));
      due = due.compareTo(MOST_DELAY) > 0 ? MOST_DELAY : due;
      later.computeIfAbsent(due, d -> new ArrayList<>()).add(row);
      LOG.warn(
          "not published, trying again later: idempotency_key={} scope={} topic={} due={}: {}",
          row.key(),
          row.scope(),
          row.topic(),
          due,
          error.toString());
    }
    retries.markPublished(done);
    later.forEach((due, of) -> retries.postpone(of, due));
    return done.size();
  }

  /** Sends one; what the client refuses at once is a failure like others. */
  private Future<RecordMetadata> send(DueRetry row) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(row.topic(), row.messageKey(), row.payload());
    row.headers().forEach(h -> record.headers().add(h.name(), h.value()));
    try {
      return producer.send(record);
    } catch (KafkaException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static Exception errorOf(Future<RecordMetadata> sent) {
    try {
      sent.get();
      return null;
    } catch (ExecutionException e) {
      return e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return e; // It may be there all the same, and is published twice then.
    }
  }

  /** Has {@link #run} end its round and return, and waits for it. */
  @Override
  public void close() {
    closing.countDown();
    if (!running) {
      producer.close(Duration.ZERO);
      return;
    }
    try {
      ended.await(2L * DELIVERY_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
