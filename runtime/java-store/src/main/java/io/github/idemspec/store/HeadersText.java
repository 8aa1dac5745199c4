package io.github.idemspec.store;

import io.github.idemspec.v1.Header;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * Headers as the text that a database keeps, a JSON array of pairs in order (CONS-031):
 *
 * <pre>{@code
 * [["event_type","payments.failed"],["note",null],["blob",{"base64":"/wA="}],["n",{"integer":"7"}]]
 * }</pre>
 *
 * Base64 stands for bytes that are not UTF-8 or have a zero, which a column of text cannot hold.
 */
public final class HeadersText {
  private HeadersText() {}

  /** The text. */
  public static String of(List<Header> headers) {
    StringBuilder text = new StringBuilder("[");
    for (Header header : headers) {
      if (text.length() > 1) {
        text.append(',');
      }
      text.append('[');
      add(text, header.name().getBytes(StandardCharsets.UTF_8));
      text.append(',');
      if (header.value() == null) {
        text.append("null");
      } else if (header.isInteger()) {
        String digits = new String(header.value(), StandardCharsets.ISO_8859_1);
        text.append("{\"integer\":\"").append(digits).append("\"}");
      } else {
        add(text, header.value());
      }
      text.append(']');
    }
    return text.append(']').toString();
  }

  private static void add(StringBuilder text, byte[] value) {
    String decoded = decode(value);
    if (decoded == null || decoded.indexOf(0) >= 0) {
      String base64 = Base64.getEncoder().encodeToString(value);
      text.append("{\"base64\":\"").append(base64).append("\"}");
      return;
    }
    text.append('"');
    for (int i = 0; i < decoded.length(); i++) {
      char c = decoded.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < 0x20) {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }

  /** The text of bytes that are UTF-8, else null. */
  private static String decode(byte[] value) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
