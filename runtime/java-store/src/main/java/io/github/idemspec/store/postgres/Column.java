package io.github.idemspec.store.postgres;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;

/**
 * A parameter that is an array: the type of its elements, and they.
 *
 * @param type the name that PostgreSQL has for the type
 * @param values the elements
 */
record Column(String type, Object[] values) {
  /** The most bytes of a text that an index holds. */
  private static final int MAX_TEXT = 1024;

  static <T> Column texts(List<T> of, Function<T, String> value) {
    return new Column("text", of.stream().map(value).toArray(String[]::new));
  }

  static <T> Column ints(List<T> of, Function<T, Integer> value) {
    return new Column("int4", of.stream().map(value).toArray(Integer[]::new));
  }

  static <T> Column longs(List<T> of, Function<T, Long> value) {
    return new Column("int8", of.stream().map(value).toArray(Long[]::new));
  }

  static <T> Column shorts(List<T> of, Function<T, Short> value) {
    return new Column("int2", of.stream().map(value).toArray(Short[]::new));
  }

  static <T> Column bytes(List<T> of, Function<T, byte[]> value) {
    return new Column("bytea", of.stream().map(value).toArray(byte[][]::new));
  }

  /** Times as ISO 8601, to the microsecond. */
  static <T> Column times(List<T> of, Function<T, String> value) {
    return new Column("timestamptz", of.stream().map(value).toArray(String[]::new));
  }

  /**
   * What a column of text can hold of a value: UTF-8 without a zero, and no longer than an index
   * takes. Headers that are valid are no longer; those of a message that is MALFORMED may be, and its
   * dead letter has to be written all the same.
   */
  static String text(String value) {
    if (value == null) {
      return "";
    }
    boolean plain = value.length() <= MAX_TEXT / 3;
    for (int i = 0; plain && i < value.length(); i++) {
      char c = value.charAt(i);
      plain = c != 0 && !Character.isSurrogate(c);
    }
    return plain ? value : fitting(value);
  }

  private static String fitting(String value) {
    StringBuilder text = new StringBuilder();
    int bytes = 0;
    for (int i = 0; i < value.length(); ) {
      int c = value.codePointAt(i);
      i += Character.charCount(c);
      if (c == 0 || c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        c = 0xFFFD;
      }
      String next = Character.toString(c);
      bytes += next.getBytes(StandardCharsets.UTF_8).length;
      if (bytes > MAX_TEXT) {
        break;
      }
      text.append(next);
    }
    return text.toString();
  }
}
