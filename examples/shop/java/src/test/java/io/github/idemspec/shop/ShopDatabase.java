package io.github.idemspec.shop;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A database of a test's own on the server of DATABASE_URL, with the tables of idem and of orders. Without
 * a server the test is skipped; where IDEM_TEST_REAL=1 it fails.
 */
final class ShopDatabase implements AutoCloseable {
  final HikariDataSource pool;
  private final HikariDataSource server;
  private final String name = "shop_java_" + UUID.randomUUID().toString().replace("-", "");

  ShopDatabase() throws Exception {
    String url = System.getenv("DATABASE_URL");
    if (url == null || url.isEmpty()) {
      String missing = "no DATABASE_URL: scripts/services start && eval \"$(scripts/services env)\"";
      url = "1".equals(System.getenv("IDEM_TEST_REAL")) ? fail(missing) : abort(missing);
    }
    server = open(url);
    run(server, "create database " + name);
    pool = open(URI.create(url).resolve("/" + name).toString());
    for (Path tables : migrations()) {
      run(pool, Files.readString(tables));
    }
    Orders.makeTables(pool);
  }

  /** The pool that the service makes of its settings. */
  private static HikariDataSource open(String url) {
    return Settings.of(Map.of("KAFKA_BROKERS", "none", "ORDERS_DATABASE_URL", url)).pool();
  }

  private static List<Path> migrations() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("spec/sql"))) {
      root = root.getParent();
    }
    try (Stream<Path> files = Files.list(root.resolve("spec/sql/postgres"))) {
      return files.filter(file -> file.toString().endsWith(".up.sql")).sorted().toList();
    }
  }

  private static void run(HikariDataSource on, String sql) throws SQLException {
    try (Connection connection = on.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long count(String table) throws SQLException {
    try (Connection connection = pool.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery("select count(*) from " + table)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  void empty(String... tables) throws SQLException {
    run(pool, "truncate " + String.join(", ", tables));
  }

  @Override
  public void close() throws SQLException {
    pool.close();
    run(server, "drop database " + name + " with (force)");
    server.close();
  }
}
