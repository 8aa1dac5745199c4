package io.github.idemspec.bench;

import com.google.protobuf.Timestamp;
import io.github.idemspec.bench.v1.PaymentSettled;
import io.github.idemspec.shop.v1.PaymentSucceeded;

/** The messages of the benchmarks, with the values that they have in Go and Python too. */
final class Messages {
  static final String SHOP_KEY = "payments.payment_success:v1:pay_01JGFJJZ008K2V9C3QX7";
  static final String SETTLED_KEY =
      "payments.payment_settled:v1:pay_01JGFJJZ008K2V9C3QX7:149.95:EUR:2025-01-01T04:00:00.123Z";

  private static final Timestamp OCCURRED_AT =
      Timestamp.newBuilder().setSeconds(1735704000).setNanos(123456789).build();

  private Messages() {}

  /** The shop's message: a key of one component. */
  static PaymentSucceeded succeeded() {
    return PaymentSucceeded.newBuilder()
        .setOrderId("order-8317")
        .setAmount("149.95")
        .setCurrency("EUR")
        .setOccurredAt(OCCURRED_AT)
        .setPaymentId("pay_01JGFJJZ008K2V9C3QX7")
        .build();
  }

  /** The same with a key of four components. */
  static PaymentSettled settled() {
    return PaymentSettled.newBuilder()
        .setOrderId("order-8317")
        .setAmount("149.95")
        .setCurrency("EUR")
        .setOccurredAt(OCCURRED_AT)
        .setPaymentId("pay_01JGFJJZ008K2V9C3QX7")
        .build();
  }
}
