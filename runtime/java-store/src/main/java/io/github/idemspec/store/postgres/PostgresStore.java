package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Audit;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.DueRetry;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Outbox;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.Retries;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import javax.sql.DataSource;

/**
 * The store on PostgreSQL 14 and later. Its connections come from a {@link DataSource} of the
 * caller's, with PostgreSQL's own driver; a pool should have more of them than handlers run at a time.
 * Nothing is asked of the server before the first call; {@link #check} is a good one. The tables are
 * made by {@code idem migrate up}.
 */
public final class PostgresStore implements Transactor, Retries, Outbox, Audit {
  private final PostgresConfig config;
  private final Transactions transactions;
  private final HandlerTransactions handlers;
  private final Leases leases;
  private final OutboxRows outbox;
  private final DueRows due;

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
    leases = new Leases(config, transactions);
    outbox = new OutboxRows(transactions);
    due = new DueRows(transactions, config.retention());
  }

  @Override
  public List<Grant> claim(List<Claim> claims) {
    return claims.isEmpty() ? List.of() : leases.claim(claims);
  }

  /** In one round trip, and in two where a claim has two keys or heads a lane. */
  @Override
  public boolean[] complete(List<Completion> completions) {
    return completions.isEmpty() ? new boolean[0] : leases.complete(completions);
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
    return renewals.isEmpty() ? new boolean[0] : leases.renew(renewals);
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
    return transactions.change(
        "forget " + keys.size() + " keys",
        "forget",
        scope,
        Column.texts(keys, k -> k),
        config.retention().toMillis());
  }

  @Override
  public void store(List<Outgoing> messages) {
    outbox.store(messages);
  }

  @Override
  public void storeTx(Connection connection, List<Outgoing> messages) {
    outbox.storeTx(connection, messages);
  }

  @Override
  public List<Outbox.Row> claimOutgoing(String token, int limit, Duration lease) {
    return outbox.claimOutgoing(token, limit, lease);
  }

  @Override
  public void sent(String token, List<Long> ids) {
    outbox.sent(token, ids);
  }

  @Override
  public void notSent(String token, List<Long> ids, String reason, Duration due, boolean failed) {
    outbox.notSent(token, ids, reason, due, failed);
  }

  @Override
  public int retryFailed(int limit) {
    return outbox.retryFailed(limit);
  }

  @Override
  public int wake(String scope, String bizKey) {
    return due.wake(scope, bizKey);
  }

  @Override
  public List<DueRetry> claimDue(String token, int limit, Duration lease) {
    return due.claimDue(token, limit, lease);
  }

  @Override
  public boolean[] markPublished(List<DueRetry> rows) {
    return due.markPublished(rows);
  }

  @Override
  public void postpone(List<DueRetry> rows, Duration later) {
    due.postpone(rows, later);
  }

  @Override
  public OptionalLong nextDueMs() {
    return due.nextDueMs();
  }

  @Override
  public int sweepLanes(int limit) {
    return due.sweepLanes(limit);
  }

  @Override
  public void count(Map<Audit.Kind, Long> counts) {
    if (counts.isEmpty()) {
      return;
    }
    List<Map.Entry<Audit.Kind, Long>> all = List.copyOf(counts.entrySet());
    transactions.change(
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
    Leases.checkResult(completion);
    handlers.complete(connection, completion);
  }

  @Override
  public String name() {
    return "postgres";
  }

  @Override
  public boolean followUps() {
    return true;
  }

  /** Throws where the server takes no writes, or the tables are missing or of another version. */
  @Override
  public void check() {
    SchemaCheck.run(transactions);
  }
}
