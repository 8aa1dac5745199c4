// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The unit of an integer that counts from 1970-01-01T00:00:00Z (TXT-023). */
public enum EpochUnit {
  /** {@code s}. */
  SECONDS(1),
  /** {@code ms}, thousandths of a second. */
  MILLIS(1_000),
  /** {@code us}, millionths of a second. */
  MICROS(1_000_000),
  /** {@code ns}, thousand-millionths of a second. */
  NANOS(1_000_000_000);

  final int perSecond;

  EpochUnit(int perSecond) {
    this.perSecond = perSecond;
  }
}
