package io.github.idemspec.testing;

import io.github.idemspec.v1.Context;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.ProducerHeaders;
import io.github.idemspec.v1.Transport;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A topic that no other test has, with the retry topic of a group, on the broker of KAFKA_BROKERS. */
public final class Topic implements AutoCloseable {
  /** The name, and the group that reads it. */
  public final String name;

  /** The group. */
  public final String group;

  private final String brokers = Servers.need("KAFKA_BROKERS");
  private final Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", brokers));
  private final KafkaProducer<byte[], byte[]> producer =
      new KafkaProducer<>(
          Map.<String, Object>of("bootstrap.servers", brokers, "linger.ms", 0),
          new ByteArraySerializer(),
          new ByteArraySerializer());

  /** One with partitions. */
  public Topic(int partitions) throws Exception {
    String id = Servers.unique();
    name = "java-" + id;
    group = "g-" + id;
    get(
        admin
            .createTopics(
                List.of(
                    new NewTopic(name, partitions, (short) -1),
                    new NewTopic(retry(), partitions, (short) -1)))
            .all());
    // A leader takes requests later than others know of it, and a producer that comes too early has
    // its first batches refused as out of order.
    Map<TopicPartition, OffsetSpec> all = new HashMap<>();
    for (int i = 0; i < partitions; i++) {
      all.put(new TopicPartition(name, i), OffsetSpec.latest());
      all.put(new TopicPartition(retry(), i), OffsetSpec.latest());
    }
    await("leaders of " + name, () -> isLed(all));
  }

  private boolean isLed(Map<TopicPartition, OffsetSpec> all) throws InterruptedException {
    try {
      admin.listOffsets(all).all().get();
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }

  /** The retry topic. */
  public String retry() {
    return name + ".retry." + group;
  }

  /** The properties of a client. */
  public Map<String, Object> properties() {
    return Map.of(
        "bootstrap.servers",
        brokers,
        "session.timeout.ms",
        10_000,
        "heartbeat.interval.ms",
        1_000,
        "metadata.max.age.ms",
        5_000);
  }

  /** The brokers. */
  public String brokers() {
    return brokers;
  }

  /** Sends a message with the headers of a producer. */
  public void send(String eventType, String key, String bizKey, String payload) {
    List<Header> headers =
        new ProducerHeaders(eventType, key)
            .bizKey(bizKey)
            .context(Context.EMPTY.withTopic(name))
            .list(Transport.KAFKA);
    send(headers, bizKey, payload);
  }

  /** Sends a message with any headers. */
  public void send(List<Header> headers, String bizKey, String payload) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(name, bytes(bizKey), bytes(payload));
    headers.forEach(h -> record.headers().add(h.name(), h.value()));
    get(producer.send(record));
  }

  /** Sends messages of as many keys. */
  public void sendMany(String eventType, int messages) {
    List<Future<?>> sent = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      String key = eventType + ":v1:p-" + i;
      ProducerRecord<byte[], byte[]> record =
          new ProducerRecord<>(name, bytes("o-" + i), bytes("x"));
      new ProducerHeaders(eventType, key)
          .bizKey("o-" + i)
          .context(Context.EMPTY.withTopic(name))
          .list(Transport.KAFKA)
          .forEach(h -> record.headers().add(h.name(), h.value()));
      sent.add(producer.send(record));
    }
    sent.forEach(Topic::get);
  }

  /** Takes a message's key and its payload. */
  public interface Seen {
    /** Takes them. */
    void take(String key, String payload);
  }

  /** Reads all that is in it now, each partition in its order. */
  public void read(Seen seen) {
    Map<String, Object> own = new HashMap<>(properties());
    own.put("auto.offset.reset", "earliest");
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(own, bytes, bytes)) {
      List<TopicPartition> all =
          consumer.partitionsFor(name).stream()
              .map(p -> new TopicPartition(name, p.partition()))
              .toList();
      consumer.assign(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
        consumer
            .poll(Duration.ofMillis(100))
            .forEach(r -> seen.take(text(r.key()), text(r.value())));
      }
    }
  }

  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }

  /** The sum of the committed offsets of the origin. */
  public long committed() {
    return get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
        .entrySet()
        .stream()
        .filter(e -> e.getKey().topic().equals(name) && e.getValue() != null)
        .collect(
            Collectors.summingLong(
                (Map.Entry<TopicPartition, ?> e) ->
                    ((OffsetAndMetadata) e.getValue())
                        .offset()));
  }

  private static <T> T get(Future<T> future) {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    producer.close();
    admin.deleteTopics(List.of(name, retry()));
    admin.close();
  }

  /** What has to become true. */
  public interface Condition {
    /** Whether it is. */
    boolean holds() throws Exception;
  }

  /** Waits for something, for two minutes. */
  public static void await(String what, Condition condition) throws Exception {
    long end = System.nanoTime() + 120_000_000_000L;
    while (!condition.holds()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("in vain: " + what);
      }
      Thread.sleep(20);
    }
  }
}
