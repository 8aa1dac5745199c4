// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.nio.charset.StandardCharsets;

/** A header as a transport carries it: a name and the bytes of its value, or a null value. */
public final class Header {
  private final String name;
  private final byte[] value;
  private final boolean integer;

  /**
   * A header.
   *
   * @param name its name on its transport
   * @param value the bytes, which are not copied, or null
   */
  public Header(String name, byte[] value) {
    this(name, value, false);
  }

  private Header(String name, byte[] value, boolean integer) {
    this.name = name;
    this.value = value;
    this.integer = integer;
  }

  /**
   * A header whose value is text.
   *
   * @throws IdemException STRING_UTF8 where the text has half a surrogate pair
   */
  public static Header of(String name, String text) {
    return new Header(name, Utf8.encode(text), false);
  }

  /**
   * A header that came as one of AMQP's integers (HDR-041).
   *
   * @param decimal the integer in base 10, as {@code Long.toString} writes it
   */
  public static Header ofInteger(String name, String decimal) {
    return new Header(name, decimal.getBytes(StandardCharsets.ISO_8859_1), true);
  }

  /** The name on the transport. */
  public String name() {
    return name;
  }

  /** The bytes, which are not copied, or null; of an integer, its digits. */
  public byte[] value() {
    return value;
  }

  /** Whether the value came as one of AMQP's integers. */
  public boolean isInteger() {
    return integer;
  }

  @Override
  public String toString() {
    return name + ": " + (value == null ? "null" : Utf8.lenient(value));
  }
}
