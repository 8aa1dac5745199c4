package io.github.idemspec.shop;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** What the service says to a request. */
record Answer(int status, JsonObject body, Map<String, String> headers) {

  static Answer of(int status, JsonObject body) {
    return new Answer(status, body, Map.of("Content-Type", "application/json"));
  }

  /** What was asked for is done, or will be. */
  static Answer accepted(String orderId, String key) {
    JsonObject body = new JsonObject();
    body.addProperty("order_id", orderId);
    body.addProperty("idempotency_key", key);
    return of(202, body);
  }

  /** A refusal, by RFC 9457; the detail says what to do. */
  static Answer problem(int status, String title, String detail) {
    JsonObject body = new JsonObject();
    body.addProperty("title", title);
    body.addProperty("status", status);
    body.addProperty("detail", detail);
    return new Answer(status, body, Map.of("Content-Type", "application/problem+json"));
  }

  /** With a name of the refusal that programs can go by. */
  Answer type(String name) {
    JsonObject typed = body.deepCopy();
    typed.addProperty("type", "urn:idem:problem:" + name);
    return new Answer(status, typed, headers);
  }

  Answer header(String name, String value) {
    Map<String, String> more = new HashMap<>(headers);
    more.put(name, value);
    return new Answer(status, body, more);
  }

  /** What is kept of it, for whoever asks again. */
  byte[] kept() {
    JsonObject kept = new JsonObject();
    kept.addProperty("status", status);
    kept.add("body", body);
    return kept.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The answer of which this was kept. */
  static Answer again(byte[] kept) {
    JsonObject first =
        JsonParser.parseString(new String(kept, StandardCharsets.UTF_8)).getAsJsonObject();
    return of(first.get("status").getAsInt(), first.getAsJsonObject("body"))
        .header("Idempotency-Replayed", "true");
  }
}
