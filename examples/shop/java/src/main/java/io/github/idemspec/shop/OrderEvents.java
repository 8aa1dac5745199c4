package io.github.idemspec.shop;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import io.github.idemspec.guard.MalformedException;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.kafka.Route;
import io.github.idemspec.shop.v1.PaymentSucceeded;
import io.github.idemspec.shop.v1.PaymentSucceededIdem;
import io.github.idemspec.shop.v1.RefundRequested;
import io.github.idemspec.shop.v1.RefundRequestedIdem;
import io.github.idemspec.state.Move;
import java.sql.Connection;
import java.sql.SQLException;

/** What the orders service does about messages: each moves one order, and is recorded beside it. */
final class OrderEvents {
  static final String PAYMENTS_TOPIC = "shop.payments";

  /** Where a gateway has dropped the key, it is that of the payload. */
  static final Rules PAID =
      Rules.of(Mode.TX)
          .policy(PaymentSucceededIdem.POLICY)
          .derive(m -> PaymentSucceededIdem.idempotencyKey(parse(PaymentSucceeded.parser(), m.value())));

  static final Rules REFUNDED =
      Rules.of(Mode.TX)
          .policy(RefundRequestedIdem.POLICY)
          .derive(m -> RefundRequestedIdem.idempotencyKey(parse(RefundRequested.parser(), m.value())));

  private OrderEvents() {}

  static Route paid() {
    return Route.tx(PaymentSucceededIdem.EVENT_TYPE, PAID, OrderEvents::pay);
  }

  static Route refunded() {
    return Route.tx(RefundRequestedIdem.EVENT_TYPE, REFUNDED, OrderEvents::refund);
  }

  private static void pay(MessageDelivery delivery, Connection connection) throws SQLException {
    PaymentSucceeded paid = parse(PaymentSucceeded.parser(), delivery.message().value());
    move(
        delivery,
        connection,
        Move.of(paid.getOrderId(), PaymentSucceededIdem.TRANSITION, PaymentSucceededIdem::verdict)
            .deadLetterSuperseded(PaymentSucceededIdem.DEAD_LETTER_SUPERSEDED));
  }

  private static void refund(MessageDelivery delivery, Connection connection) throws SQLException {
    RefundRequested asked = parse(RefundRequested.parser(), delivery.message().value());
    move(
        delivery,
        connection,
        Move.of(asked.getOrderId(), RefundRequestedIdem.TRANSITION, RefundRequestedIdem::verdict)
            .deadLetterSuperseded(RefundRequestedIdem.DEAD_LETTER_SUPERSEDED));
  }

  private static void move(MessageDelivery delivery, Connection connection, Move move)
      throws SQLException {
    // Throws where the order has made the move already, is not there yet, or can never make it.
    delivery.move(connection, OrderBook.TABLE, move);
    OrderBook.record(connection, move.id().toString(), move.transition(), delivery.key());
  }

  private static <M> M parse(Parser<M> parser, byte[] payload) {
    try {
      return parser.parseFrom(payload == null ? new byte[0] : payload);
    } catch (InvalidProtocolBufferException e) {
      throw new MalformedException(e.getMessage(), e);
    }
  }
}
