package io.github.idemspec.store;

import io.github.idemspec.v1.Header;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

  /**
   * The headers of a text: any JSON of that shape, whatever its blanks and escapes.
   *
   * @throws IllegalArgumentException where it is of another one, naming the character
   */
  public static List<Header> parse(String text) {
    return new Scanner(text).headers();
  }

  /** Reads the one shape of JSON that headers have. */
  private static final class Scanner {
    private final String text;
    private int at;

    Scanner(String text) {
      this.text = text;
    }

    List<Header> headers() {
      List<Header> headers = new ArrayList<>();
      want('[');
      if (!take(']')) {
        do {
          headers.add(pair());
        } while (take(','));
        want(']');
      }
      blanks();
      if (at < text.length()) {
        throw fault("something follows the array");
      }
      return headers;
    }

    private Header pair() {
      want('[');
      Header name = value("");
      if (name.value() == null || name.isInteger()) {
        throw fault("a name is text, or base64");
      }
      want(',');
      Header header = value(new String(name.value(), StandardCharsets.UTF_8));
      want(']');
      return header;
    }

    /** Null, a string, {"base64":"..."} or {"integer":"..."}. */
    private Header value(String name) {
      blanks();
      if (text.startsWith("null", at)) {
        at += 4;
        return new Header(name, null);
      }
      if (!take('{')) {
        return new Header(name, string().getBytes(StandardCharsets.UTF_8));
      }
      String kind = string();
      want(':');
      String value = string();
      want('}');
      if (kind.equals("base64")) {
        return new Header(name, Base64.getDecoder().decode(value));
      }
      if (!kind.equals("integer") || !value.matches("-?[0-9]+")) {
        throw fault("no value is a " + kind);
      }
      return Header.ofInteger(name, value);
    }

    private String string() {
      want('"');
      StringBuilder out = new StringBuilder();
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '"') {
          return out.toString();
        }
        out.append(c == '\\' ? escaped() : c);
      }
      throw fault("a string does not end");
    }

    private char escaped() {
      char c = at < text.length() ? text.charAt(at++) : 0;
      int plain = "\"\\/bfnrt".indexOf(c);
      if (plain >= 0) {
        return "\"\\/\b\f\n\r\t".charAt(plain);
      }
      if (c != 'u' || at + 4 > text.length()) {
        throw fault("no escape");
      }
      at += 4;
      try {
        return (char) Integer.parseUnsignedInt(text.substring(at - 4, at), 16);
      } catch (NumberFormatException e) {
        throw fault("four hex digits follow \\u");
      }
    }

    private void blanks() {
      while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
    }

    private boolean take(char c) {
      blanks();
      boolean is = at < text.length() && text.charAt(at) == c;
      at += is ? 1 : 0;
      return is;
    }

    private void want(char c) {
      if (!take(c)) {
        throw fault("'" + c + "' is missing");
      }
    }

    private IllegalArgumentException fault(String what) {
      return new IllegalArgumentException("decode headers: character " + at + ": " + what);
    }
  }
}
