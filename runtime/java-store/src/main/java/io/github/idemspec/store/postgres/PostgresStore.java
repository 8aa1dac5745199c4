package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.DueRetry;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.HeadersText;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Outbox;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Retries;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.Transactor;
import io.github.idemspec.store.postgres.Transactions.Explained;
import io.github.idemspec.v1.Header;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import javax.sql.DataSource;

/**
 * The store on PostgreSQL 14 and later. Its connections come from a {@link DataSource} of the
 * caller's, with PostgreSQL's own driver; a pool should have more of them than handlers run at a time.
 * Nothing is asked of the server before the first call; {@link #check} is a good one. The tables are
 * made by {@code idem migrate up}.
 */
public final class PostgresStore implements Transactor, Retries, Outbox, Audit {
  /** The least that a claim's pause between two statements is taken for. */
  private static final Duration MIN_LEASE = Duration.ofMillis(200);

  private final PostgresConfig config;
  private final Transactions transactions;
  private final HandlerTransactions handlers;

  /** A store with the settings of {@link PostgresConfig#DEFAULT}. */
  public PostgresStore(DataSource source) {
    this(source, PostgresConfig.DEFAULT);
  }

  /** A store with settings. */
  public PostgresStore(DataSource source, PostgresConfig config) {
    if (source == null) {
      throw new IllegalArgumentException(
          "the DataSource is null: give a pool, or org.postgresql.ds.PGSimpleDataSource");
    }
    this.config = config;
    transactions = new Transactions(source, config);
    handlers = new HandlerTransactions(source, config);
  }

  @Override
  public List<Grant> claim(List<Claim> claims) {
    if (claims.isEmpty()) {
      return List.of();
    }
    try {
      return claimSome(claims);
    } catch (SQLException e) {
      throw Explained.of("claim " + claims.size() + " keys", e);
    }
  }

  /**
   * Where another transaction holds a key for longer than the lock timeout the batch is halved, which
   * costs no attempt, until that key is alone and IN_PROGRESS.
   */
  private List<Grant> claimSome(List<Claim> claims) throws SQLException {
    try {
      return transactions.run(
          shortestLease(claims).dividedBy(2), t -> new ClaimBatch(config, claims).in(t));
    } catch (SQLException e) {
      if (!Explained.isLockTimeout(e)) {
        throw e;
      }
    }
    if (claims.size() == 1) {
      return List.of(Grant.inProgress(claims.get(0), config.retryWait().toMillis()));
    }
    int half = claims.size() / 2;
    List<Grant> grants = new ArrayList<>(claimSome(claims.subList(0, half)));
    grants.addAll(claimSome(claims.subList(half, claims.size())));
    return grants;
  }

  private static Duration shortestLease(List<Claim> claims) {
    Duration shortest = claims.get(0).lease();
    for (Claim claim : claims) {
      shortest = claim.lease().compareTo(shortest) < 0 ? claim.lease() : shortest;
    }
    return shortest.compareTo(MIN_LEASE) < 0 ? MIN_LEASE : shortest;
  }

  /** In one round trip, and in two where a claim has two keys or heads a lane. */
  @Override
  public boolean[] complete(List<Completion> completions) {
    if (completions.isEmpty()) {
      return new boolean[0];
    }
    String action = "complete " + completions.size() + " keys";
    Set<List<String>> seen = new HashSet<>();
    boolean plain = true;
    for (Completion c : completions) {
      checkResult(c);
      plain &= isPlain(c.lease(), seen) && !c.leavesLane();
    }
    if (!plain) {
      return transactions.run(action, t -> completeLocked(t, completions));
    }
    return places(
        action,
        completions.size(),
        "complete",
        Column.texts(completions, c -> c.lease().scope()),
        Column.texts(completions, c -> c.lease().key()),
        Column.longs(completions, c -> fence(c.lease())),
        Column.texts(completions, c -> c.lease().owner()),
        Column.bytes(completions, Completion::result),
        config.retention().toMillis());
  }

  /** Whether a lease has one key, which no lease before it has. */
  private static boolean isPlain(Lease lease, Set<List<String>> seen) {
    return seen.add(List.of(lease.scope(), lease.key())) && lease.previousFence() == 0;
  }

  /** A crash loop holds no claim. */
  private static long fence(Lease lease) {
    return lease.owner().isEmpty() ? 0 : lease.fence();
  }

