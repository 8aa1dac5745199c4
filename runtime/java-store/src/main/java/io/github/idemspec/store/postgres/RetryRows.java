package io.github.idemspec.store.postgres;

import static io.github.idemspec.store.postgres.Column.text;

import io.github.idemspec.store.HeadersText;
import io.github.idemspec.store.Lane;
import io.github.idemspec.store.Retry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The rows of msg_retry that one transaction writes, each once. */
final class RetryRows {
  private record Id(String scope, String key, String topic, int partition, long offset) {
    static final Comparator<Id> ORDER =
        Comparator.comparing(Id::scope)
            .thenComparing(Id::key)
            .thenComparing(Id::topic)
            .thenComparing(Id::partition)
            .thenComparing(Id::offset);

    static Id of(Retry row) {
      return new Id(
          text(row.scope()),
          text(row.key()),
          text(row.source().topic()),
          row.source().partition(),
          row.source().offset());
    }
  }

  private record Row(Id id, Retry retry, Lane lane, boolean parked) {}

  /** How far on a delivery is. */
  private record Progress(int redrive, long position) {
    static Progress of(Retry row) {
      return new Progress(row.redriveCount(), row.position());
    }

    /** A row is not taken back. */
    boolean isBehind(Progress other) {
      return redrive < other.redrive || redrive == other.redrive && position < other.position;
    }
  }

  private final Map<Id, Row> rows = new LinkedHashMap<>();
  private final Map<Id, Progress> known = new HashMap<>();

  /** Reads how far on the rows of some deliveries are. */
  void lock(Step step, List<Retry> deliveries) {
    if (deliveries.isEmpty()) {
      return;
    }
    List<Id> ids = deliveries.stream().map(Id::of).distinct().sorted(Id.ORDER).toList();
    step.query(
        "retry_lock",
        answer -> {
          while (answer.next()) {
            known.put(ids.get(answer.getInt(1) - 1), new Progress(answer.getInt(2), answer.getLong(3)));
          }
        },
        Column.texts(ids, Id::scope),
        Column.texts(ids, Id::key),
        Column.texts(ids, Id::topic),
        Column.ints(ids, Id::partition),
        Column.longs(ids, Id::offset));
  }

  /**
   * Takes the one that is further on of two for the same delivery, as the table does, and says whether
   * it took this one.
   */
  boolean add(Retry retry, Lane lane, boolean parked) {
    Id id = Id.of(retry);
    Progress here = Progress.of(retry);
    Progress there = known.get(id);
    Row twice = rows.get(id);
    if (there != null && here.isBehind(there)
        || twice != null && here.isBehind(Progress.of(twice.retry))) {
      return false;
    }
    rows.put(id, new Row(id, retry, lane, parked));
    return true;
  }

  /** Sends them in the order they were given: those of one lane are parked in it. */
  void write(Step step) {
    if (rows.isEmpty()) {
      return;
    }
    List<Row> all = new ArrayList<>(rows.values());
    step.run(
        "retry_put",
        Column.texts(all, r -> r.id.scope),
        Column.texts(all, r -> r.id.key),
        Column.texts(all, r -> r.id.topic),
        Column.ints(all, r -> r.id.partition),
        Column.longs(all, r -> r.id.offset),
        Column.ints(all, r -> r.retry.redriveCount()),
        Column.ints(all, r -> r.retry.retryCount()),
        Column.ints(all, r -> r.retry.holdCount()),
        Column.texts(all, r -> r.retry.action().name()),
        Column.texts(all, r -> r.parked ? "PARKED" : "PENDING"),
        Column.longs(all, r -> r.retry.due().toMillis()),
        Column.texts(all, r -> r.lane == null ? "" : r.lane.topic()),
        Column.texts(all, r -> r.lane == null ? "" : text(r.lane.bizKey())),
        Column.texts(all, r -> text(r.retry.eventId())),
        Column.texts(all, r -> text(r.retry.eventType())),
        Column.texts(all, r -> text(r.retry.bizKey())),
        Column.texts(all, r -> text(r.retry.reason())),
        Column.texts(all, r -> text(r.retry.topic())),
        Column.texts(all, r -> HeadersText.of(r.retry.headers())),
        Column.bytes(all, r -> r.retry.messageKey()),
        Column.bytes(all, r -> r.retry.payload()));
  }
}
