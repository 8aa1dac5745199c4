package io.github.idemspec.kafka;

import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.store.DueRetry;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Retries;
import io.github.idemspec.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
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
  private static final long POLL_MS = 1_000;
  private static final long LEAST_PAUSE_MS = 20;
  private static final long SWEEP_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration MOST_DELAY = Duration.ofMinutes(1);

  private final Retries retries;
  private final Rounds rounds;
  private final Observer observer;
  private long sweptAt = System.nanoTime() - SWEEP_EVERY_NANOS;

  /** A scheduler; the properties are those of kafka-clients. */
  public RetryScheduler(Map<String, Object> properties, Retries retries) {
    this(properties, retries, Observer.NONE);
  }

  /** One that tells what it has published. */
  public RetryScheduler(Map<String, Object> properties, Retries retries, Observer observer) {
    this.retries = retries;
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
      sent.add(
          rounds.send(new Outgoing(row.topic(), row.messageKey(), row.headers(), row.payload())));
    }
    List<DueRetry> done = new ArrayList<>(rows.size());
    Map<Duration, List<DueRetry>> later = new HashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      DueRetry row = rows.get(i);
      Exception error = Rounds.errorOf(sent.get(i));
      if (error == null) {
        done.add(row);
        observer.measure(Metric.IDEM_RETRIES_PUBLISHED_TOTAL, row.topic(), 1);
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

  /** Has {@link #run} end its round and return, and waits for it. */
  @Override
  public void close() {
    rounds.close();
  }
}
