package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Completion;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.Transactor.Tx;
import io.github.idemspec.store.Transactor.TxWork;
import io.github.idemspec.store.postgres.Transactions.Explained;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Transactions of handlers, in which the effect and SUCCESS are one. */
final class HandlerTransactions {
  private static final Statement ISOLATION =
      Statement.plain("set transaction isolation level read committed");

  /**
   * A handler that hangs, or whose process is stopped, loses its transaction once its time is over,
   * and its locks with it.
   */
  private static final Statement SETTINGS =
      Statement.parse(
          "handler settings",
          "SELECT set_config('idle_in_transaction_session_timeout', $1, true),"
              + " set_config('statement_timeout', $1, true)");

  private final DataSource source;
  private final PostgresConfig config;

  HandlerTransactions(DataSource source, PostgresConfig config) {
    this.source = source;
    this.config = config;
  }

  /**
   * Runs work in a transaction, and commits where it returns: what it has completed is the last
   * statement, and is sent with COMMIT.
   */
  <R> R run(Duration limit, TxWork<R> work) throws Exception {
    Connection connection;
    try {
      connection = source.getConnection();
    } catch (SQLException e) {
      throw new NotBegunException(Explained.of("begin a transaction", e));
    }
    try (connection) {
      boolean automatic = connection.getAutoCommit();
      begin(connection, limit == null ? config.handlerTimeout() : limit);
      List<Completion> completions = new ArrayList<>();
      boolean done = false;
      try {
        R value = work.in(new Tx(connection, completions::add));
        commit(connection, completions);
        done = true;
        return value;
      } finally {
        end(connection, automatic, done);
      }
    }
  }

  private static void begin(Connection connection, Duration limit) {
    try {
      connection.setAutoCommit(false);
      new Step()
          .add(ISOLATION, rows -> {}, changed -> {})
          .add(SETTINGS, rows -> {}, changed -> {}, Transactions.milliseconds(limit))
          .send(connection);
    } catch (SQLException e) {
      throw new NotBegunException(Explained.of("begin a transaction", e));
    }
  }

  private void commit(Connection connection, List<Completion> completions) {
    try {
      if (completions.isEmpty()) {
        connection.commit();
        return;
      }
      Step step = new Step();
      for (Completion c : completions) {
        for (KeyFence k : keysOf(c.lease())) {
          step.query("complete_last", rows -> {}, argumentsOf(c, k));
        }
      }
      for (Completion c : completions) {
        leave(step, c);
      }
      step.commit().send(connection);
    } catch (SQLException e) {
      if (Explained.isFenced(e)) {
        throw new FencedException(completions.get(0).lease().key());
      }
      throw Explained.of("commit", e);
    }
  }

  private static void end(Connection connection, boolean automatic, boolean done) {
    try {
      if (!connection.isClosed()) {
        if (!done) {
          connection.rollback();
        }
        connection.setAutoCommit(automatic);
      }
    } catch (SQLException e) {
      try {
        connection.abort(Runnable::run); // So that no pool lends it again.
      } catch (SQLException | RuntimeException of) {
        // It is of no use either way.
      }
    }
  }

  /** Makes records SUCCESS within a transaction of the caller's, as its last statement. */
  void complete(Connection connection, Completion c) {
    String key = c.lease().key();
    if (!c.lease().held() || c.lease().owner().isEmpty()) {
      throw new FencedException(key);
    }
    int[] changed = {0};
    List<KeyFence> keys = keysOf(c.lease());
    try {
      Step step = new Step();
      for (KeyFence k : keys) {
        step.change("complete_one", n -> changed[0] += n, argumentsOf(c, k));
      }
      leave(step, c);
      step.send(connection);
    } catch (SQLException e) {
      throw Explained.of("complete key \"" + key + "\"", e);
    }
    if (changed[0] != keys.size()) {
      throw new FencedException(key);
    }
  }

  private Object[] argumentsOf(Completion c, KeyFence k) {
    return new Object[] {
      c.lease().scope(),
      k.key,
      k.fence,
      c.lease().owner(),
      Step.bytes(c.result()),
      config.retention().toMillis()
    };
  }

  private static void leave(Step step, Completion c) {
    if (!c.leavesLane()) {
      return;
    }
    Lanes.Id id = Lanes.Id.of(c.lease().scope(), c.lane());
    List<Lanes.Id> one = List.of(id);
    step.run("lane_lock", Lanes.scopes(one), Lanes.topics(one), Lanes.bizKeys(one));
    Lanes.release(step, id, c.lease().key());
  }

  private record KeyFence(String key, long fence) {}

  /** The keys of a lease, in the order of all locks. */
  private static List<KeyFence> keysOf(Lease l) {
    List<KeyFence> keys = new ArrayList<>(2);
    if (l.fence() != 0) {
      keys.add(new KeyFence(l.key(), l.fence()));
    }
    if (l.previousFence() != 0) {
      // Keys are ASCII, so that this is the order of their bytes.
      int at = !keys.isEmpty() && l.previous().compareTo(l.key()) < 0 ? 0 : keys.size();
      keys.add(at, new KeyFence(l.previous(), l.previousFence()));
    }
    return keys;
  }
}
