package io.github.idemspec.v1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IdemExceptionTest {
  @Test
  void message_hasCodeFieldOffsetAndValue() {
    IdemException e = new IdemException(ErrorCode.DECIMAL_SYNTAX, "amount", 1, "1,000");
    assertEquals("DECIMAL_SYNTAX: amount: not a decimal, at byte 1 of \"1,000\"", e.getMessage());
  }

  @Test
  void message_withoutAPlace_hasTheValue() {
    IdemException e = new IdemException(ErrorCode.POLICY_RANGE, null, -1, "a\nb");
    assertEquals("POLICY_RANGE: a policy value out of its bounds: \"a b\"", e.getMessage());
    assertEquals("a\nb", e.value());
  }

  @ParameterizedTest
  @CsvSource({"a,64,64", "\u00e9,32,32", "\u20ac,22,21", "\ud83d\ude00,17,16"})
  void value_isCutOnACharactersEdge(String character, int count, int kept) {
    IdemException e = new IdemException(ErrorCode.STRING_UTF8, null, -1, character.repeat(count));
    assertEquals(character.repeat(kept), e.value());
  }

  @Test
  void in_addsThePathOfTheParent() {
    IdemException e = new IdemException(ErrorCode.DATE_RANGE, "day", -1, "x");
    assertEquals("order.day", e.in("order").field());
    assertEquals(
        "order", new IdemException(ErrorCode.KEY_EMPTY, null, -1, null).in("order").field());
  }

  @Test
  void redacted_hasEverythingButTheValue() {
    IdemException e = new IdemException(ErrorCode.DATE_RANGE, "day", 3, "secret").redacted();
    assertNull(e.value());
    assertEquals("DATE_RANGE: day: a partial or impossible date, at byte 3", e.getMessage());
  }
}
