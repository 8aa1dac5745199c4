package io.github.idemspec.store;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/** The table msg_retry, for its scheduler (CONS-020, CONS-021). */
public interface Retries {
  /**
   * Claims pending rows that are due on the store's clock, of any scope, oldest first, for the time of a
   * lease; rows claimed by another whose lease is over are due again.
   *
   * @param token the scheduler's, new for each claim
   */
  List<DueRetry> claimDue(String token, int limit, Duration lease);

  /** Removes rows whose publication is confirmed; false where a row has changed since. */
  boolean[] markPublished(List<DueRetry> rows);

  /** Gives claims back, for rows that could not be published, due again after a time. */
  void postpone(List<DueRetry> rows, Duration due);

  /** In how many milliseconds a pending row can be claimed; empty where there is none. */
  OptionalLong nextDueMs();

  /** Makes the held rows of a biz key due now, and says how many were not (STATE-012). */
  int wake(String scope, String bizKey);

  /** Lets go the next message of each lane whose head is done, and says how many (CONS-015). */
  int sweepLanes(int limit);
}
