package io.github.idemspec.state;

import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.StateMachine.Verdict;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;

/**
 * The user's table that holds the states, one row an object, on PostgreSQL. Immutable: each method
 * gives another one.
 *
 * <pre>{@code
 * StateTable.of("orders", "order_id", "status").version("version").lastKey("last_idempotency_key")
 * }</pre>
 *
 * <p>Where the row is in the expected state it is moved by one {@code UPDATE … WHERE status = from}.
 * Where that changes nothing, the row is locked by {@code SELECT … FOR UPDATE}, and the generated
 * verdict decides on what it holds: of two that move one row at once, the second waits, and finds the
 * row as the first one left it (STATE-010).
 *
 * <p>A missing row is the state {@code ""}. Who inserts it is the caller, in the same transaction,
 * after APPLY; or the guard, with {@link #guardCreates}.
 */
public final class StateTable {
  final String name;
  final String id;
  final String status;
  final String version;
  final String lastKey;
  private final boolean guardCreates;
  private final StateTexts texts;

  private StateTable(
      String name, String id, String status, String version, String lastKey, boolean guardCreates) {
    this.name = name;
    this.id = id;
    this.status = status;
    this.version = version;
    this.lastKey = lastKey;
    this.guardCreates = guardCreates;
    texts = new StateTexts(this);
  }

  /**
   * A table.
   *
   * @param name "orders", or with its schema "shop.orders", exactly as the database has it
   * @param id the column that {@link Move#id} selects a row by; it has to be unique
   * @param status the column of the state: a text or an enum
   */
  public static StateTable of(String name, String id, String status) {
    return new StateTable(name, id, status, null, null, false);
  }

  /** With an integer column that each move raises by 1; a row that is inserted has 1. */
  public StateTable version(String column) {
    return new StateTable(name, id, status, column, lastKey, guardCreates);
  }

  /**
   * With a text column that keeps the idempotency key of the last move. Mode GUARDED needs it, and so
   * does whoever wants to know by which key a message is superseded.
   */
  public StateTable lastKey(String column) {
    return new StateTable(name, id, status, version, column, guardCreates);
  }

  /** With rows that the guard inserts: ID, status, version, last key, and the columns of the move. */
  public StateTable guardCreates() {
    return new StateTable(name, id, status, version, lastKey, true);
  }

  /** Whether the row keeps the key of its last move. */
  public boolean keepsKey() {
    return lastKey != null;
  }

  /**
   * Moves the row, or says why not, within the caller's transaction. The row is locked until that ends,
   * whatever the verdict.
   *
   * @param key the message's idempotency key
   * @param previousKey the one by the template before, during a migration, or empty
   * @throws IdemException STATE_UNKNOWN for a state that the machine does not have
   */
  public Moved apply(Connection connection, Move move, String key, String previousKey)
      throws SQLException {
    String from = move.transition().from();
    if (!from.isEmpty() && update(connection, move, key, true)) {
      return Moved.applied(from, false);
    }
    Row row = locked(connection, move);
    if (row == null && from.isEmpty() && move.verdict().apply("") == Verdict.APPLY) {
      if (guardCreates && insert(connection, move, key)) {
        return Moved.applied("", true);
      }
      if (!guardCreates) {
        reserve(connection, move);
      }
      row = locked(connection, move);
    }
    Moved moved = decide(move, row, key, previousKey);
    if (moved.verdict() == Verdict.APPLY && row != null && !update(connection, move, key, false)) {
      throw new SQLException(
          "the row "
              + move.id()
              + " of table "
              + name
              + " is locked and yet was not updated: a trigger or a row security policy may keep it back");
    }
    return moved;
  }

  private record Row(String status, String lastKey) {}

  private static Moved decide(Move move, Row row, String key, String previousKey) {
    String current = row == null || row.status == null ? "" : row.status;
    Verdict verdict = move.verdict().apply(current);
    String by = row == null || row.lastKey == null ? "" : row.lastKey;
    boolean own = !by.isEmpty() && (by.equals(key) || by.equals(previousKey));
    boolean superseded = verdict == Verdict.DUPLICATE && !own;
    return new Moved(verdict, current, row == null, superseded, superseded ? by : "");
  }

  private boolean update(Connection connection, Move move, String key, boolean conditional)
      throws SQLException {
    List<Object> values = values(move, key);
    if (conditional) {
      values.add(move.transition().from());
    }
    return changesOne(connection, texts.update(move.set().keySet(), conditional), values);
  }

  private boolean insert(Connection connection, Move move, String key) throws SQLException {
    return changesOne(connection, texts.insert(move.set().keySet()), values(move, key));
  }

  /** The new state, the key where it is kept, the further columns, and the ID. */
  private List<Object> values(Move move, String key) {
    List<Object> values = new ArrayList<>();
    values.add(move.transition().to());
    if (lastKey != null) {
      values.add(key);
    }
    values.addAll(move.set().values());
    values.add(move.id());
    return values;
  }

  private boolean changesOne(Connection connection, String text, List<Object> values)
      throws SQLException {
    try (PreparedStatement p = connection.prepareStatement(text)) {
      for (int i = 0; i < values.size(); i++) {
        bind(p, i + 1, values.get(i));
      }
      int changed = p.executeUpdate();
      if (changed > 1) {
        throw new SQLException(
            changed + " rows of table " + name + " have one " + id + ": the column has to be unique");
      }
      return changed == 1;
    }
  }

  private Row locked(Connection connection, Move move) throws SQLException {
    try (PreparedStatement p = connection.prepareStatement(texts.lock())) {
      bind(p, 1, move.id());
      try (ResultSet rows = p.executeQuery()) {
        return rows.next() ? new Row(rows.getString(1), rows.getString(2)) : null;
      }
    }
  }

  /**
   * Keeps others from creating the same object until the transaction ends. The name of the lock is that
   * of the other languages.
   */
  private void reserve(Connection connection, Move move) throws SQLException {
    String text = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))";
    try (PreparedStatement p = connection.prepareStatement(text)) {
      p.setString(1, "idem state " + texts.table() + " " + move.id());
      p.execute();
    }
  }

  /** A text is of the column's type, whatever that is. */
  private static void bind(PreparedStatement p, int place, Object value) throws SQLException {
    if (value instanceof String text) {
      p.setObject(place, text, Types.OTHER);
    } else {
      p.setObject(place, value);
    }
  }
}
