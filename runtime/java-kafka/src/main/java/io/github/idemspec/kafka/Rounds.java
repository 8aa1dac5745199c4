package io.github.idemspec.kafka;

import io.github.idemspec.store.Outgoing;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Rounds of publishing rows of a table, until closed. */
final class Rounds implements AutoCloseable {
  private static final int DELIVERY_MS = 20_000;

  private final KafkaProducer<byte[], byte[]> producer;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean running;

  Rounds(Map<String, Object> properties) {
    Map<String, Object> own = new HashMap<>(properties);
    own.put("acks", "all");
    own.put("delivery.timeout.ms", DELIVERY_MS); // Well within a lease.
    own.put("request.timeout.ms", DELIVERY_MS / 4);
    own.put("max.block.ms", DELIVERY_MS / 4);
    producer = new KafkaProducer<>(own, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Works until it is closed; a round says how long to wait before the next one, in milliseconds. */
  void run(LongSupplier round) {
    running = true;
    try {
      long pause = 0;
      while (!closing.await(pause, TimeUnit.MILLISECONDS)) {
        pause = round.getAsLong();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      producer.close(Duration.ofMillis(DELIVERY_MS));
      ended.countDown();
    }
  }

  /** Sends one; what the client refuses at once is a failure like others. */
  Future<RecordMetadata> send(Outgoing message) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(message.topic(), message.messageKey(), message.payload());
    message.headers().forEach(h -> record.headers().add(h.name(), h.value()));
    try {
      return producer.send(record);
    } catch (KafkaException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Waits, and gives what went wrong, or null. */
  static Exception errorOf(Future<RecordMetadata> sent) {
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
