package io.github.idemspec.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ResultTest {
  private static void check(Outcome outcome, long waitMs, String reason, Throwable error) {
    assertEquals(new Result(outcome, waitMs, reason), Result.of(error));
  }

  @Test
  void of_aFailure_isWhatItSays() {
    check(Outcome.RETRYABLE, 0, "RETRYABLE: later", new RetryableException("later"));
    check(
        Outcome.THROTTLED,
        1500,
        "THROTTLED: slow down",
        new ThrottledException(Duration.ofMillis(1500), "slow down"));
    check(
        Outcome.NON_RETRYABLE,
        0,
        "CARD_EXPIRED: in May",
        new NonRetryableException("CARD_EXPIRED", "in May"));
    check(Outcome.OUT_OF_ORDER, 0, "OUT_OF_ORDER: early", new OutOfOrderException("early"));
  }

  @Test
  void of_aFailureWithin_isTheOutermost() {
    Exception inner = new RetryableException("inner");
    Exception outer = new NonRetryableException("A", "outer", inner);
    check(Outcome.NON_RETRYABLE, 0, "A: outer", new RuntimeException("wrapped", outer));
  }

  @Test
  void of_anSqlException_isByItsSqlstate() {
    check(
        Outcome.NON_RETRYABLE,
        0,
        "java.lang.RuntimeException: x",
        new RuntimeException("x", new SQLException("unique", "23505")));
    check(
        Outcome.RETRYABLE,
        0,
        "java.sql.SQLException: deadlock",
        new SQLException("deadlock", "40P01"));
    check(Outcome.RETRYABLE, 0, "java.sql.SQLException: odd", new SQLException("odd", "?"));
  }

  @Test
  void of_anythingElse_isRetryableButWhatFailsAgain() {
    check(
        Outcome.RETRYABLE, 0, "java.lang.IllegalStateException: x", new IllegalStateException("x"));
    IdemException e = new IdemException(ErrorCode.KEY_EMPTY, "key", -1, null);
    check(Outcome.NON_RETRYABLE, 0, e.toString(), e);
  }

  @Test
  void of_errorsThatAreEachOthersCause_isThatOfTheFirst() {
    Exception first = new IllegalStateException("first");
    first.initCause(new IllegalStateException("second", first));
    check(Outcome.RETRYABLE, 0, "java.lang.IllegalStateException: first", first);
    assertFalse(Result.isInterruption(first));
  }
}
