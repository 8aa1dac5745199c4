package io.github.idemspec.v1;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.idemspec.v1.DedupRecord.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionTest {
  private static final String A = "00000000-1111111111111111";
  private static final String B = "00000000-2222222222222222";

  /** A record of fence 3 by w1, in life 1 at position 2, with a lease until 1000. */
  private static DedupRecord record(State state, long attempts, byte[] result, String print) {
    return new DedupRecord(state, 3, attempts, "w1", 1, 2, 1_000, result, print);
  }

  private static String admit(DedupRecord record, Delivery delivery, long now, String owner) {
    Admission a = Admission.of(record, delivery, now, 500, 9, owner);
    switch (a.verdict()) {
      case PROCEED:
        return "PROCEED "
            + a.fence()
            + " "
            + a.attempts()
            + " "
            + a.leaseUntilMs()
            + " "
            + a.recovered();
      case IN_PROGRESS:
        return "IN_PROGRESS " + a.waitMs();
      default:
        return a.verdict().name();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PROCESSING,2,1,2,1200,w2,PROCEED 4 3 1700 true",
    "PROCESSING,2,1,2,1000,w2,PROCEED 4 3 1500 true",
    "PROCESSING,2,1,2,999,w2,IN_PROGRESS 1",
    "PROCESSING,2,1,2,999,w1,PROCEED 3 2 1000 false",
    "PROCESSING,2,1,2,1200,w1,PROCEED 4 3 1700 true",
    "PROCESSING,2,2,0,999,w2,IN_PROGRESS 1",
    "PROCESSING,2,2,0,1000,w2,PROCEED 4 1 1500 true",
    "PROCESSING,2,1,1,999,w1,STALE",
    "PROCESSING,2,0,9,999,w1,STALE",
    "PROCESSING,9,1,2,1000,w2,CRASH_LOOP",
    "PROCESSING,9,2,2,1000,w2,PROCEED 4 1 1500 true",
    "PROCESSING,9,1,2,999,w1,PROCEED 3 9 1000 false",
    "FAILED,2,1,2,0,w2,PROCEED 4 3 500 false",
    "FAILED,9,1,3,0,w2,CRASH_LOOP",
    "FAILED,10,1,3,0,w2,CRASH_LOOP",
    "FAILED,9,2,0,0,w2,PROCEED 4 1 500 false",
    "FAILED,2,1,1,0,w2,STALE",
    "DEAD,2,1,9,0,w2,STALE",
    "DEAD,2,0,9,0,w2,STALE",
    "DEAD,2,2,0,0,w2,PROCEED 4 1 500 false",
    "SUCCESS,9,0,0,0,w2,DUPLICATE"
  })
  void of_aRecord_isTheFirstStepThatFits(
      State state, long attempts, long redrive, long position, long now, String by, String want) {
    DedupRecord record = record(state, attempts, null, A);
    assertEquals(want, admit(record, new Delivery(redrive, position, null), now, by));
  }

  @Test
  void of_noRecord_isTheFirstClaim() {
    assertEquals("PROCEED 1 1 700 false", admit(null, new Delivery(3, 9, A), 200, "w"));
  }

  @Test
  void of_anotherFingerprint_isReusedWhateverTheState() {
    for (State state : State.values()) {
      DedupRecord record = record(state, 9, null, A);
      assertEquals("KEY_REUSED", admit(record, new Delivery(0, 0, B), 0, "w1"));
    }
  }

  @Test
  void of_success_hasTheStoredResult() {
    byte[] result = {1, 2};
    DedupRecord done = record(State.SUCCESS, 1, result, null);
    Delivery delivery = new Delivery(1, 2, B);
    assertArrayEquals(result, Admission.of(done, delivery, 0, 1, 1, "w").result());
    DedupRecord bare = record(State.SUCCESS, 1, null, null);
    assertArrayEquals(new byte[0], Admission.of(bare, delivery, 0, 1, 1, "w").result());
  }

  @Test
  void of_sumsBeyondALong_stayAtTheLargest() {
    Delivery delivery = new Delivery(1, 2, null);
    assertEquals(
        Long.MAX_VALUE,
        Admission.of(null, delivery, Long.MAX_VALUE, 1, 1, "w").leaseUntilMs());
    assertEquals(
        Admission.Verdict.DUPLICATE,
        Admission.of(record(State.SUCCESS, 1, null, null), delivery, Long.MAX_VALUE, 1, 1, "w")
            .verdict());
  }
}
