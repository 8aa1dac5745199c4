package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DecisionTest {
  private static final Policy POLICY =
      Policy.values().maxRetry(3).maxHold(2).backoffJitterMs(0).toPolicy();

  private static String text(Decision d) {
    return d.action()
        + " "
        + d.delayMs()
        + " "
        + d.retryCount()
        + " "
        + d.holdCount()
        + " "
        + d.rejectReason();
  }

  @ParameterizedTest
  @CsvSource({
    "OK,0,0,0,,ACK -1 -1 -1 null",
    "DUPLICATE,0,0,0,why,ACK -1 -1 -1 null",
    "STALE,9,9,0,,ACK -1 -1 -1 null",
    "RETRYABLE,0,1,5000,,RETRY 1000 1 1 RETRYABLE",
    "RETRYABLE,2,1,0,why,RETRY 4000 3 1 why",
    "RETRYABLE,2,1,0,'',RETRY 4000 3 1 RETRYABLE",
    "RETRYABLE,3,1,0,,DEAD_LETTER -1 3 1 RETRYABLE",
    "THROTTLED,0,0,5000,,RETRY 5000 1 0 THROTTLED",
    "THROTTLED,0,0,0,,RETRY 1000 1 0 THROTTLED",
    "THROTTLED,3,0,5000,,DEAD_LETTER -1 3 0 THROTTLED",
    "OUT_OF_ORDER,2,1,5000,,HOLD 2000 2 2 OUT_OF_ORDER",
    "OUT_OF_ORDER,0,2,0,,DEAD_LETTER -1 0 2 OUT_OF_ORDER",
    "IN_PROGRESS,9,9,1234,why,DEFER 1234 9 9 null",
    "FENCED,1,2,9223372036854775807,,DEFER 604800000 1 2 null",
    "NON_RETRYABLE,1,2,0,,DEAD_LETTER -1 1 2 NON_RETRYABLE",
    "KEY_REUSED,1,2,0,,DEAD_LETTER -1 1 2 KEY_REUSED",
    "CONFLICT,1,2,0,,DEAD_LETTER -1 1 2 CONFLICT",
    "MALFORMED,1,2,0,,DEAD_LETTER -1 1 2 MALFORMED",
    "CRASH_LOOP,1,2,0,,DEAD_LETTER -1 1 2 CRASH_LOOP",
    "TOO_OLD,1,2,0,why,DEAD_LETTER -1 1 2 why"
  })
  void of_anOutcome_isByTheTable(
      Outcome outcome, int retries, int holds, long waitMs, String reason, String want) {
    assertEquals(want, text(Decision.of(outcome, "k", retries, holds, POLICY, waitMs, reason)));
  }

  @ParameterizedTest
  @EnumSource(Outcome.class)
  void of_faultyArguments_isRefusedForEveryOutcome(Outcome outcome) {
    assertFault(ErrorCode.KEY_EMPTY, () -> Decision.of(outcome, "", 0, 0, POLICY));
    assertFault(ErrorCode.POLICY_RANGE, () -> Decision.of(outcome, "", -1, 0, POLICY));
    assertFault(ErrorCode.POLICY_RANGE, () -> Decision.of(outcome, "", 0, -1, POLICY));
  }

  @Test
  void of_holdAndDefer_jitterByTheirOwnCount() {
    Policy policy = Policy.values().maxHold(9).backoffJitterMs(3_600_000).toPolicy();
    Backoff held = Backoff.of("k", 4, policy, 0);
    assertEquals(held.delayMs(), Decision.of(Outcome.OUT_OF_ORDER, "k", 1, 4, policy).delayMs());
    long jitter = Backoff.of("k", 1, policy, 0).jitterMs();
    assertEquals(70 + jitter, Decision.of(Outcome.FENCED, "k", 1, 4, policy, 70, null).delayMs());
  }
}
