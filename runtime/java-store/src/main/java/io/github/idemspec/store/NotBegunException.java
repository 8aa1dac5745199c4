package io.github.idemspec.store;

/** There was no transaction to begin with: what the handler did in it was not even refused. */
public class NotBegunException extends StoreException {
  private static final long serialVersionUID = 1L;

  /** With what stood in the way. */
  public NotBegunException(StoreException cause) {
    super(cause.getMessage(), cause);
  }
}
