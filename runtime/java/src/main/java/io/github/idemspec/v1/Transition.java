// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** An edge of a state machine: the texts of the state before and the state after. */
public final class Transition {
  private final String from;
  private final String to;

  /**
   * An edge.
   *
   * @param from the state before; empty for a creation (STATE-002)
   * @param to the state after
   */
  public Transition(String from, String to) {
    this.from = from;
    this.to = to;
  }

  /** The state before; empty for a creation. */
  public String from() {
    return from;
  }

  /** The state after. */
  public String to() {
    return to;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Transition
        && from.equals(((Transition) other).from)
        && to.equals(((Transition) other).to);
  }

  @Override
  public int hashCode() {
    return 31 * from.hashCode() + to.hashCode();
  }

  @Override
  public String toString() {
    return from + " -> " + to;
  }
}
