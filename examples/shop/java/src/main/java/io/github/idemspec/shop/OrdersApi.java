package io.github.idemspec.shop;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.protobuf.Timestamp;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.idemspec.shop.v1.Customer;
import io.github.idemspec.shop.v1.OrderCreated;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.v1.IdemException;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The orders service on HTTP. Every request may be sent again: it is its Idempotency-Key, where it has one,
 * and else the order's id that says whether it is the same one.
 *
 * <pre>
 * POST /orders              {"order_id","customer_id","email","total","currency"}
 * GET  /orders/{id}
 * POST /orders/{id}/refund  {"reason","requested_at"}, both optional
 * </pre>
 */
final class OrdersApi implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OrdersApi.class);
  private static final int MOST_BYTES = 64 * 1024;
  private static final int DRAIN_SECONDS = 5;

  private final OrderBook orders;
  private final KeyedRequests keyed;
  private final HttpServer server;
  private final ExecutorService requests = Executors.newFixedThreadPool(Settings.REQUESTS);

  OrdersApi(PostgresStore store, InetSocketAddress address) throws IOException {
    orders = new OrderBook(store);
    keyed = new KeyedRequests(store);
    System.setProperty("sun.net.httpserver.nodelay", "true"); // Or each answer waits 40 ms for an ACK.
    server = HttpServer.create(address, 256);
    server.setExecutor(requests);
    server.createContext("/orders", this::handle);
    server.start();
  }

  String url() {
    InetSocketAddress address = server.getAddress();
    return "http://" + address.getHostString() + ":" + address.getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    Answer answer;
    try {
      answer = answer(exchange);
    } catch (Refused e) {
      answer = e.answer;
    } catch (IdemException | JsonParseException | IllegalArgumentException | DateTimeException e) {
      answer = Answer.problem(400, "Bad Request", e.getMessage());
    } catch (Exception e) { // The client may ask again: nothing was written, or all of it.
      LOG.error("{} {}", exchange.getRequestMethod(), exchange.getRequestURI(), e);
      answer = Answer.problem(503, "Service Unavailable", "nothing is written: send the request again");
    }
    byte[] body = answer.body().toString().getBytes(StandardCharsets.UTF_8);
    answer.headers().forEach(exchange.getResponseHeaders()::set);
    try (exchange) {
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private Answer answer(HttpExchange exchange) throws Exception {
    String[] path = exchange.getRequestURI().getPath().split("/");
    String route = exchange.getRequestMethod() + " " + path.length;
    if (route.equals("POST 2")) {
      return once(exchange, this::create);
    }
    if (route.equals("GET 3")) {
      return show(path[2]);
    }
    if (route.equals("POST 4") && path[3].equals("refund")) {
      return once(exchange, (connection, body) -> refund(connection, path[2], body));
    }
    String routes = "there is POST /orders, GET /orders/{id} and POST /orders/{id}/refund";
    return Answer.problem(404, "Not Found", routes);
  }

  /** What is done about a request in a transaction. */
  private interface Handler {
    Answer handle(Connection connection, JsonObject body) throws Exception;
  }

  private Answer once(HttpExchange exchange, Handler handler) throws Exception {
    byte[] body = exchange.getRequestBody().readNBytes(MOST_BYTES);
    JsonObject json = bodyOf(body);
    String path = exchange.getRequestURI().getPath();
    return keyed.answer(
        KeyedRequests.keyOf(exchange.getRequestHeaders().get("Idempotency-Key")),
        KeyedRequests.fingerprint(exchange.getRequestMethod(), path, body),
        connection -> handler.handle(connection, json));
  }

  private Answer create(Connection connection, JsonObject body) throws SQLException {
    Instant now = Instant.now();
    OrderCreated created =
        OrderCreated.newBuilder()
            .setOrderId(text(body, "order_id", ""))
            .setCustomer(
                Customer.newBuilder()
                    .setId(customerOf(body))
                    .setEmail(text(body, "email", "")))
            .setTotal(text(body, "total", ""))
            .setCurrency(text(body, "currency", ""))
            .setOccurredAt(
                Timestamp.newBuilder().setSeconds(now.getEpochSecond()).setNanos(now.getNano()))
            .build();
    String key = orders.create(connection, created);
    LOG.info("ordered: order_id={} idempotency_key={}", created.getOrderId(), key);
    return Answer.accepted(created.getOrderId(), key);
  }

  private static long customerOf(JsonObject body) {
    String id = text(body, "customer_id", null);
    if (id == null) {
      throw new IllegalArgumentException("customer_id is missing: give a number");
    }
    if (!id.matches("[0-9]{1,18}")) {
      throw new IllegalArgumentException("customer_id is \"" + id + "\": give a number");
    }
    return Long.parseLong(id);
  }

  private Answer show(String id) throws Exception {
    OrderBook.Order order = orders.find(id);
    if (order == null) {
      throw Refused.noOrder(id);
    }
    JsonObject body = new JsonObject();
    body.addProperty("order_id", order.id());
    body.addProperty("customer_id", order.customer());
    body.addProperty("total", order.total());
    body.addProperty("currency", order.currency());
    body.addProperty("status", order.status());
    return Answer.of(200, body);
  }

  private Answer refund(Connection connection, String id, JsonObject body) throws SQLException {
    String at = text(body, "requested_at", null);
    // What the database keeps is what the key is made of, whenever it is made.
    Instant asked = (at == null ? Instant.now() : Instant.parse(at)).truncatedTo(ChronoUnit.MILLIS);
    String key = orders.refund(connection, id, text(body, "reason", null), asked);
    LOG.info("refund asked: order_id={} idempotency_key={}", id, key);
    return Answer.accepted(id, key);
  }

  private static JsonObject bodyOf(byte[] bytes) {
    if (bytes.length == 0) {
      return new JsonObject();
    }
    JsonElement body;
    try {
      body = JsonParser.parseString(new String(bytes, StandardCharsets.UTF_8));
    } catch (JsonParseException e) { // Its text names classes of Java.
      throw new IllegalArgumentException("the body is no JSON: " + reasonOf(e), e);
    }
    if (!body.isJsonObject()) {
      throw new IllegalArgumentException("the body is no JSON object");
    }
    return body.getAsJsonObject();
  }

  private static String reasonOf(JsonParseException e) {
    Throwable cause = e.getCause();
    return cause instanceof EOFException || cause == null ? "it ends too early" : cause.getMessage();
  }

  /** The text of a field: of a number the digits as they came, never a float. */
  private static String text(JsonObject body, String name, String absent) {
    JsonElement value = body.get(name);
    if (value == null || value.isJsonNull()) {
      return absent;
    }
    if (!value.isJsonPrimitive()) {
      throw new IllegalArgumentException(name + " is no text and no number");
    }
    return value.getAsString();
  }

  /** Lets the requests end that have begun. */
  @Override
  public void close() {
    server.stop(DRAIN_SECONDS);
    requests.shutdown();
  }
}