  private boolean[] completeLocked(
      Transactions.Transaction transaction, List<Completion> completions) throws SQLException {
    Records records = new Records();
    Lanes lanes = new Lanes();
    transaction.send(
        step -> {
          for (Completion c : completions) {
            records.add(c.lease());
            if (c.leavesLane()) {
              lanes.add(Lanes.Id.of(c.lease().scope(), c.lane()));
            }
          }
          records.lock(step);
          lanes.lock(step);
        });
    boolean[] done = new boolean[completions.size()];
    for (int i = 0; i < done.length; i++) {
      Completion c = completions.get(i);
      done[i] = !c.lease().owner().isEmpty() && records.matches(c.lease());
      if (!done[i]) {
        continue;
      }
      Instant expires = records.now.plus(config.retention());
      for (Records.Entry entry : records.of(c.lease())) {
        entry.become(entry.record.completed(c.result(), expires));
        entry.writesResult = true;
      }
    }
    transaction.commit(
        step -> {
          records.write(step);
          for (int i = 0; i < done.length; i++) {
            Completion c = completions.get(i);
            if (done[i] && c.leavesLane()) {
              Lanes.release(step, Lanes.Id.of(c.lease().scope(), c.lane()), c.lease().key());
            }
          }
        });
    return done;
  }

  /** In two round trips. */
  @Override
  public List<Settled> settle(List<Settlement> settlements) {
    String action = "settle " + settlements.size() + " deliveries";
    List<Settled> settled = new ArrayList<>(settlements.size());
    while (settled.size() < settlements.size()) {
      List<Settlement> rest = settlements.subList(settled.size(), settlements.size());
      settled.addAll(transactions.run(action, t -> new SettleBatch(config, rest).in(t)));
    }
    return settled;
  }

  @Override
  public boolean[] renew(List<Renewal> renewals) {
    if (renewals.isEmpty()) {
      return new boolean[0];
    }
    String action = "renew " + renewals.size() + " leases";
    Set<List<String>> seen = new HashSet<>();
    boolean plain = true;
    for (Renewal r : renewals) {
      plain &= isPlain(r.lease(), seen);
    }
    if (!plain) {
      return transactions.run(action, t -> renewLocked(t, renewals));
    }
    return places(
        action,
        renewals.size(),
        "renew",
        Column.texts(renewals, r -> r.lease().scope()),
        Column.texts(renewals, r -> r.lease().key()),
        Column.longs(renewals, r -> fence(r.lease())),
        Column.texts(renewals, r -> r.lease().owner()),
        Column.longs(renewals, r -> r.length().toMillis()),
        config.retention().toMillis());
  }

  private boolean[] renewLocked(Transactions.Transaction transaction, List<Renewal> renewals)
      throws SQLException {
    Records records = new Records();
    transaction.send(
        step -> {
          renewals.forEach(r -> records.add(r.lease()));
          records.lock(step);
        });
    boolean[] renewed = new boolean[renewals.size()];
    for (int i = 0; i < renewed.length; i++) {
      Renewal r = renewals.get(i);
      renewed[i] = !r.lease().owner().isEmpty() && records.matches(r.lease());
      if (!renewed[i]) {
        continue;
      }
      long until = records.now.plus(r.length()).toEpochMilli();
      Instant expires = records.now.plus(config.retention());
      for (Records.Entry entry : records.of(r.lease())) {
        entry.become(entry.record.renewed(until, expires));
      }
    }
    transaction.commit(records::write);
    return renewed;
  }

  @Override
  public List<StoredRecord> records(String scope, List<String> keys) {
    if (keys.isEmpty()) {
      return List.of();
    }
    return transactions.run(
        "read " + keys.size() + " records",
        t -> {
          StoredRecord[] found = new StoredRecord[keys.size()];
          t.commit(
              step ->
                  step.query(
                      "record_read",
                      rows -> {
                        while (rows.next()) {
                          found[rows.getInt(1) - 1] = Records.recordOf(rows);
                        }
                      },
                      scope,
                      Column.texts(keys, k -> k)));
          return Arrays.asList(found);
        });
  }

  /** Makes keys new again, and says how many there were. It permits a second effect (DEDUP-025). */
  public int forget(String scope, List<String> keys) {
    return change(
        "forget " + keys.size() + " keys",
        "forget",
        scope,
        Column.texts(keys, k -> k),
        config.retention().toMillis());
  }

  @Override
  public void store(List<Outgoing> messages) {
    if (!messages.isEmpty()) {
      change(storing(messages), "outbox_put", columnsOf(messages));
    }
  }

  @Override
  public void storeTx(Connection connection, List<Outgoing> messages) {
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

  @Override
  public List<Outbox.Row> claimOutgoing(String token, int limit, Duration lease) {
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
            headersOf(rows),
            rows.getBytes("payload"));
    return new Outbox.Row(rows.getLong("id"), message, rows.getInt("attempts"));
  }

  @Override
  public void sent(String token, List<Long> ids) {
    if (!ids.isEmpty()) {
      change(
          "remove " + ids.size() + " rows of the outbox",
          "outbox_sent",
          token,
          Column.longs(ids, id -> id));
    }
  }

