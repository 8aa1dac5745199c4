package io.github.idemspec.store.postgres;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Statements that are sent together, in one round trip, and what reads their answers. */
final class Step {
  /** Reads the rows of a statement. */
  interface Rows {
    void read(ResultSet rows) throws SQLException;
  }

  /** Takes how many rows a statement has changed. */
  interface Count {
    void take(int changed) throws SQLException;
  }

  private static final Statement BEGIN =
      Statement.plain("begin isolation level read committed");
  private static final Statement COMMIT = Statement.plain("commit");
  private static final Rows NO_ROWS = rows -> {};
  private static final Count NO_COUNT = changed -> {};

  private final List<Statement> statements = new ArrayList<>();
  private final List<Object[]> arguments = new ArrayList<>();
  private final List<Rows> rows = new ArrayList<>();
  private final List<Count> counts = new ArrayList<>();

  Step begin() {
    return add(BEGIN, NO_ROWS, NO_COUNT);
  }

  Step commit() {
    return add(COMMIT, NO_ROWS, NO_COUNT);
  }

  /** A statement whose answer says nothing. */
  Step run(String name, Object... args) {
    return add(Statement.named(name), NO_ROWS, NO_COUNT, args);
  }

  /** A statement that answers rows. */
  Step query(String name, Rows reader, Object... args) {
    return add(Statement.named(name), reader, NO_COUNT, args);
  }

  /** A statement that says how much it has changed. */
  Step change(String name, Count count, Object... args) {
    return add(Statement.named(name), NO_ROWS, count, args);
  }

  Step add(Statement statement, Rows reader, Count count, Object... args) {
    statements.add(statement);
    arguments.add(args);
    rows.add(reader);
    counts.add(count);
    return this;
  }

  boolean isEmpty() {
    return statements.isEmpty();
  }

  /** Sends them, and reads what they answer. */
  void send(Connection connection) throws SQLException {
    try (PreparedStatement p = connection.prepareStatement(Statement.joined(statements))) {
      bind(connection, p);
      boolean isRows = p.execute();
      for (int i = 0; i < statements.size(); i++) {
        if (isRows) {
          try (ResultSet answer = p.getResultSet()) {
            rows.get(i).read(answer);
          }
        } else {
          counts.get(i).take(p.getUpdateCount());
        }
        isRows = i + 1 < statements.size() && p.getMoreResults();
      }
    }
  }

  private void bind(Connection connection, PreparedStatement p) throws SQLException {
    int place = 0;
    Map<Object, Array> arrays = new IdentityHashMap<>(); // A column that is named twice is made once.
    for (int i = 0; i < statements.size(); i++) {
      for (int n : statements.get(i).order) {
        Object value = arguments.get(i)[n];
        place++;
        if (value instanceof Column column) {
          Array array = arrays.get(column);
          if (array == null) {
            array = connection.createArrayOf(column.type(), column.values());
            arrays.put(column, array);
          }
          p.setArray(place, array);
        } else if (value instanceof Nothing nothing) {
          p.setNull(place, nothing.type);
        } else if (value instanceof byte[] bytes) {
          p.setBytes(place, bytes);
        } else {
          p.setObject(place, value);
        }
      }
    }
  }

  /** A null, with the type that the driver wants to know. */
  enum Nothing {
    BYTES(Types.BINARY);

    final int type;

    Nothing(int type) {
      this.type = type;
    }
  }

  /** Bytes, or their null. */
  static Object bytes(byte[] value) {
    return value == null ? Nothing.BYTES : value;
  }
}
