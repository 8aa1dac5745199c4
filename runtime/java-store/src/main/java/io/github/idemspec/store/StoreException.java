package io.github.idemspec.store;

import java.sql.SQLException;

/**
 * A store could not be asked, or did not answer. It begins with what was asked, {@code claim 3 keys:
 * }, and names the way out where there is a known one.
 */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** An error with its cause. */
  public StoreException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The SQLSTATE of the cause, or null. */
  public String sqlState() {
    for (Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException && ((SQLException) cause).getSQLState() != null) {
        return ((SQLException) cause).getSQLState();
      }
    }
    return null;
  }
}
