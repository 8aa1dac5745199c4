package io.github.idemspec.store;

import java.sql.Connection;
import java.time.Duration;
import java.util.function.Consumer;

/** A store whose SUCCESS can be part of the handler's own transaction. */
public interface Transactor extends Store {
  /** What is done in a transaction. */
  interface TxWork<R> {
    /** Does it; what it throws rolls the transaction back, and is thrown on. */
    R in(Tx tx) throws Exception;
  }

  /**
   * A handler's transaction.
   *
   * @param connection what it writes on, and neither commits nor closes
   * @param complete makes the records of a claim SUCCESS, with the commit
   */
  record Tx(Connection connection, Consumer<Completion> complete) {}

  /**
   * Runs work in a transaction, and commits where it returns.
   *
   * @param limit how long its statements, and the pauses between them, may take; null for the store's
   * @throws FencedException where a claim was lost, and nothing is done
   * @throws NotBegunException where there was no transaction to begin with
   */
  <R> R inTx(Duration limit, TxWork<R> work) throws Exception;

  /**
   * Makes records SUCCESS within a transaction of the caller's, as its last statement (DEDUP-020,
   * DEDUP-022).
   *
   * @throws FencedException where the claim is no longer held: roll back
   */
  void completeTx(Connection connection, Completion completion);
}
