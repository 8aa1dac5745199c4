package io.github.idemspec.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.store.postgres.PostgresStore;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OrdersApiTest {
  private static ShopDatabase database;
  private static OrdersApi api;
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @BeforeAll
  static void open() throws Exception {
    database = new ShopDatabase();
    api = new OrdersApi(new PostgresStore(database.pool), new InetSocketAddress("127.0.0.1", 0));
  }

  @AfterAll
  static void close() throws Exception {
    if (database != null) {
      api.close();
      database.close();
    }
  }

  @BeforeEach
  void empty() throws Exception {
    database.empty("orders", "order_event", "outbox", "idem_record");
  }

  private static String order(String id, String total) {
    return "{\"order_id\":\"%s\",\"customer_id\":7,\"total\":\"%s\",\"currency\":\"EUR\"}"
        .formatted(id, total);
  }

  private static HttpRequest request(String path, String key, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(api.url() + path))
            .POST(HttpRequest.BodyPublishers.ofString(body));
    return (key == null ? request : request.header("Idempotency-Key", key)).build();
  }

  private static HttpResponse<String> post(String path, String key, String body) throws Exception {
    return CLIENT.send(request(path, key, body), BodyHandlers.ofString());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      textBlock =
          """
          # what the second request is,    first key, id,  total, second key, id,  total, status, orders
          the same again,                  "k",       o-1, 12.50, "k",        o-1, 12.50, 202,    1
          the same by the key unquoted,    "k",       o-1, 12.50, k,          o-1, 12.50, 202,    1
          its key with another total,      "k",       o-1, 12.50, "k",        o-1, 12.51, 422,    1
          its key with another order,      "k",       o-1, 12.50, "k",        o-2, 12.50, 422,    1
          the same by another key,         "k",       o-1, 12.50, "k2",       o-1, 12.50, 202,    1
          another key and total,           "k",       o-1, 12.50, "k2",       o-1, 12.51, 422,    1
          another order,                   "k",       o-1, 12.50, "k2",       o-2, 12.50, 202,    2
          the same and none has a key,     ,          o-1, 12.50, ,           o-1, 12.50, 202,    1
          another total and none has one,  ,          o-1, 12.50, ,           o-1, 12.51, 422,    1
          a key that cannot be read,       "k",       o-1, 12.50, k k,        o-2, 12.50, 400,    1
          """,
      quoteCharacter = '\'')
  void theSecondRequest(
      String what,
      String key,
      String id,
      String total,
      String key2,
      String id2,
      String total2,
      int status,
      int orders)
      throws Exception {
    HttpResponse<String> first = post("/orders", key, order(id, total));
    assertEquals(202, first.statusCode(), first.body());
    HttpResponse<String> second = post("/orders", key2, order(id2, total2));
    assertEquals(status, second.statusCode(), second.body());
    if (status == 202 && id.equals(id2)) {
      assertEquals(first.body(), second.body());
    }
    if (status >= 400) {
      assertTrue(second.body().contains("\"detail\""), second.body());
    }
    assertEquals(orders, database.count("orders"));
    assertEquals(orders, database.count("outbox"));
  }

  @Test
  void aReplaySaysThatItIsOne() throws Exception {
    post("/orders", "k", order("o-1", "12.50"));
    HttpResponse<String> again = post("/orders", "k", order("o-1", "12.50"));
    assertEquals("true", again.headers().firstValue("Idempotency-Replayed").orElse(""));
  }

  @Test
  void aRequestThatWasRefusedMayBeSentAgain() throws Exception {
    assertEquals(404, post("/orders/o-1/refund", "r", "{}").statusCode());
    assertEquals(202, post("/orders", "k", order("o-1", "12.50")).statusCode());
    assertEquals(202, post("/orders/o-1/refund", "r", "{}").statusCode());
  }

  @Test
  void theKeyOfAnOrderIsNotThatOfItsRefund() throws Exception {
    post("/orders", "k", order("o-1", "12.50"));
    HttpResponse<String> refund = post("/orders/o-1/refund", "k", "{}");
    assertEquals(422, refund.statusCode());
    assertTrue(refund.body().contains("urn:idem:problem:key-reused"), refund.body());
  }

  @Test
  void aRequestThatIsInProgressIsNotBegunAgain() throws Exception {
    CompletableFuture<HttpResponse<String>> first;
    try (Connection other = database.pool.getConnection();
        var statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("lock table orders");
      first = CLIENT.sendAsync(request("/orders", "k", order("o-1", "12.50")), BodyHandlers.ofString());
      while (database.count("idem_record") == 0) {
        Thread.sleep(10);
      }
      HttpResponse<String> second = post("/orders", "k", order("o-1", "12.50"));
      assertEquals(409, second.statusCode(), second.body());
      assertEquals("1", second.headers().firstValue("Retry-After").orElse(""));
      other.rollback();
    }
    assertEquals(202, first.get().statusCode());
    assertEquals(first.get().body(), post("/orders", "k", order("o-1", "12.50")).body());
    assertEquals(1, database.count("outbox"));
  }
}
