package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.math.BigInteger;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Policies and the delays they come to. */
class PolicyTest {
  @Test
  void default_isThatOfTheTable() {
    String want =
        "max_retry=5 max_hold=20 backoff_base=1s backoff_jitter=1000ms backoff_max=300s"
            + " backoff_schedule=[]";
    assertEquals(want, Policy.DEFAULT.toString());
    assertEquals(want, Policy.resolve(null, null, null).toString());
  }

  @Test
  void values_outOfBounds_areRefusedWhenStated() {
    assertBounds(0, 100, Policy.Values::maxRetry);
    assertBounds(0, 100, Policy.Values::maxHold);
    assertBounds(1, 86_400, Policy.Values::backoffBaseSeconds);
    assertBounds(0, 3_600_000, Policy.Values::backoffJitterMs);
    assertBounds(1, 604_800, Policy.Values::backoffMaxSeconds);
    assertBounds(0, 604_800_000, (values, ms) -> values.backoffScheduleMs(ms));
    Policy.values().backoffScheduleMs(new long[32]);
    assertFault(ErrorCode.POLICY_RANGE, () -> Policy.values().backoffScheduleMs(new long[33]));
  }

  private static void assertBounds(
      long least, long most, BiFunction<Policy.Values, Long, Policy.Values> set) {
    set.apply(Policy.values(), least);
    set.apply(Policy.values(), most);
    for (long value : new long[] {least - 1, most + 1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32}) {
      assertFault(ErrorCode.POLICY_RANGE, () -> set.apply(Policy.values(), value));
    }
  }

  @Test
  void resolve_takesHeaderThenSchemaThenDefault() {
    Policy.Values header = Policy.values().maxRetry(0).backoffJitterMs(0);
    Policy.Values schema = Policy.values().maxRetry(7).maxHold(8).backoffMaxSeconds(9);
    Policy policy = Policy.resolve(header, schema, null);
    assertEquals(0, policy.maxRetry());
    assertEquals(8, policy.maxHold());
    assertEquals(1, policy.backoffBaseSeconds());
    assertEquals(0, policy.backoffJitterMs());
    assertEquals(9, policy.backoffMaxSeconds());
  }

  @Test
  void resolve_ofSchedules_obeysExponentialHeaders() {
    Policy.Values schema = Policy.values().backoffScheduleMs(10, 20);
    Policy.Values other = Policy.values().backoffScheduleMs(30);
    assertArrayEquals(new int[] {30}, Policy.resolve(other, schema, null).backoffScheduleMs());
    Policy.Values none = Policy.values().maxRetry(1).backoffJitterMs(1);
    assertArrayEquals(new int[] {10, 20}, Policy.resolve(none, schema, null).backoffScheduleMs());
    Policy.Values base = Policy.values().backoffBaseSeconds(1);
    assertFalse(Policy.resolve(base, schema, null).hasBackoffSchedule());
    Policy.Values max = Policy.values().backoffMaxSeconds(1).backoffScheduleMs();
    assertFalse(Policy.resolve(max, schema, null).hasBackoffSchedule());
    Policy.Values both = Policy.values().backoffMaxSeconds(1).backoffScheduleMs(5);
    assertArrayEquals(new int[] {5}, Policy.resolve(both, schema, null).backoffScheduleMs());
  }

  @Test
  void resolve_withLimits_clampsEachValue() {
    Policy.Values header =
        Policy.values().maxRetry(100).backoffScheduleMs(1, 604_800_000).backoffJitterMs(3_600_000);
    Policy.Values limit = Policy.values().maxRetry(3).backoffMaxSeconds(2).backoffJitterMs(4);
    Policy policy = Policy.resolve(header, null, limit);
    assertEquals(3, policy.maxRetry());
    assertEquals(20, policy.maxHold());
    assertEquals(2, policy.backoffMaxSeconds());
    assertEquals(4, policy.backoffJitterMs());
    assertArrayEquals(new int[] {1, 2_000}, policy.backoffScheduleMs());
  }

  @Test
  void toValues_asTheSchemas_changesNothing() {
    Policy policy = Policy.values().maxHold(1).backoffScheduleMs(4, 5).toPolicy();
    assertEquals(policy.toString(), Policy.resolve(null, policy.toValues(), null).toString());
  }

  @Test
  void backoff_ofTheSpecsExample_is2017() {
    Policy policy = Policy.values().backoffMaxSeconds(60).backoffJitterMs(20).toPolicy();
    Backoff backoff = Backoff.of("order-8317", 1, policy, 0);
    assertEquals(2_000, backoff.baseMs());
    assertEquals(17, backoff.jitterMs());
    assertEquals(2_017, backoff.delayMs());
  }

  @Test
  void backoff_ofAnyCount_neverOverflows() {
    Random random = new Random(8);
    for (int i = 0; i < 50_000; i++) {
      int base = 1 + random.nextInt(86_400);
      int max = 1 + random.nextInt(604_800);
      int n = random.nextInt(4) == 0 ? random.nextInt(Integer.MAX_VALUE) : random.nextInt(80);
      int jitter = random.nextInt(3_600_001);
      Policy policy =
          Policy.values()
              .backoffBaseSeconds(base)
              .backoffMaxSeconds(max)
              .backoffJitterMs(jitter)
              .toPolicy();
      Backoff backoff = Backoff.of("k" + i, n, policy, 0);
      BigInteger exponential = BigInteger.valueOf(base * 1000L).shiftLeft(Math.min(n, 100));
      BigInteger want = exponential.min(BigInteger.valueOf(max * 1000L));
      assertEquals(want.longValueExact(), backoff.baseMs());
      long hash = Routing.hash("k" + i + "#" + n);
      assertEquals(Long.remainderUnsigned(hash, jitter + 1L), backoff.jitterMs());
    }
  }

  @Test
  void backoff_withASchedule_repeatsTheLast() {
    Policy policy = Policy.values().backoffScheduleMs(10, 30_000, 5).backoffJitterMs(0).toPolicy();
    int[] counts = {0, 1, 2, 3, Integer.MAX_VALUE};
    long[] want = {10, 30_000, 5, 5, 5};
    for (int i = 0; i < counts.length; i++) {
      assertEquals(want[i], Backoff.of("k", counts[i], policy, 0).delayMs());
    }
  }

  @Test
  void backoff_withRetryAfter_isTheLargerUpToSevenDays() {
    Policy policy = Policy.values().backoffJitterMs(0).toPolicy();
    assertEquals(1_000, Backoff.of("k", 0, policy, 999).delayMs());
    assertEquals(1_001, Backoff.of("k", 0, policy, 1_001).delayMs());
    assertEquals(400_000, Backoff.of("k", 0, policy, 400_000).delayMs());
    assertEquals(604_800_000, Backoff.of("k", 0, policy, Long.MAX_VALUE).delayMs());
    assertEquals(1_000, Backoff.of("k", 0, policy, -5).delayMs());
  }

  @Test
  void backoff_ofFaultyArguments_isRefused() {
    assertFault(ErrorCode.POLICY_RANGE, () -> Backoff.of("", -1, Policy.DEFAULT, 0));
    assertFault(ErrorCode.KEY_EMPTY, () -> Backoff.of("", 0, Policy.DEFAULT, 0));
    assertFault(ErrorCode.STRING_UTF8, () -> Backoff.of("\udc00", 0, Policy.DEFAULT, 0));
  }
}
