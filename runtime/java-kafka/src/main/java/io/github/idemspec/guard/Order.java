package io.github.idemspec.guard;

/** What a delivery that fails does to later ones of its lane (CONS-010). */
public enum Order {
  /** Nothing. */
  UNORDERED,
  /** Later ones wait in the window, in this process. */
  BLOCK,
  /** Later ones wait in the table. */
  PARK
}
