package io.github.idemspec.store;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** The table outbox, for producers and its relay (CONS-023). */
public interface Outbox {
  /**
   * A message that is stored.
   *
   * @param id its row
   * @param message the message
   * @param attempts how often it was tried in vain
   */
  record Row(long id, Outgoing message, int attempts) {}

  /** Puts messages into the outbox, in the order given. */
  void store(List<Outgoing> messages);

  /**
   * The same within a transaction of the caller's: they are published once it has committed, and never
   * where it rolls back. Call it after the business row is locked, so that messages of one key are
   * stored in the order of its transactions.
   */
  void storeTx(Connection connection, List<Outgoing> messages);

  /**
   * Claims rows that are due, in order: of each topic and key the first ones alone.
   *
   * @param token the relay's, new for each claim
   */
  List<Row> claimOutgoing(String token, int limit, Duration lease);

  /** Removes rows that the broker has confirmed. */
  void sent(String token, List<Long> ids);

  /**
   * Records a try that failed, or with an empty reason gives the claim back.
   *
   * @param due when they are tried again
   * @param failed nobody tries again by itself
   */
  void notSent(String token, List<Long> ids, String reason, Duration due, boolean failed);

  /** Makes the first rows that have failed due again, and says how many. */
  int retryFailed(int limit);
}
