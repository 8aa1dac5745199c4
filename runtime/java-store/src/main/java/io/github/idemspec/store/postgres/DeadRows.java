package io.github.idemspec.store.postgres;

import static io.github.idemspec.store.postgres.Column.text;

import io.github.idemspec.store.DeadLetter;
import io.github.idemspec.store.HeadersText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The dead letters that one transaction writes, each once. */
final class DeadRows {
  private record Id(String scope, String topic, int partition, long offset) {}

  private record Row(Id id, DeadLetter letter) {}

  private final Map<Id, Row> rows = new LinkedHashMap<>();

  /** Takes the later life of two of the same delivery, else the first, as the table does. */
  void add(DeadLetter letter) {
    Id id =
        new Id(
            text(letter.scope()),
            text(letter.source().topic()),
            letter.source().partition(),
            letter.source().offset());
    Row twice = rows.get(id);
    if (twice == null || letter.redriveCount() > twice.letter.redriveCount()) {
      rows.put(id, new Row(id, letter));
    }
  }

  void write(Step step) {
    if (rows.isEmpty()) {
      return;
    }
    List<Row> all = new ArrayList<>(rows.values());
    step.run(
        "dead_put",
        Column.texts(all, r -> r.id.scope),
        Column.texts(all, r -> text(r.letter.key())),
        Column.texts(all, r -> text(r.letter.eventType())),
        Column.texts(all, r -> text(r.letter.bizKey())),
        Column.texts(all, r -> text(r.letter.eventId())),
        Column.texts(all, r -> r.id.topic),
        Column.ints(all, r -> r.id.partition),
        Column.longs(all, r -> r.id.offset),
        Column.ints(all, r -> r.letter.redriveCount()),
        Column.ints(all, r -> r.letter.retryCount()),
        Column.ints(all, r -> r.letter.holdCount()),
        Column.texts(all, r -> r.letter.outcome().name()),
        Column.texts(all, r -> text(r.letter.reason())),
        Column.texts(all, r -> text(r.letter.topic())),
        Column.texts(all, r -> HeadersText.of(r.letter.headers())),
        Column.bytes(all, r -> r.letter.messageKey()),
        Column.bytes(all, r -> r.letter.payload()));
  }
}
