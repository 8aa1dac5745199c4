package io.github.idemspec.testing;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;

/**
 * The servers of DATABASE_URL, REDIS_URL and KAFKA_BROKERS. A test whose server is not there is
 * skipped; where IDEM_TEST_REAL=1 it fails, so that nobody believes a run without servers to be one
 * with them.
 */
public final class Servers {
  private Servers() {}

  /** The value of a variable. */
  public static String need(String variable) {
    String value = System.getenv(variable);
    if (value != null && !value.isEmpty()) {
      return value;
    }
    return missing(variable + " is not set: eval \"$(scripts/services env)\"");
  }

  /** Skips, or fails where all of it has to be there. */
  public static String missing(String what) {
    return "1".equals(System.getenv("IDEM_TEST_REAL")) ? fail(what) : abort(what);
  }

  /** Something that no other test has. */
  public static String unique() {
    return UUID.randomUUID().toString().replace("-", "").substring(0, 16);
  }

  /** The root of the repository. */
  public static Path root() {
    Path dir = Path.of("").toAbsolutePath();
    while (!Files.exists(dir.resolve("go.mod"))) {
      dir = dir.getParent();
    }
    return dir;
  }

  /** A fresh database with the tables, which is dropped with it. */
  public static final class Database implements AutoCloseable {
    private final String server = need("DATABASE_URL");
    private final String name = "idem_java_" + unique();

    /** One of its own. */
    public Database() {
      run(jdbc(server), "create database " + name);
      try {
        Path tables = root().resolve("spec/sql/postgres/001_tables.up.sql");
        run(jdbcUrl(), Files.readString(tables));
        run(jdbcUrl(), "insert into idem_schema (version, name) values (1, 'tables')");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Its address, as JDBC has it. */
    public String jdbcUrl() {
      return jdbc(url());
    }

    /** Its address, as libpq has it. */
    public String url() {
      URI u = URI.create(server);
      String query = u.getRawQuery() == null ? "" : "?" + u.getRawQuery();
      return "postgres://" + u.getRawAuthority() + "/" + name + query;
    }

    /** A pool of connections, which it is the caller's to close. */
    public HikariDataSource pool(boolean autoCommit) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(jdbcUrl());
      config.setAutoCommit(autoCommit);
      config.setMaximumPoolSize(24);
      config.setMinimumIdle(1);
      config.setConnectionTimeout(60_000);
      return new HikariDataSource(config);
    }

    /** Runs statements. */
    public void run(String sql) {
      run(jdbcUrl(), sql);
    }

    /** The first column of the first row, or null. */
    public String ask(String sql) {
      try (Connection c = DriverManager.getConnection(jdbcUrl());
          var rows = c.createStatement().executeQuery(sql)) {
        return rows.next() ? rows.getString(1) : null;
      } catch (SQLException e) {
        throw new IllegalStateException(sql, e);
      }
    }

    @Override
    public void close() {
      run(jdbc(server), "drop database if exists " + name + " with (force)");
    }

    private static void run(String url, String sql) {
      try (Connection c = DriverManager.getConnection(url);
          var statement = c.createStatement()) {
        statement.execute(sql);
      } catch (SQLException e) {
        throw new IllegalStateException(sql, e);
      }
    }

    private static String jdbc(String url) {
      URI u = URI.create(url);
      String[] user = u.getRawUserInfo() == null ? new String[0] : u.getRawUserInfo().split(":", 2);
      StringBuilder jdbc = new StringBuilder("jdbc:postgresql://");
      jdbc.append(u.getHost()).append(u.getPort() < 0 ? "" : ":" + u.getPort());
      jdbc.append(u.getRawPath()).append('?');
      jdbc.append(u.getRawQuery() == null ? "" : u.getRawQuery());
      jdbc.append(user.length > 0 ? "&user=" + user[0] : "");
      jdbc.append(user.length > 1 ? "&password=" + user[1] : "");
      return jdbc.toString();
    }
  }
}
