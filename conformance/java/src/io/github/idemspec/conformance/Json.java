package io.github.idemspec.conformance;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON of one line (RFC 8259), read strictly: an object is an {@link Obj}, a list a {@link List},
 * text a {@link String}, a number a {@link Num}, a boolean a {@link Boolean}, null is null.
 */
final class Json {
  private static final int MAX_DEPTH = 500;

  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  /** An object; remembers that a name came twice, which a shape may not. */
  static final class Obj extends LinkedHashMap<String, Object> {
    private static final long serialVersionUID = 1L;
    boolean ambiguous;
  }

  /** A number, as it was written. */
  static final class Num {
    final String text;

    Num(String text) {
      this.text = text;
    }
  }

  /** What is no JSON, or not of the protocol. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedException(String message) {
      super(message);
    }
  }

  static Obj parseObject(byte[] line, int start, int length) throws MalformedException {
    Json json = new Json(decode(line, start, length));
    json.skipBlanks();
    Object value = json.value();
    json.skipBlanks();
    if (json.at < json.text.length()) {
      throw json.malformed("more text after the value");
    }
    if (!(value instanceof Obj)) {
      throw json.malformed("not an object");
    }
    return (Obj) value;
  }

  private static String decode(byte[] line, int start, int length) throws MalformedException {
    for (int i = start; i < start + length; i++) {
      if (line[i] < 0) {
        try {
          ByteBuffer bytes = ByteBuffer.wrap(line, start, length);
          return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException e) {
          throw new MalformedException("ill-formed UTF-8");
        }
      }
    }
    return new String(line, start, length, StandardCharsets.ISO_8859_1);
  }

  private MalformedException malformed(String what) {
    return new MalformedException(what + ", at character " + at);
  }

  private char peek() {
    // A NUL is no part of JSON outside of strings, and no control character is one in them.
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void skipBlanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') {
      at++;
    }
  }

  private void expect(char c) throws MalformedException {
    if (peek() != c || at == text.length()) {
      throw malformed("no '" + c + "'");
    }
    at++;
  }

  private Object value() throws MalformedException {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return list();
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Object word(String word, Object value) throws MalformedException {
    if (!text.startsWith(word, at)) {
      throw malformed("no value");
    }
    at += word.length();
    return value;
  }

  private void enter() throws MalformedException {
    at++;
    if (++depth > MAX_DEPTH) {
      throw malformed("too deep");
    }
    skipBlanks();
  }

  /** Whether another element follows; past the closing bracket where none does. */
  private boolean next(char close) throws MalformedException {
    skipBlanks();
    if (peek() == close) {
      at++;
      depth--;
      return false;
    }
    expect(',');
    skipBlanks();
    return true;
  }

  private Obj object() throws MalformedException {
    Obj object = new Obj();
    enter();
    if (peek() == '}') {
      at++;
      depth--;
      return object;
    }
    do {
      if (peek() != '"') {
        throw malformed("no name");
      }
      String name = string();
      skipBlanks();
      expect(':');
      skipBlanks();
      object.ambiguous |= object.containsKey(name);
      object.put(name, value());
    } while (next('}'));
    return object;
  }

  private List<Object> list() throws MalformedException {
    List<Object> list = new ArrayList<>();
    enter();
    if (peek() == ']') {
      at++;
      depth--;
      return list;
    }
    do {
      list.add(value());
    } while (next(']'));
    return list;
  }

  private String string() throws MalformedException {
    int start = ++at;
    StringBuilder unescaped = null;
    while (true) {
      char c = peek();
      if (c < 0x20) {
        throw malformed("a control character or the end in a string");
      }
      if (c == '"') {
        String last = text.substring(start, at++);
        return unescaped == null ? last : unescaped.append(last).toString();
      }
      if (c == '\\') {
        if (unescaped == null) {
          unescaped = new StringBuilder();
        }
        unescaped.append(text, start, at++);
        unescaped.append(escape());
        start = at;
      } else {
        at++;
      }
    }
  }

  private char escape() throws MalformedException {
    char c = peek();
    at++;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        return c;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        int unit = 0;
        for (int i = 0; i < 4; i++) {
          int digit = hexDigit(peek());
          if (digit < 0) {
            throw malformed("not four hex digits");
          }
          unit = unit << 4 | digit;
          at++;
        }
        return (char) unit;
      default:
        throw malformed("no such escape");
    }
  }

  private static int hexDigit(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    char lower = (char) (c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }

  private Num number() throws MalformedException {
    int start = at;
    if (peek() == '-') {
      at++;
    }
    if (peek() == '0') {
      at++;
    } else {
      digits();
    }
    if (peek() == '.') {
      at++;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      at++;
      if (peek() == '+' || peek() == '-') {
        at++;
      }
      digits();
    }
    return new Num(text.substring(start, at));
  }

  private void digits() throws MalformedException {
    int start = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    if (at == start) {
      throw malformed("no value");
    }
  }

  /** Appends a value of the kinds above, and maps and lists of them. */
  static void write(StringBuilder out, Object value) {
    if (value instanceof String) {
      writeString(out, (String) value);
    } else if (value instanceof Num) {
      out.append(((Num) value).text);
    } else if (value instanceof Map) {
      char before = '{';
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
        writeString(out.append(before), (String) entry.getKey());
        write(out.append(':'), entry.getValue());
        before = ',';
      }
      out.append(before == '{' ? "{}" : "}");
    } else if (value instanceof List) {
      char before = '[';
      for (Object element : (List<?>) value) {
        write(out.append(before), element);
        before = ',';
      }
      out.append(before == '[' ? "[]" : "]");
    } else {
      out.append(value);
    }
  }

  private static void writeString(StringBuilder out, String value) {
    out.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c)) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          out.append(Character.forDigit(c >> shift & 15, 16));
        }
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
