package io.github.idemspec.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.idemspec.v1.Header;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void parse_whatWasWritten_isTheSame() {
    List<Header> headers =
        List.of(
            new Header("note", null),
            new Header("blob", new byte[] {-1, 0}),
            Header.ofInteger("n", "-7"),
            Header.of("q\"\\\n", "é😀\u0001"));
    List<Header> read = HeadersText.parse(HeadersText.of(headers));
    assertEquals(headers.size(), read.size());
    for (int i = 0; i < read.size(); i++) {
      assertEquals(headers.get(i).name(), read.get(i).name());
      assertArrayEquals(headers.get(i).value(), read.get(i).value());
      assertEquals(headers.get(i).isInteger(), read.get(i).isInteger());
    }
    assertEquals(
        "a/é: \n😀",
        HeadersText.parse(" [ [ \"a\\/\\u00e9\" , \"\\n\\ud83d\\ude00\" ] ]\n").get(0).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "[", "[[]]", "[[null,\"a\"]]", "[[\"a\"]]", "[[\"a\",1]]", "[[\"a\",\"b]]", "[]x",
        "[[\"a\",{\"hex\":\"00\"}]]", "[[\"a\",{\"base64\":\"?\"}]]", "[[\"a\",\"\\x\"]]"
      })
  void parse_anythingElse_isRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> HeadersText.parse(text));
  }
}
