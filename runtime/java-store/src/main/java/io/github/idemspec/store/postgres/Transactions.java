package io.github.idemspec.store.postgres;

import io.github.idemspec.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import javax.sql.DataSource;

/**
 * The store's own transactions: BEGIN and the settings go with the first statements, COMMIT with the
 * last ones, so that each takes as many round trips as it has steps.
 */
final class Transactions {
  /** Adds the statements of a step; what they answer is there when it has been sent. */
  interface Add {
    void to(Step step) throws SQLException;
  }

  /** What one transaction does, from its beginning, also when it is begun again. */
  interface Work<T> {
    T in(Transaction transaction) throws SQLException;
  }

  /** How often a transaction is begun that the server has ended to break a deadlock. */
  private static final int ATTEMPTS = 5;

  private static final Duration LEAST = Duration.ofMillis(1);

  private final DataSource source;
  private final PostgresConfig config;

  Transactions(DataSource source, PostgresConfig config) {
    this.source = source;
    this.config = config;
  }

  /** One transaction, being sent a step at a time. */
  final class Transaction {
    private final Connection connection;
    private final Duration idle;
    private boolean begun;
    private boolean committed;

    private Transaction(Connection connection, Duration idle) {
      this.connection = connection;
      this.idle = idle;
    }

    /** Sends a step that others follow. */
    void send(Add statements) throws SQLException {
      step(statements).send(connection);
    }

    /** Sends the last step, and COMMIT with it. */
    void commit(Add statements) throws SQLException {
      Step step = step(statements).commit();
      step.send(connection);
      committed = true;
    }

    private Step step(Add statements) throws SQLException {
      Step step = new Step();
      if (!begun) {
        begun = true;
        settings(step.begin());
      }
      statements.to(step);
      return step;
    }

    private void settings(Step step) {
      step.run(
          "settings",
          milliseconds(config.lockTimeout()),
          milliseconds(config.statementTimeout()),
          milliseconds(idle.compareTo(config.idleTimeout()) < 0 ? idle : config.idleTimeout()),
          "force_generic_plan");
    }
  }

  <T> T run(String action, Work<T> work) {
    try {
      return run(config.idleTimeout(), work);
    } catch (SQLException e) {
      throw Explained.of(action, e);
    }
  }

  /** Runs work; {@code idle} bounds the pauses between its steps. */
  <T> T run(Duration idle, Work<T> work) throws SQLException {
    try (Connection connection = source.getConnection()) {
      boolean automatic = connection.getAutoCommit();
      if (!automatic) {
        connection.setAutoCommit(true); // BEGIN and COMMIT are statements here.
      }
      try {
        return runOn(connection, idle, work);
      } finally {
        if (!automatic && !connection.isClosed()) {
          connection.setAutoCommit(false);
        }
      }
    }
  }

  /** One statement in a transaction, and how many rows it has changed. */
  int change(String action, String name, Object... args) {
    return run(
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
  boolean[] places(String action, int n, String name, Object... args) {
    return run(
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

  private <T> T runOn(Connection connection, Duration idle, Work<T> work) throws SQLException {
    for (int i = 1; ; i++) {
      Transaction transaction = new Transaction(connection, idle);
      try {
        T value = work.in(transaction);
        if (transaction.begun && !transaction.committed) {
          throw new IllegalStateException("a transaction of the store was not committed");
        }
        return value;
      } catch (SQLException e) {
        rollback(connection, e);
        if (i == ATTEMPTS || !Explained.isCollision(e)) {
          throw e;
        }
      } catch (RuntimeException | Error e) {
        rollback(connection, e);
        throw e;
      }
    }
  }

  /** Ends a transaction that failed. A connection on which that fails too is of no use. */
  private static void rollback(Connection connection, Throwable cause) {
    try {
      if (!connection.isClosed()) {
        new Step()
            .add(Statement.plain("rollback"), rows -> {}, changed -> {})
            .send(connection);
      }
    } catch (SQLException e) {
      cause.addSuppressed(e);
      abort(connection);
    }
  }

  /** So that no pool lends it again. */
  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException | RuntimeException e) {
      // It is of no use either way.
    }
  }

  static String milliseconds(Duration d) {
    return (d.compareTo(LEAST) < 0 ? LEAST : d).toMillis() + "ms";
  }

  /** Gives errors the words that name the way out. */
  static final class Explained {
    private Explained() {}

    static StoreException of(String action, SQLException e) {
      String way = wayOut(e.getSQLState());
      return new StoreException(
          action + ": " + (way == null ? e.getMessage() : way + " (" + e.getMessage() + ")"), e);
    }

    private static String wayOut(String state) {
      switch (state == null ? "" : state) {
        case "25006":
          return "the server takes no writes: connect to the primary, targetServerType=primary in"
              + " the URL finds it among several hosts";
        case "42P01":
        case "42703":
          return "the tables do not fit this program: `idem migrate validate` says what is missing,"
              + " and `idem migrate up` makes the tables where there are none; or name their schema"
              + " in the URL, currentSchema=idem";
        case "28P01":
        case "28000":
          return "the server refuses this role: check user and password, and pg_hba.conf";
        case "42501":
          return "the server refuses this role: grant it SELECT, INSERT, UPDATE and DELETE on the"
              + " tables of idem, and USAGE on their schema";
        case "3D000":
          return "there is no such database: create it, or correct the URL";
        case "53100":
          return "the server's disk is full: make room on its volume; nothing was written, and the"
              + " messages will be tried again";
        default:
          return null;
      }
    }

    /** The server has ended a transaction in favour of another one; it was rolled back. */
    static boolean isCollision(SQLException e) {
      return "40P01".equals(e.getSQLState()) || "40001".equals(e.getSQLState());
    }

    /** Something was locked for longer than the lock timeout. */
    static boolean isLockTimeout(SQLException e) {
      return "55P03".equals(e.getSQLState());
    }

    /** complete_last has found no row. */
    static boolean isFenced(SQLException e) {
      return "22P02".equals(e.getSQLState()) && String.valueOf(e.getMessage()).contains("fenced out");
    }
  }
}
