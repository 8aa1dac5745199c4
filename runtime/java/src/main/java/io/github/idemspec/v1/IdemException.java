// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * A fault of a value, a key, a header or a policy (GEN-006). It knows its {@link #code}, and where
 * there is one, the {@link #field}, the {@link #offset} and the {@link #value}.
 *
 * <p>The same input fails again in the same way, so a handler that lets one escape is
 * NON_RETRYABLE.
 */
public final class IdemException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Most bytes of the value that an error carries. */
  private static final int MAX_VALUE_BYTES = 64;

  private final ErrorCode code;
  private final String field;
  private final int offset;
  private final String value;

  /**
   * An error that is about a value.
   *
   * @param code what is wrong
   * @param field the path of the field ({@code customer.id}) or the name of the header, or null
   * @param offset where in the text, in bytes from 0, or -1 where no place is at fault
   * @param value the text, of which 64 bytes are kept, or null
   */
  public IdemException(ErrorCode code, String field, int offset, String value) {
    super(message(code, field, offset, value));
    this.code = code;
    this.field = field;
    this.offset = offset;
    this.value = value == null ? null : Utf8.cut(value, MAX_VALUE_BYTES);
  }

  /** What is wrong. */
  public ErrorCode code() {
    return code;
  }

  /**
   * The path of the field, {@code customer.id}, or the name of the header; null where none is
   * known.
   */
  public String field() {
    return field;
  }

  /** Where in the text the fault is, in bytes from 0; -1 where no place is at fault. */
  public int offset() {
    return offset;
  }

  /**
   * The value, cut to 64 bytes on a character's edge; null where it is redacted or there is none.
   */
  public String value() {
    return value;
  }

  /** The same error, seen from the message that {@code parent} is a field of. */
  public IdemException in(String parent) {
    String path = field == null ? parent : parent + '.' + field;
    return copy(path, value);
  }

  /** The same error without the value, for a field that is marked {@code debug_redact}. */
  public IdemException redacted() {
    return copy(field, null);
  }

  private IdemException copy(String newField, String newValue) {
    IdemException copy = new IdemException(code, newField, offset, newValue);
    copy.setStackTrace(getStackTrace());
    return copy;
  }

  private static String message(ErrorCode code, String field, int offset, String value) {
    StringBuilder text = new StringBuilder(128).append(code.name()).append(": ");
    if (field != null) {
      text.append(field).append(": ");
    }
    text.append(code.meaning());
    if (offset >= 0) {
      text.append(", at byte ").append(offset);
    }
    if (value != null) {
      text.append(offset >= 0 ? " of " : ": ").append('"');
      text.append(HeaderText.withoutControls(Utf8.cut(value, MAX_VALUE_BYTES))).append('"');
    }
    return text.toString();
  }
}
