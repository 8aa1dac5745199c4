package io.github.idemspec.spring;

import io.github.idemspec.guard.Guard.Complete;
import io.github.idemspec.guard.Guard.Transaction;
import io.github.idemspec.store.NotBegunException;
import io.github.idemspec.store.StoreException;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * A transaction of Spring's, in which a listener runs. SUCCESS is written on the connection that the
 * transaction manager has bound: JDBC's own, or the one that JPA works on.
 */
final class ListenerTransaction {
  /** The listener. */
  interface Listener {
    void run() throws Exception;
  }

  private final PlatformTransactionManager manager;
  private final DataSource source;

  ListenerTransaction(PlatformTransactionManager manager, DataSource source) {
    this.manager = manager;
    this.source = source;
  }

  Transaction of(Duration limit, Listener listener) {
    return complete -> run(limit, listener, complete);
  }

  private void run(Duration limit, Listener listener, Complete complete) throws Exception {
    TransactionStatus status = begin(limit);
    try {
      listener.run();
      success(complete);
    } catch (Throwable e) {
      rollback(status, e);
      throw e;
    }
    manager.commit(status);
  }

  private TransactionStatus begin(Duration limit) {
    DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
    definition.setName("idem");
    definition.setTimeout((int) Math.min(Math.max(limit.toSeconds(), 1), Integer.MAX_VALUE));
    try {
      return manager.getTransaction(definition);
    } catch (TransactionException e) {
      throw new NotBegunException(new StoreException("begin a transaction: " + e.getMessage(), e));
    }
  }

  private void success(Complete complete) {
    Connection connection = DataSourceUtils.getConnection(source);
    try {
      if (!DataSourceUtils.isConnectionTransactional(connection, source)) {
        throw new IllegalStateException(
            "the transaction manager "
                + manager.getClass().getName()
                + " has bound no connection of the DataSource of IdemListeners: give both of one"
                + " database, and JpaTransactionManager its DataSource");
      }
      complete.on(connection);
    } finally {
      DataSourceUtils.releaseConnection(connection, source);
    }
  }

  private void rollback(TransactionStatus status, Throwable cause) {
    try {
      manager.rollback(status);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
