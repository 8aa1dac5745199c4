package io.github.idemspec.store.postgres;

import io.github.idemspec.store.HeadersText;
import io.github.idemspec.v1.Header;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** What is read from rows alike, whatever their table. */
final class Rows {
  private Rows() {}

  /** Somebody else's headers hide no message: without them it is MALFORMED, and a dead letter. */
  static List<Header> headers(ResultSet rows) throws SQLException {
    try {
      return HeadersText.parse(rows.getString("headers"));
    } catch (IllegalArgumentException e) {
      return List.of();
    }
  }

  /** On the first row. */
  static ResultSet first(ResultSet rows) throws SQLException {
    rows.next();
    return rows;
  }
}
