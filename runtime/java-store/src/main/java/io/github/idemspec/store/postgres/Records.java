package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Lease;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.v1.DedupRecord.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The records of one transaction, each once, in the order of their first mention. */
final class Records {
  /** The columns of a record begin behind one that the statement uses for itself. */
  private static final State[] STATES = State.values();

  private final List<Entry> list = new ArrayList<>();
  private final Map<Id, Entry> byId = new HashMap<>();

  /** The server's present, once there is a row. */
  Instant now;

  private record Id(String scope, String key) {}

  /** Where a record is. */
  enum Presence {
    /** Not in the answer. */
    NOWHERE,
    /** It was there, and is locked. */
    FOUND,
    /** The statement made it. */
    FRESH
  }

  /** A record, as the database has it or as it was decided to be. */
  static final class Entry {
    final String scope;
    final String key;

    /** The first claim that asked for it. */
    final int claim;

    Presence there = Presence.NOWHERE;

    /** What is known or decided; null where nothing is. */
    StoredRecord record;

    /** By a claim of this batch. */
    boolean claimed;

    /** The record is not what the database has. */
    boolean dirty;

    /** The result is to be written too. */
    boolean writesResult;

    Entry(String scope, String key, int claim) {
      this.scope = scope;
      this.key = key;
      this.claim = claim;
    }

    void become(StoredRecord decided) {
      record = decided;
      dirty = true;
    }
  }

  List<Entry> all() {
    return list;
  }

  Entry add(String scope, String key, int claim) {
    return byId.computeIfAbsent(
        new Id(scope, key),
        id -> {
          Entry entry = new Entry(scope, key, claim);
          list.add(entry);
          return entry;
        });
  }

  Entry find(String scope, String key) {
    Entry entry = byId.get(new Id(scope, key));
    if (entry == null) {
      throw new IllegalStateException(
          "a row has the key \"" + key + "\", which is none of the batch");
    }
    return entry;
  }

  void add(Lease lease) {
    if (lease != null && lease.fence() != 0) {
      add(lease.scope(), lease.key(), 0);
    }
    if (lease != null && lease.previousFence() != 0) {
      add(lease.scope(), lease.previous(), 0);
    }
  }

  /** Reads and locks them, in one statement. */
  void lock(Step step) {
    if (list.isEmpty()) {
      return;
    }
    step.query("record_lock", this::read, texts(e -> e.scope), texts(e -> e.key));
  }

  private Column texts(java.util.function.Function<Entry, String> value) {
    return Column.texts(list, value);
  }

  private void read(ResultSet rows) throws SQLException {
    while (rows.next()) {
      now = instant(rows, 1);
      found(rows);
    }
  }

  /** Takes a row whose columns from the second on are those of a record. */
  void found(ResultSet rows) throws SQLException {
    StoredRecord record = recordOf(rows);
    Entry entry = find(record.scope(), record.key());
    entry.record = record;
    entry.there = Presence.FOUND;
  }

  static StoredRecord recordOf(ResultSet rows) throws SQLException {
    Instant lease = instant(rows, 10);
    return new StoredRecord(
        rows.getString(2),
        rows.getString(3),
        STATES[rows.getInt(5) - 1],
        rows.getLong(4),
        rows.getLong(6),
        rows.getString(7),
        rows.getLong(8),
        rows.getLong(9),
        lease == null ? 0 : lease.toEpochMilli(),
        rows.getString(11),
        rows.getBytes(12),
        rows.getInt(13),
        rows.getInt(14),
        instant(rows, 15),
        instant(rows, 16),
        instant(rows, 17));
  }

  static Instant instant(ResultSet rows, int column) throws SQLException {
    OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  /**
   * Whether the claim of a lease may be written to, both records or neither. A fence of 0 is that of
   * no record (DEDUP-020).
   */
  boolean matches(Lease lease) {
    if (lease == null || !lease.held()) {
      return false;
    }
    return (lease.fence() == 0 || matches(lease, lease.key(), lease.fence()))
        && (lease.previousFence() == 0 || matches(lease, lease.previous(), lease.previousFence()));
  }

  private boolean matches(Lease lease, String key, long fence) {
    Entry entry = find(lease.scope(), key);
    if (entry.there != Presence.FOUND || entry.record.fence() != fence) {
      return false;
    }
    StoredRecord r = entry.record;
    if (!lease.owner().isEmpty()) {
      return r.state() == State.PROCESSING && r.owner().equals(lease.owner());
    }
    boolean over = r.state() == State.PROCESSING && r.leaseUntilMs() <= now.toEpochMilli();
    return r.state() == State.FAILED || over;
  }

  /** The records of a lease that matches. */
  List<Entry> of(Lease lease) {
    List<Entry> entries = new ArrayList<>(2);
    if (lease.fence() != 0) {
      entries.add(find(lease.scope(), lease.key()));
    }
    if (lease.previousFence() != 0) {
      entries.add(find(lease.scope(), lease.previous()));
    }
    return entries;
  }

  /** Sends what was decided: what has changed, and the end of what was made for nothing. */
  void write(Step step) {
    List<Entry> dirty = new ArrayList<>();
    List<Entry> undone = new ArrayList<>();
    for (Entry e : list) {
      if (e.dirty) {
        dirty.add(e);
      } else if (e.there == Presence.FRESH && e.record == null) {
        undone.add(e);
      }
    }
    if (!dirty.isEmpty()) {
      step.run(
          "record_write",
          Column.texts(dirty, e -> e.scope),
          Column.texts(dirty, e -> e.key),
          Column.shorts(dirty, e -> (short) (e.record.state().ordinal() + 1)),
          Column.longs(dirty, e -> e.record.fence()),
          Column.ints(dirty, e -> clamp(e.record.attempts())),
          Column.texts(dirty, e -> e.record.owner()),
          Column.ints(dirty, e -> clamp(e.record.redriveCount())),
          Column.longs(dirty, e -> e.record.position()),
          Column.ints(dirty, e -> e.record.retryCount()),
          Column.ints(dirty, e -> e.record.holdCount()),
          Column.times(dirty, e -> leaseText(e.record.leaseUntilMs())),
          Column.texts(dirty, e -> e.record.fingerprint()),
          Column.bytes(dirty, e -> e.writesResult ? e.record.result() : null),
          Column.times(dirty, e -> text(e.record.expiresAt())));
    }
    if (!undone.isEmpty()) {
      step.run(
          "record_undo", Column.texts(undone, e -> e.scope), Column.texts(undone, e -> e.key));
    }
  }

  private static String leaseText(long ms) {
    return ms == 0 ? null : Instant.ofEpochMilli(ms).toString();
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.MICROS).toString();
  }

  /** For counts that a column of 32 bits holds; beyond it are none that can happen. */
  private static int clamp(long count) {
    return (int) Math.min(Math.max(count, 0), Integer.MAX_VALUE);
  }
}
