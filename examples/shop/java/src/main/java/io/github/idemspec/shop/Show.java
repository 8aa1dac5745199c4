package io.github.idemspec.shop;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.github.idemspec.shop.v1.NotificationSent;
import io.github.idemspec.shop.v1.NotificationSentIdem;
import io.github.idemspec.shop.v1.OrderCreated;
import io.github.idemspec.shop.v1.OrderCreatedIdem;
import io.github.idemspec.shop.v1.PaymentSucceeded;
import io.github.idemspec.shop.v1.PaymentSucceededIdem;
import io.github.idemspec.shop.v1.RefundRequested;
import io.github.idemspec.shop.v1.RefundRequestedIdem;
import io.github.idemspec.v1.Backoff;
import io.github.idemspec.v1.Context;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Policy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads the shop's events and prints what the orders service, in Java, makes of each: the same lines as payments in Go
 * and notifications in Python.
 */
public final class Show {
  private static final int PARTITIONS = 12;

  private Show() {}

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int number = 1;
    for (String line = in.readLine(); line != null; line = in.readLine(), number++) {
      JsonObject event = JsonParser.parseString(line).getAsJsonObject();
      String type = event.get("type").getAsString();
      out.print("event " + number + " " + type + "\n");
      try {
        show(out, type, event.get("message").toString(), context(number));
      } catch (IdemException e) {
        out.print("  error " + e.code() + "\n");
      }
    }
    out.flush();
  }

  private static Context context(int number) {
    String digits = "00000000000" + number;
    String id = "01941f29-7c00-7000-8000-" + digits.substring(digits.length() - 12);
    return Context.EMPTY.withEventId(id).withTopic("shop");
  }

  private static void show(PrintStream out, String type, String json, Context context) throws IOException {
    switch (type) {
      case "shop.v1.OrderCreated":
        OrderCreated order = read(json, OrderCreated.newBuilder());
        headers(out, OrderCreatedIdem.headers(order, context));
        partition(out, OrderCreatedIdem.kafkaPartition(order, PARTITIONS));
        delays(out, OrderCreatedIdem.idempotencyKey(order), Policy.DEFAULT);
        break;
      case "shop.v1.PaymentSucceeded":
        PaymentSucceeded payment = read(json, PaymentSucceeded.newBuilder());
        headers(out, PaymentSucceededIdem.headers(payment, context));
        partition(out, PaymentSucceededIdem.kafkaPartition(payment, PARTITIONS));
        delays(out, PaymentSucceededIdem.idempotencyKey(payment), PaymentSucceededIdem.POLICY);
        break;
      case "shop.v1.RefundRequested":
        RefundRequested refund = read(json, RefundRequested.newBuilder());
        headers(out, RefundRequestedIdem.headers(refund, context));
        partition(out, RefundRequestedIdem.kafkaPartition(refund, PARTITIONS));
        delays(out, RefundRequestedIdem.idempotencyKey(refund), RefundRequestedIdem.POLICY);
        break;
      case "shop.v1.NotificationSent":
        NotificationSent notification = read(json, NotificationSent.newBuilder());
        headers(out, NotificationSentIdem.headers(notification, context));
        delays(out, NotificationSentIdem.idempotencyKey(notification), NotificationSentIdem.POLICY);
        break;
      default:
        throw new IOException("no message " + type);
    }
  }

  @SuppressWarnings("unchecked")
  private static <M extends Message> M read(String json, Message.Builder builder) throws IOException {
    JsonFormat.parser().merge(json, builder);
    return (M) builder.build();
  }

  private static void headers(PrintStream out, List<Header> headers) {
    for (Header header : headers) {
      out.print("  header " + header.name() + ": " + new String(header.value(), StandardCharsets.UTF_8) + "\n");
    }
  }

  private static void partition(PrintStream out, int partition) {
    out.print("  partition " + partition + " of " + PARTITIONS + "\n");
  }

  /** The delays of the first five retries. */
  private static void delays(PrintStream out, String key, Policy policy) {
    StringBuilder texts = new StringBuilder();
    for (int retry = 0; retry < 5; retry++) {
      texts.append(' ').append(Backoff.of(key, retry, policy, 0).delayMs());
    }
    out.print("  delays" + texts + " ms\n");
  }
}
