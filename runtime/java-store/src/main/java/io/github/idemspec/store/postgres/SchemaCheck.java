package io.github.idemspec.store.postgres;

import io.github.idemspec.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Whether the tables are those that this program works on. */
final class SchemaCheck {
  private SchemaCheck() {}

  static void run(Transactions transactions) {
    List<String> missing = new ArrayList<>();
    int version =
        transactions.run(
            "check",
            t -> {
              int[] found = {0};
              t.commit(
                  step ->
                      step.query("schema_version", rows -> found[0] = Rows.first(rows).getInt(1))
                          .query("schema_missing", rows -> names(rows, missing)));
              return found[0];
            });
    if (version != 1 && version != 2) {
      throw new StoreException(
          "check: the tables are of version "
              + version
              + ", and this program is for version 1 and 2: migrate them, or replace the program",
          null);
    }
    if (!missing.isEmpty()) {
      throw new StoreException(
          "check: the tables lack " + missing + ": `idem migrate validate` says more", null);
    }
  }

  private static void names(ResultSet rows, List<String> into) throws SQLException {
    while (rows.next()) {
      into.add(rows.getString(1));
    }
  }
}
