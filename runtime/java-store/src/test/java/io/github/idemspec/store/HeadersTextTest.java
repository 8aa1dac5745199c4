package io.github.idemspec.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.idemspec.v1.Header;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeadersTextTest {
  @Test
  void of_eachKindOfValue_isAsTheSpecSays() {
    List<Header> headers =
        List.of(
            Header.of("event_type", "payments.failed"),
            new Header("note", null),
            new Header("blob", new byte[] {-1, 0}),
            new Header("zero", new byte[] {'a', 0}),
            Header.ofInteger("n", "-7"),
            Header.of("q\"\\\n", "é😀\u0001"),
            Header.of("", ""));
    assertEquals(
        "[[\"event_type\",\"payments.failed\"],[\"note\",null],[\"blob\",{\"base64\":\"/wA=\"}],"
            + "[\"zero\",{\"base64\":\"YQA=\"}],[\"n\",{\"integer\":\"-7\"}],"
            + "[\"q\\\"\\\\\\u000a\",\"é😀\\u0001\"],[\"\",\"\"]]",
        HeadersText.of(headers));
    assertEquals("[]", HeadersText.of(List.of()));
  }
}
