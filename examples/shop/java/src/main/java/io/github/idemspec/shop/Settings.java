package io.github.idemspec.shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * What the orders service gets from its environment.
 *
 * @param brokers KAFKA_BROKERS, host:port,host:port
 * @param database ORDERS_DATABASE_URL, postgres://user:password@host:port/name
 * @param address ORDERS_ADDRESS, host:port; port 0 is any that is free
 * @param instance SHOP_INSTANCE, a name for logs
 * @param session SHOP_SESSION_SECONDS, how long a member of the group may be silent, or null
 * @param handlerTimeout SHOP_HANDLER_SECONDS, how long a handler may take, or null
 */
record Settings(
    String brokers,
    URI database,
    InetSocketAddress address,
    String instance,
    Duration session,
    Duration handlerTimeout) {
  /** Handlers that run at a time. */
  static final int WORKERS = 8;

  /** Requests that run at a time. */
  static final int REQUESTS = 8;

  /** Each handler and each request has a connection, and so have claims, settlements and tables. */
  private static final int CONNECTIONS = WORKERS + REQUESTS + 8;

  static Settings of(Map<String, String> environment) {
    String address = environment.getOrDefault("ORDERS_ADDRESS", "127.0.0.1:0");
    int colon = address.lastIndexOf(':');
    if (colon < 0 || !address.substring(colon + 1).matches("\\d{1,5}")) {
      throw new IllegalArgumentException(
          "ORDERS_ADDRESS is \"" + address + "\": give host:port, such as 127.0.0.1:8080");
    }
    int port = Integer.parseInt(address.substring(colon + 1));
    return new Settings(
        needed(environment, "KAFKA_BROKERS", "127.0.0.1:9092"),
        URI.create(
            needed(environment, "ORDERS_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/shop_orders")),
        new InetSocketAddress(address.substring(0, colon), port),
        environment.getOrDefault("SHOP_INSTANCE", "orders"),
        seconds(environment, "SHOP_SESSION_SECONDS"),
        seconds(environment, "SHOP_HANDLER_SECONDS"));
  }

  private static Duration seconds(Map<String, String> environment, String name) {
    String value = environment.getOrDefault(name, "");
    if (value.isEmpty()) {
      return null;
    }
    if (!value.matches("[1-9]\\d{0,3}")) {
      throw new IllegalArgumentException(name + " is \"" + value + "\": give whole seconds");
    }
    return Duration.ofSeconds(Long.parseLong(value));
  }

  private static String needed(Map<String, String> environment, String name, String example) {
    String value = environment.get(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException(name + " is not set: give it, such as " + example);
    }
    return value;
  }

  /** For every client of Kafka's. */
  Map<String, Object> kafka() {
    if (session == null) {
      return Map.of("bootstrap.servers", brokers, "client.id", instance);
    }
    int silent = Math.toIntExact(session.toMillis());
    return Map.of(
        "bootstrap.servers", brokers, "client.id", instance, "session.timeout.ms", silent);
  }

  HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    String query = database.getQuery() == null ? "" : "?" + database.getQuery();
    int port = database.getPort() < 0 ? 5432 : database.getPort();
    config.setJdbcUrl(
        "jdbc:postgresql://" + database.getHost() + ":" + port + database.getPath() + query);
    String[] user = (database.getUserInfo() == null ? "" : database.getUserInfo()).split(":", 2);
    config.setUsername(user[0].isEmpty() ? null : user[0]);
    config.setPassword(user.length > 1 ? user[1] : null);
    config.setMaximumPoolSize(CONNECTIONS);
    config.setPoolName(instance);
    config.setInitializationFailTimeout(-1); // The consumer waits for its database, and says so.
    return new HikariDataSource(config);
  }
}
