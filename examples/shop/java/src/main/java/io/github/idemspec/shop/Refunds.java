package io.github.idemspec.shop;

import com.google.protobuf.Timestamp;
import com.google.type.Money;
import io.github.idemspec.shop.v1.RefundRequested;
import java.math.BigDecimal;
import java.time.Instant;

/** Makes the message that asks for the money back. */
final class Refunds {
  private Refunds() {}

  /** All of what an order has cost. */
  static RefundRequested of(OrderBook.Order order, String reason, Instant at) {
    BigDecimal total = new BigDecimal(order.total());
    BigDecimal units = new BigDecimal(total.toBigInteger());
    RefundRequested.Builder refund =
        RefundRequested.newBuilder()
            .setOrderId(order.id())
            .setAmount(
                Money.newBuilder()
                    .setCurrencyCode(order.currency())
                    .setUnits(units.longValueExact())
                    .setNanos(total.subtract(units).movePointRight(9).intValueExact()))
            .setRequestedAt(
                Timestamp.newBuilder().setSeconds(at.getEpochSecond()).setNanos(at.getNano()));
    if (reason != null) {
      refund.setReason(reason);
    }
    return refund.build();
  }
}
