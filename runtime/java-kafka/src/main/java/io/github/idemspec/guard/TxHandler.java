package io.github.idemspec.guard;

import java.sql.Connection;

/** Handles a message whose effect is in the store's database. */
public interface TxHandler {
  /**
   * Handles it on a connection, which it neither commits nor closes: effect and SUCCESS are one
   * transaction. What it throws is classified by {@link Result#of(Throwable)}.
   */
  void handle(MessageDelivery delivery, Connection connection) throws Exception;
}
