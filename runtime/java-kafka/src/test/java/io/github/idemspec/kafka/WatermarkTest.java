package io.github.idemspec.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class WatermarkTest {
  private final Watermark mark = new Watermark();

  @Test
  void offset_isBehindTheContiguousRunInTheOrderFetched() {
    Watermark.Mark a = mark.add(5);
    Watermark.Mark b = mark.add(9); // Compaction leaves gaps.
    Watermark.Mark c = mark.add(10);
    assertEquals(Watermark.NONE, mark.offset());
    mark.done(b);
    assertEquals(Watermark.NONE, mark.offset());
    mark.done(a);
    assertEquals(10, mark.offset());
    assertEquals(1, mark.span());
    mark.done(c);
    assertEquals(11, mark.offset());
  }

  @Test
  void add_whatWasFetchedBefore_isNotDeliveredAgain() {
    assertNotNull(mark.add(5));
    assertNull(mark.add(5));
    assertNull(mark.add(4));
  }

  @Test
  void done_afterTheEnd_movesNothing() {
    Watermark.Mark a = mark.add(5);
    mark.close();
    mark.done(a);
    assertEquals(Watermark.NONE, mark.offset());
    assertNull(mark.add(6));
  }
}
