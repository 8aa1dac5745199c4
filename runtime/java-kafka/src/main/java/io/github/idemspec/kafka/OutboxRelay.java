package io.github.idemspec.kafka;

import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.store.Outbox;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes what is in the outbox, in the order of each topic and key, and removes it once the broker has
 * confirmed it. A message that fails is tried again after 1, 2 and 4 seconds, and then has failed: it
 * holds back its own key alone, until {@link Outbox#retryFailed}. Any number of relays may run, in any
 * language. {@link #run} works until {@link #close} (CONS-023).
 */
public final class OutboxRelay implements Runnable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);
  private static final int BATCH = 500;
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final long POLL_MS = 200;
  private static final int TRIES = 3;

  private final Outbox outbox;
  private final Rounds rounds;
  private final Observer observer;

  /** A relay; the properties are those of kafka-clients. */
  public OutboxRelay(Map<String, Object> properties, Outbox outbox) {
    this(properties, outbox, Observer.NONE);
  }

  /** One that tells what it has published. */
  public OutboxRelay(Map<String, Object> properties, Outbox outbox, Observer observer) {
    this.outbox = outbox;
    this.observer = Observer.safe(observer);
    rounds = new Rounds(properties);
  }

  @Override
  public void run() {
    rounds.run(this::round);
  }

  /** One round, and how long to wait before the next one, in milliseconds. */
  private long round() {
    try {
      String token = UUID.randomUUID().toString();
      List<Outbox.Row> rows = outbox.claimOutgoing(token, BATCH, LEASE);
      if (rows.isEmpty()) {
        return POLL_MS;
      }
      return publish(token, rows) > 0 ? 0 : POLL_MS; // There may be more, behind them too.
    } catch (StoreException e) {
      LOG.error("the outbox waits, and nothing of it is lost: {}", e.getMessage());
      return POLL_MS;
    }
  }

  private record Lane(String topic, ByteBuffer key) {
    static Lane of(Outbox.Row row) {
      byte[] key = row.message().messageKey();
      // A row without a key is in a lane of its own.
      byte[] name = key == null ? ByteBuffer.allocate(8).putLong(row.id()).array() : key;
      return new Lane(key == null ? null : row.message().topic(), ByteBuffer.wrap(name));
    }
  }

  /**
   * Sends the first row of each lane, then the second one of each where the first is confirmed, and so
   * on, and says how many were confirmed.
   */
  private int publish(String token, List<Outbox.Row> rows) {
    Map<Lane, Deque<Outbox.Row>> lanes = new LinkedHashMap<>();
    for (Outbox.Row row : rows) {
      lanes.computeIfAbsent(Lane.of(row), lane -> new ArrayDeque<>()).add(row);
    }
    List<Long> sent = new ArrayList<>(rows.size());
    List<Long> untried = new ArrayList<>();
    List<Deque<Outbox.Row>> going = new ArrayList<>(lanes.values());
    try {
      while (!going.isEmpty()) {
        going = wave(token, going, sent, untried);
      }
    } finally {
      outbox.sent(token, sent);
    }
    outbox.notSent(token, untried, "", Duration.ZERO, false);
    return sent.size();
  }

  private List<Deque<Outbox.Row>> wave(
      String token, List<Deque<Outbox.Row>> lanes, List<Long> sent, List<Long> untried) {
    List<Future<RecordMetadata>> answers = new ArrayList<>(lanes.size());
    for (Deque<Outbox.Row> lane : lanes) {
      answers.add(rounds.send(lane.getFirst().message()));
    }
    List<Deque<Outbox.Row>> rest = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      Deque<Outbox.Row> lane = lanes.get(i);
      Outbox.Row row = lane.removeFirst();
      Exception error = Rounds.errorOf(answers.get(i));
      if (error == null) {
        sent.add(row.id());
        observer.measure(Metric.IDEM_OUTBOX_SENT_TOTAL, row.message().topic(), 1);
        if (!lane.isEmpty()) {
          rest.add(lane);
        }
      } else {
        failed(token, row, error);
        lane.forEach(behind -> untried.add(behind.id()));
      }
    }
    return rest;
  }

  private void failed(String token, Outbox.Row row, Exception error) {
    boolean over = row.attempts() >= TRIES;
    Duration due = over ? Duration.ZERO : Duration.ofSeconds(1L << row.attempts());
    String key = keyOf(row.message().headers());
    String topic = row.message().topic();
    if (over) {
      String line = "given up; it and later messages of its key wait: idempotency_key={} topic={} id={}: {}";
      LOG.error(line, key, topic, row.id(), error.toString());
    } else {
      String line = "not published, trying again: idempotency_key={} topic={} id={} due={}: {}";
      LOG.warn(line, key, topic, row.id(), due, error.toString());
    }
    outbox.notSent(token, List.of(row.id()), error.toString(), due, over);
  }

  private static String keyOf(List<Header> headers) {
    for (Header header : headers) {
      if (header.name().equals(HeaderName.IDEMPOTENCY_KEY.text())) {
        return new String(header.value(), StandardCharsets.UTF_8);
      }
    }
    return "";
  }

  /** Has {@link #run} end its round and return, and waits for it. */
  @Override
  public void close() {
    rounds.close();
  }
}
