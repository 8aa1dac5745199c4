package io.github.idemspec.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What scripts take and give: bytes, which are texts, of which some are numbers. */
final class Texts {
  private Texts() {}

  static List<byte[]> arguments(Object... values) {
    List<byte[]> arguments = new ArrayList<>();
    for (Object value : values) {
      arguments.add(value instanceof byte[] b ? b : bytes(String.valueOf(value)));
    }
    return arguments;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(Object bytes) {
    return bytes == null ? "" : new String((byte[]) bytes, StandardCharsets.UTF_8);
  }

  static long number(Object bytes) {
    String text = text(bytes);
    return text.isEmpty() ? 0 : Long.parseLong(text);
  }
}
