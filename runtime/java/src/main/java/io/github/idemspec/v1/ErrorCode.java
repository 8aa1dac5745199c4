// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The codes of faults: the one table of them, with its words (ERR-001). */
public enum ErrorCode {
  /** TXT-001: not a decimal. */
  DECIMAL_SYNTAX("not a decimal"),
  /** TXT-002, TXT-006: the exponent has more than 4 digits, or the text more than 256 bytes. */
  DECIMAL_RANGE("the exponent or the text is too long"),
  /** TXT-005: more fraction digits than {@code max_scale}; a value is never rounded. */
  DECIMAL_SCALE("more fraction digits than max_scale"),
  /** TXT-011: not three letters A to Z. */
  MONEY_CURRENCY("not a currency code"),
  /** TXT-012: nanos outside -999999999 to 999999999, or of another sign than units. */
  MONEY_RANGE("nanos out of range, or of another sign than units"),
  /** TXT-024: not a timestamp, or a date or clock that does not exist. */
  TIMESTAMP_SYNTAX("not a timestamp, or a date or clock that does not exist"),
  /** TXT-022: outside the years 0001 to 9999, or nanos outside 0 to 999999999. */
  TIMESTAMP_RANGE("outside the years 0001 to 9999, or nanos out of range"),
  /** TXT-032: seconds or nanos out of range, or of different signs. */
  DURATION_RANGE("out of range, or mixed signs"),
  /** TXT-040: a partial date, or one that does not exist. */
  DATE_RANGE("a partial or impossible date"),
  /** TXT-060: not 8-4-4-4-12 hex digits. */
  UUID_SYNTAX("not a UUID"),
  /** GEN-004: ill-formed UTF-8, or half a surrogate pair. */
  STRING_UTF8("ill-formed text"),
  /** TXT-023, TXT-051, TXT-053: outside the declared type. */
  INT_RANGE("outside the declared type"),
  /** KEY-004: a component's field is missing. */
  KEY_COMPONENT_MISSING("a component's field is missing"),
  /** KEY-011, HDR-013: more than 1024 bytes. */
  KEY_TOO_LONG("more than 1024 bytes"),
  /** KEY-013, HASH-012, RETRY-014: a key of no bytes. */
  KEY_EMPTY("a key of no bytes"),
  /** HDR-013: a key in a header is empty or has a byte outside 21 to 7E. */
  KEY_SYNTAX("a key in a header is empty or has a byte outside 21 to 7E"),
  /** HASH-012: n is not 1 to 2^31-1. */
  PARTITION_COUNT("n is not 1 to 2147483647"),
  /** HDR-012: two values of one header differ. */
  HEADER_CONFLICT("two values of one header differ"),
  /** HDR-011: a header's value is ill-formed UTF-8. */
  HEADER_UTF8("a header's value is ill-formed"),
  /** HDR-011: a header's value does not match its syntax. */
  HEADER_SYNTAX("a header's value does not match its syntax"),
  /** HDR-011: a header's value is out of its range. */
  HEADER_RANGE("a header's value is out of its range"),
  /** HDR-002: a major version of the spec that is not known here. */
  SPEC_VERSION("a major version of the spec that is not known"),
  /** RETRY-004, RETRY-014: a policy value out of its bounds. */
  POLICY_RANGE("a policy value out of its bounds"),
  /** STATE-001: the transitions form a cycle. */
  STATE_CYCLE("the transitions form a cycle"),
  /** STATE-003: a state that no transition names. */
  STATE_UNKNOWN("a state that no transition names"),
  /** STATE-003: the machine has no such transition. */
  TRANSITION_UNDECLARED("the machine has no such transition"),
  /** CONF-040: bytes that are no message of the type. */
  PAYLOAD_INVALID("bytes that are no message of the type"),
  /** CONF-021: an input of no known shape. */
  INPUT_INVALID("an input of no known shape");

  private final String meaning;

  ErrorCode(String meaning) {
    this.meaning = meaning;
  }

  /** What the code says, in a few words without a full stop. */
  public String meaning() {
    return meaning;
  }
}
