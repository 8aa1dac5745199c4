package io.github.idemspec.store.postgres;

import io.github.idemspec.store.HeadersText;
import io.github.idemspec.store.Outbox;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.postgres.Transactions.Explained;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The rows of the outbox. */
final class OutboxRows {
  private final Transactions transactions;

  OutboxRows(Transactions transactions) {
    this.transactions = transactions;
  }

  void store(List<Outgoing> messages) {
    if (!messages.isEmpty()) {
      transactions.change(storing(messages), "outbox_put", columnsOf(messages));
    }
  }

  void storeTx(Connection connection, List<Outgoing> messages) {
    if (messages.isEmpty()) {
      return;
    }
    try {
      new Step().run("outbox_put", columnsOf(messages)).send(connection);
    } catch (SQLException e) {
      throw Explained.of(storing(messages), e);
    }
  }

  private static String storing(List<Outgoing> messages) {
    return "store " + messages.size() + " messages";
  }

  private static Object[] columnsOf(List<Outgoing> messages) {
    return new Object[] {
      Column.texts(messages, m -> Column.text(m.topic())),
      Column.bytes(messages, Outgoing::messageKey),
      Column.texts(messages, m -> HeadersText.of(m.headers())),
      Column.bytes(messages, Outgoing::payload)
    };
  }

  List<Outbox.Row> claimOutgoing(String token, int limit, Duration lease) {
    return transactions.run(
        "claim " + limit + " rows of the outbox",
        t -> {
          List<Outbox.Row> claimed = new ArrayList<>();
          t.commit(
              step ->
                  step.run("outbox_lock")
                      .query(
                          "outbox_claim",
                          rows -> {
                            while (rows.next()) {
                              claimed.add(outgoingOf(rows));
                            }
                          },
                          token,
                          limit,
                          lease.toMillis()));
          claimed.sort(Comparator.comparingLong(Outbox.Row::id));
          return claimed;
        });
  }

  private static Outbox.Row outgoingOf(ResultSet rows) throws SQLException {
    Outgoing message =
        new Outgoing(
            rows.getString("topic"),
            rows.getBytes("message_key"),
            Rows.headers(rows),
            rows.getBytes("payload"));
    return new Outbox.Row(rows.getLong("id"), message, rows.getInt("attempts"));
  }

  void sent(String token, List<Long> ids) {
    if (!ids.isEmpty()) {
      transactions.change(
          "remove " + ids.size() + " rows of the outbox",
          "outbox_sent",
          token,
          Column.longs(ids, id -> id));
    }
  }

  void notSent(String token, List<Long> ids, String reason, Duration due, boolean failed) {
    if (ids.isEmpty()) {
      return;
    }
    transactions.run(
        "put off " + ids.size() + " rows of the outbox",
        t -> {
          t.commit(
              step ->
                  step.run("outbox_lock")
                      .run(
                          "outbox_unsent",
                          token,
                          Column.longs(ids, id -> id),
                          Column.text(reason),
                          due.toMillis(),
                          failed));
          return null;
        });
  }

  int retryFailed(int limit) {
    return transactions.change("retry " + limit + " rows of the outbox", "outbox_retry", limit);
  }
}
