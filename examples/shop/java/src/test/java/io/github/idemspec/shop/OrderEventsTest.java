package io.github.idemspec.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import com.google.type.Money;
import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.shop.v1.PaymentSucceeded;
import io.github.idemspec.shop.v1.PaymentSucceededIdem;
import io.github.idemspec.shop.v1.RefundRequested;
import io.github.idemspec.shop.v1.RefundRequestedIdem;
import io.github.idemspec.store.Producing;
import io.github.idemspec.store.Source;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.v1.Header;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

class OrderEventsTest {
  private static final Timestamp AT = Timestamp.newBuilder().setSeconds(1_700_000_000).build();

  static List<Arguments> messages() {
    PaymentSucceeded paid =
        PaymentSucceeded.newBuilder()
            .setOrderId("o-1")
            .setPaymentId("p-1")
            .setAmount("12.50")
            .setCurrency("EUR")
            .setOccurredAt(AT)
            .build();
    RefundRequested asked =
        RefundRequested.newBuilder()
            .setOrderId("o-1")
            .setAmount(Money.newBuilder().setCurrencyCode("EUR").setUnits(12))
            .setRequestedAt(AT)
            .build();
    return List.of(
        Arguments.of(
            OrderEvents.PAID,
            paid,
            PaymentSucceededIdem.headers(paid, Producing.to(OrderEvents.PAYMENTS_TOPIC)),
            "payments.payment_success:v1:p-1"),
        Arguments.of(
            OrderEvents.REFUNDED,
            asked,
            RefundRequestedIdem.headers(asked, Producing.to(OrderBook.REFUNDS_TOPIC)),
            "refunds.requested:v1:o-1:2023-11-14T22:13:20.000Z"));
  }

  /** As behind a gateway that drops the header: the rules look for the key in the payload. */
  @ParameterizedTest
  @MethodSource("messages")
  void aMessageWithoutItsKeyHasThatOfItsPayload(
      Rules rules, Message message, List<Header> headers, String key) {
    List<Header> left = headers.stream().filter(h -> !h.name().equals("idempotency_key")).toList();
    assertEquals(headers.size() - 1, left.size());
    Guard guard =
        new Guard(new PostgresStore(new PGSimpleDataSource()), GuardConfig.of("orders"));
    MessageDelivery delivery =
        guard.open(
            new io.github.idemspec.guard.Message(
                new Source("shop.payments", 0, 0), null, message.toByteArray(), left, null),
            rules);
    assertEquals(MessageDelivery.Status.OPENED, delivery.status(), () -> "" + delivery.result());
    assertEquals(key, delivery.key());
  }
}