  @Override
  public void notSent(String token, List<Long> ids, String reason, Duration due, boolean failed) {
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

  @Override
  public int retryFailed(int limit) {
    return change("retry " + limit + " rows of the outbox", "outbox_retry", limit);
  }

  @Override
  public int wake(String scope, String bizKey) {
    return change("wake", "retry_wake", scope, Column.text(bizKey));
  }

  @Override
  public List<DueRetry> claimDue(String token, int limit, Duration lease) {
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

  /** Somebody else's headers hide no message: without them it is MALFORMED, and a dead letter. */
  private static List<Header> headersOf(ResultSet rows) throws SQLException {
    try {
      return HeadersText.parse(rows.getString("headers"));
    } catch (IllegalArgumentException e) {
      return List.of();
    }
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
        headersOf(rows),
        rows.getBytes("payload"),
        rows.getInt("publications"),
        token);
  }

  @Override
  public boolean[] markPublished(List<DueRetry> rows) {
    if (rows.isEmpty()) {
      return new boolean[0];
    }
    return places("mark " + rows.size() + " rows", rows.size(), "retry_mark", marks(rows).toArray());
  }

  @Override
  public void postpone(List<DueRetry> rows, Duration due) {
    if (!rows.isEmpty()) {
      List<Object> arguments = marks(rows);
      arguments.add(due.toMillis());
      change("postpone " + rows.size() + " rows", "retry_postpone", arguments.toArray());
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

  @Override
  public OptionalLong nextDueMs() {
    return transactions.run(
        "look for due rows",
        t -> {
          OptionalLong[] next = {OptionalLong.empty()};
          t.commit(
              step ->
                  step.query(
                      "retry_next",
                      rows -> {
                        long ms = first(rows).getLong(1);
                        next[0] = rows.wasNull() ? OptionalLong.empty() : OptionalLong.of(ms);
                      }));
          return next[0];
        });
  }

  @Override
  public int sweepLanes(int limit) {
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
                      config.retention().toMillis()));
          t.commit(step -> done.forEach((id, head) -> Lanes.release(step, id, head)));
          return done.size();
        });
  }

  @Override
  public void count(Map<Audit.Kind, Long> counts) {
    if (counts.isEmpty()) {
      return;
    }
    List<Map.Entry<Audit.Kind, Long>> all = List.copyOf(counts.entrySet());
    change(
        "count deliveries",
        "audit_count",
        Column.texts(all, e -> e.getKey().scope()),
        Column.texts(all, e -> Column.text(e.getKey().eventType())),
        Column.texts(all, e -> e.getKey().outcome()),
        Column.texts(all, e -> e.getKey().action()),
        Column.texts(all, e -> e.getKey().layer()),
        Column.longs(all, Map.Entry::getValue));
  }

  @Override
  public <R> R inTx(Duration limit, TxWork<R> work) throws Exception {
    return handlers.run(limit, work);
  }

  @Override
  public void completeTx(Connection connection, Completion completion) {
    checkResult(completion);
    handlers.complete(connection, completion);
  }

  @Override
  public boolean followUps() {
    return true;
  }

  /** Throws where the server takes no writes, or the tables are missing or of another version. */
  @Override
  public void check() {
    List<String> missing = new ArrayList<>();
    int version =
        transactions.run(
            "check",
            t -> {
              int[] found = {0};
              t.commit(
                  step ->
                      step.query("schema_version", rows -> found[0] = first(rows).getInt(1))
                          .query("schema_missing", rows -> names(rows, missing)));
              return found[0];
            });
    if (version != 1 && version != 2) {
      throw new StoreException(
          "check: the tables are of version "
              + version
              + ", and this program is for version 1 and 2: migrate them, or replace the program",
          null);
    }
    if (!missing.isEmpty()) {
      throw new StoreException(
          "check: the tables lack " + missing + ": `idem migrate validate` says more", null);
    }
  }

  private static ResultSet first(ResultSet rows) throws SQLException {
    rows.next();
    return rows;
  }

  private static void names(ResultSet rows, List<String> into) throws SQLException {
    while (rows.next()) {
      into.add(rows.getString(1));
    }
  }

  private static void checkResult(Completion c) {
    if (c.result() != null && c.result().length > StoredRecord.MAX_RESULT) {
      throw new IllegalArgumentException(
          "result of key \""
              + c.lease().key()
              + "\": "
              + c.result().length
              + " bytes, the limit is "
              + StoredRecord.MAX_RESULT);
    }
    if (c.lease() == null) {
      throw new FencedException("");
    }
  }

  /** One statement in a transaction, and how many rows it has changed. */
  private int change(String action, String name, Object... args) {
    return transactions.run(
        action,
        t -> {
          int[] changed = {0};
          t.commit(step -> step.change(name, n -> changed[0] = n, args));
          return changed[0];
        });
  }

  /**
   * One statement in a transaction that answers with places in a list of n, from 1, or with 0 for all
   * of them.
   */
  private boolean[] places(String action, int n, String name, Object... args) {
    return transactions.run(
        action,
        t -> {
          boolean[] there = new boolean[n];
          t.commit(
              step ->
                  step.query(
                      name,
                      rows -> {
                        while (rows.next()) {
                          int place = rows.getInt(1);
                          Arrays.fill(there, place == 0 ? 0 : place - 1, place == 0 ? n : place, true);
                        }
                      },
                      args));
          return there;
        });
  }
}
