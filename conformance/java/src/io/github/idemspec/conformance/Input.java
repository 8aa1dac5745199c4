package io.github.idemspec.conformance;

import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.IdemException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * An object of an input, read member by member (CONF-020, CONF-021). Whatever is not of the shape
 * asked for is INPUT_INVALID; {@link #end} says that there is nothing else.
 */
final class Input {
  private final Json.Obj members;
  private int read;

  Input(Object value) {
    if (!(value instanceof Json.Obj) || ((Json.Obj) value).ambiguous) {
      throw invalid("not an object, or with a name twice");
    }
    members = (Json.Obj) value;
  }

  static IdemException invalid(String what) {
    return new IdemException(ErrorCode.INPUT_INVALID, null, -1, what);
  }

  static void check(boolean right, String what) {
    if (!right) {
      throw invalid(what);
    }
  }

  boolean has(String name) {
    return members.containsKey(name);
  }

  /** The one of these members that is there. */
  String oneOf(String... names) {
    String found = null;
    for (String name : names) {
      if (has(name)) {
        check(found == null, found + " and " + name);
        found = name;
      }
    }
    check(found != null, "none of " + Arrays.toString(names));
    return found;
  }

  /** Any value that is not a null. */
  Object any(String name) {
    Object value = anyOrNull(name);
    check(value != null, name + " is null");
    return value;
  }

  /** Any value. */
  Object anyOrNull(String name) {
    check(has(name), "no " + name);
    read++;
    return members.get(name);
  }

  void end() {
    if (read < members.size()) {
      throw invalid("a member that is not known, among " + members.keySet());
    }
  }

  String text(String name) {
    return asText(any(name), name);
  }

  String optionalText(String name) {
    return has(name) ? text(name) : null;
  }

  private static String asText(Object value, String name) {
    check(value instanceof String, name + " is no text");
    return (String) value;
  }

  boolean bool(String name) {
    Object value = any(name);
    check(value instanceof Boolean, name + " is no boolean");
    return (Boolean) value;
  }

  /** A member that is there or not, and is true where it is. */
  boolean flag(String name) {
    if (!has(name)) {
      return false;
    }
    check(bool(name), name + " is false");
    return true;
  }

  Int integer(String name) {
    return asInt(any(name), name);
  }

  private static Int asInt(Object value, String name) {
    String text = asText(value, name);
    check(Int.isCanonical(text), name + " is no canonical integer");
    return new Int(text);
  }

  /** An integer with bounds that are part of the shape. */
  long integer(String name, long least, long most) {
    return integer(name).in(least, most, ErrorCode.INPUT_INVALID);
  }

  /** A count or a time: 0 to 2^63-1. */
  long count(String name) {
    return integer(name, 0, Long.MAX_VALUE);
  }

  /** An integer that is not negative, of which more than a long counts as the most of one. */
  long wait(String name) {
    if (!has(name)) {
      return 0;
    }
    Int value = integer(name);
    check(!value.isNegative(), name + " is negative");
    return value.saturated();
  }

  List<Int> optionalIntegers(String name) {
    if (!has(name)) {
      return Collections.emptyList();
    }
    List<Int> integers = new ArrayList<>();
    for (Object value : list(name)) {
      integers.add(asInt(value, name));
    }
    return integers;
  }

  List<?> list(String name) {
    Object value = any(name);
    check(value instanceof List, name + " is no list");
    return (List<?>) value;
  }

  Input object(String name) {
    return new Input(any(name));
  }

  byte[] hex(String name) {
    return asHex(text(name), name);
  }

  private static byte[] asHex(String text, String name) {
    check(text.length() % 2 == 0, name + " is of odd length");
    byte[] bytes = new byte[text.length() / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (digit(text, 2 * i, name) << 4 | digit(text, 2 * i + 1, name));
    }
    return bytes;
  }

  private static int digit(String text, int i, String name) {
    char c = text.charAt(i);
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    check(c >= 'a' && c <= 'f', name + " is no lower-case hex");
    return c - 'a' + 10;
  }

  /** A hash: 16 hex digits. */
  long hash(String name) {
    byte[] bytes = hex(name);
    check(bytes.length == 8, name + " has not 16 digits");
    long hash = 0;
    for (byte b : bytes) {
      hash = hash << 8 | (b & 0xff);
    }
    return hash;
  }

  /** UTF-16 units of four hex digits, as the string that they are, ill-formed or not. */
  String utf16(String name) {
    StringBuilder text = new StringBuilder();
    for (Object unit : list(name)) {
      byte[] bytes = asHex(asText(unit, name), name);
      check(bytes.length == 2, name + " has a unit of not four digits");
      text.append((char) ((bytes[0] & 0xff) << 8 | (bytes[1] & 0xff)));
    }
    return text.toString();
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder(2 * bytes.length);
    for (byte b : bytes) {
      text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
    }
    return text.toString();
  }
}
