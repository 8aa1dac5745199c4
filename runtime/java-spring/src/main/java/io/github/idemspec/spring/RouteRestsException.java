package io.github.idemspec.spring;

/** Has the container read a record again later: its listener is not to be asked now. */
final class RouteRestsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RouteRestsException(String eventType) {
    super(
        "the listener of " + eventType + " rests after failures of different keys: its record waits",
        null,
        false,
        false);
  }
}
