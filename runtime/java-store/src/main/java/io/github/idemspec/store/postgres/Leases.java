package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Renewal;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.postgres.Transactions.Explained;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Claims leases on records, renews them, and ends them with SUCCESS. */
final class Leases {
  /** The least that a claim's pause between two statements is taken for. */
  private static final Duration MIN_LEASE = Duration.ofMillis(200);

  private final PostgresConfig config;
  private final Transactions transactions;

  Leases(PostgresConfig config, Transactions transactions) {
    this.config = config;
    this.transactions = transactions;
  }

  List<Grant> claim(List<Claim> claims) {
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
  boolean[] complete(List<Completion> completions) {
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
    return transactions.places(
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

  boolean[] renew(List<Renewal> renewals) {
    String action = "renew " + renewals.size() + " leases";
    Set<List<String>> seen = new HashSet<>();
    boolean plain = true;
    for (Renewal r : renewals) {
      plain &= isPlain(r.lease(), seen);
    }
    if (!plain) {
      return transactions.run(action, t -> renewLocked(t, renewals));
    }
    return transactions.places(
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

  static void checkResult(Completion c) {
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
}
