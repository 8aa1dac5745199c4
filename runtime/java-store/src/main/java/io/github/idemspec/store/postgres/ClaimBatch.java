package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.postgres.Records.Entry;
import io.github.idemspec.store.postgres.Records.Presence;
import io.github.idemspec.v1.Admission.Verdict;
import io.github.idemspec.v1.DedupRecord.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One transaction of claims, of two round trips: one statement makes the records that are not there
 * and locks those that are, and the rest is decided here and written with the commit (DEDUP-030).
 */
final class ClaimBatch {
  private final PostgresConfig config;
  private final List<Claim> claims;
  private final Records records = new Records();

  /** Of each claim's keys: two a claim, the second null where there is none. */
  private final Entry[] entries;

  private final List<Lanes.Id> asked = new ArrayList<>();
  private final Map<Lanes.Id, String> heads = new HashMap<>();
  private Instant now;

  ClaimBatch(PostgresConfig config, List<Claim> claims) {
    this.config = config;
    this.claims = claims;
    entries = new Entry[2 * claims.size()];
    for (int i = 0; i < claims.size(); i++) {
      Claim claim = claims.get(i);
      entries[2 * i] = records.add(claim.scope(), claim.key(), i);
      if (claim.dual()) {
        entries[2 * i + 1] = records.add(claim.scope(), claim.previous(), i);
      }
      if (claim.lane() != null) {
        asked.add(Lanes.Id.of(claim.scope(), claim.lane()));
      }
    }
  }

  List<Grant> in(Transactions.Transaction transaction) throws SQLException {
    transaction.send(this::ask);
    List<Grant> grants = new ArrayList<>(claims.size());
    for (int i = 0; i < claims.size(); i++) {
      grants.add(decide(claims.get(i), entries[2 * i], entries[2 * i + 1]));
    }
    transaction.commit(records::write);
    return grants;
  }

  private void ask(Step step) {
    List<Entry> all = records.all();
    step.query(
        "claim",
        this::read,
        Column.texts(all, e -> e.scope),
        Column.texts(all, e -> e.key),
        Column.texts(all, e -> of(e).owner()),
        Column.texts(all, e -> of(e).fingerprint()),
        Column.ints(all, e -> of(e).redriveCount()),
        Column.ints(all, e -> of(e).retryCount()),
        Column.ints(all, e -> of(e).holdCount()),
        Column.longs(all, e -> of(e).lease().toMillis()),
        config.retention().toMillis());
    if (!asked.isEmpty()) {
      step.query(
          "lane_heads",
          this::readHeads,
          Lanes.scopes(asked),
          Lanes.topics(asked),
          Lanes.bizKeys(asked));
    }
  }

  private Claim of(Entry entry) {
    return claims.get(entry.claim);
  }

  /**
   * The first row has the time, and how many records were made: where those are all, it is alone. Of
   * the others those that were made have no fence.
   */
  private void read(ResultSet rows) throws SQLException {
    rows.next();
    now = Records.instant(rows, 1);
    if (rows.getLong(4) == records.all().size()) {
      for (Entry entry : records.all()) {
        entry.there = Presence.FRESH;
      }
    }
    while (rows.next()) {
      rows.getLong(4);
      if (rows.wasNull()) {
        records.find(rows.getString(2), rows.getString(3)).there = Presence.FRESH;
      } else {
        records.found(rows);
      }
    }
  }

  private void readHeads(ResultSet rows) throws SQLException {
    while (rows.next()) {
      heads.put(asked.get(rows.getInt(1) - 1), rows.getString(2));
    }
  }

  private Grant decide(Claim claim, Entry current, Entry previous) {
    if (current.claimed || previous != null && previous.claimed) {
      // Claimed by another of this batch, whatever its owner says (DEDUP-025).
      Entry by = current.claimed ? current : previous;
      return Grant.inProgress(claim, by.record.leaseUntilMs() - now.toEpochMilli());
    }
    Grant grant =
        claim.admit(
            known(claim, current),
            previous == null ? null : known(claim, previous),
            now.toEpochMilli());
    if (grant.tooOld()) {
      return grant;
    }
    if (claim.lane() != null) {
      String head = heads.get(Lanes.Id.of(claim.scope(), claim.lane()));
      if (claim.key().equals(head)) {
        grant = grant.heading();
      } else if (head != null && grant.verdict() == Verdict.PROCEED && !isAgain(grant, current)) {
        return grant.parking();
      }
    }
    if (grant.verdict() == Verdict.PROCEED) {
      claimed(claim, grant, current, grant.lease().fence());
      if (previous != null) {
        claimed(claim, grant, previous, grant.lease().previousFence());
      }
    } else if (grant.verdict() == Verdict.DUPLICATE && previous != null) {
      duplicated(claim, grant, current);
      duplicated(claim, grant, previous);
    }
    return grant;
  }

  /** The reply to this claim was lost: it runs already. */
  private static boolean isAgain(Grant grant, Entry entry) {
    return entry.there == Presence.FOUND && grant.lease().fence() == entry.record.fence();
  }

  /**
   * The record that a claim is decided on. One that another transaction has locked, or has made since
   * the statement began, is taken for another's live claim.
   */
  private StoredRecord known(Claim claim, Entry entry) {
    if (entry.record != null || entry.there == Presence.FRESH) {
      return entry.record;
    }
    return new StoredRecord(
        entry.scope,
        entry.key,
        State.PROCESSING,
        1,
        0,
        claim.owner().isEmpty() ? "?" : "", // No token is that of another claim.
        claim.redriveCount(),
        claim.position(),
        now.plus(config.retryWait()).toEpochMilli(),
        "",
        null,
        0,
        0,
        now,
        now,
        now);
  }

  private void claimed(Claim claim, Grant grant, Entry entry, long fence) {
    Duration retention = config.retention();
    StoredRecord record =
        StoredRecord.claimed(claim, entry.key, fence, grant, entry.record, now, retention);
    boolean same =
        entry.there == Presence.FRESH
            && entry.record == null
            && of(entry).owner().equals(claim.owner())
            && isAsMade(record, entry);
    entry.record = record;
    entry.claimed = true;
    entry.dirty |= !same;
  }

  /** Whether a record is what the statement has made of it already. */
  private boolean isAsMade(StoredRecord r, Entry entry) {
    Claim c = of(entry);
    return r.fence() == 1
        && r.attempts() == 1
        && r.fingerprint().equals(c.fingerprint())
        && r.leaseUntilMs() == now.toEpochMilli() + c.lease().toMillis()
        && r.redriveCount() == c.redriveCount()
        && r.retryCount() == c.retryCount()
        && r.holdCount() == c.holdCount();
  }

  /**
   * Makes the other key of a claim SUCCESS too. One that another transaction has is left to the next
   * duplicate.
   */
  private void duplicated(Claim claim, Grant grant, Entry entry) {
    boolean nowhere = entry.there == Presence.NOWHERE;
    if (nowhere || entry.record != null && entry.record.state() == State.SUCCESS) {
      return;
    }
    Duration retention = config.retention();
    entry.become(
        StoredRecord.duplicated(claim, entry.key, grant.result(), entry.record, now, retention));
    entry.writesResult = true;
  }
}
