package io.github.idemspec.store.postgres;

import io.github.idemspec.store.DueRetry;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The rows of msg_retry that are due, and the lanes that wait for them. */
final class DueRows {
  private final Transactions transactions;
  private final Duration retention;

  DueRows(Transactions transactions, Duration retention) {
    this.transactions = transactions;
    this.retention = retention;
  }

  int wake(String scope, String bizKey) {
    return transactions.change("wake", "retry_wake", scope, Column.text(bizKey));
  }

  List<DueRetry> claimDue(String token, int limit, Duration lease) {
    return transactions.run(
        "claim " + limit + " due rows",
        t -> {
          List<DueRetry> due = new ArrayList<>();
          t.commit(
              step ->
                  step.query(
                      "retry_claim",
                      rows -> {
                        while (rows.next()) {
                          due.add(dueOf(rows, token));
                        }
                      },
                      token,
                      limit,
                      lease.toMillis()));
          due.sort(Comparator.comparingLong(DueRetry::id));
          return due;
        });
  }

  private static DueRetry dueOf(ResultSet rows, String token) throws SQLException {
    return new DueRetry(
        rows.getLong("id"),
        rows.getString("scope"),
        rows.getString("idempotency_key"),
        rows.getInt("redrive_count"),
        rows.getLong("retry_count") + rows.getLong("hold_count"),
        rows.getString("topic"),
        rows.getBytes("message_key"),
        Rows.headers(rows),
        rows.getBytes("payload"),
        rows.getInt("publications"),
        token);
  }

  boolean[] markPublished(List<DueRetry> rows) {
    if (rows.isEmpty()) {
      return new boolean[0];
    }
    return transactions.places(
        "mark " + rows.size() + " rows", rows.size(), "retry_mark", marks(rows).toArray());
  }

  void postpone(List<DueRetry> rows, Duration due) {
    if (!rows.isEmpty()) {
      List<Object> arguments = marks(rows);
      arguments.add(due.toMillis());
      transactions.change(
          "postpone " + rows.size() + " rows", "retry_postpone", arguments.toArray());
    }
  }

  private static List<Object> marks(List<DueRetry> rows) {
    List<Object> columns = new ArrayList<>();
    columns.add(Column.longs(rows, DueRetry::id));
    columns.add(Column.texts(rows, DueRetry::token));
    columns.add(Column.ints(rows, DueRetry::redriveCount));
    columns.add(Column.longs(rows, DueRetry::position));
    return columns;
  }

  OptionalLong nextDueMs() {
    return transactions.run(
        "look for due rows",
        t -> {
          OptionalLong[] next = {OptionalLong.empty()};
          t.commit(
              step ->
                  step.query(
                      "retry_next",
                      rows -> {
                        long ms = Rows.first(rows).getLong(1);
                        next[0] = rows.wasNull() ? OptionalLong.empty() : OptionalLong.of(ms);
                      }));
          return next[0];
        });
  }

  int sweepLanes(int limit) {
    return transactions.run(
        "sweep " + limit + " lanes",
        t -> {
          Map<Lanes.Id, String> done = new LinkedHashMap<>();
          t.send(
              step ->
                  step.query(
                      "lane_sweep",
                      rows -> {
                        while (rows.next()) {
                          Lanes.Id id =
                              new Lanes.Id(rows.getString(1), rows.getString(2), rows.getString(3));
                          done.put(id, rows.getString(4));
                        }
                      },
                      limit,
                      retention.toMillis()));
          t.commit(step -> done.forEach((id, head) -> Lanes.release(step, id, head)));
          return done.size();
        });
  }
}
