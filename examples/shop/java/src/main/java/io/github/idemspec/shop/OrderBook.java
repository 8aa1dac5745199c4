package io.github.idemspec.shop;

import io.github.idemspec.shop.v1.OrderCreated;
import io.github.idemspec.shop.v1.OrderCreatedIdem;
import io.github.idemspec.shop.v1.OrderStateIdem;
import io.github.idemspec.shop.v1.RefundRequested;
import io.github.idemspec.shop.v1.RefundRequestedIdem;
import io.github.idemspec.state.Move;
import io.github.idemspec.state.Moved;
import io.github.idemspec.state.StateTable;
import io.github.idemspec.store.Outgoing;
import io.github.idemspec.store.Producing;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.v1.StateMachine.Verdict;
import io.github.idemspec.v1.Transition;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/** The orders, in their table: what is written of one is written with its message, in one transaction. */
final class OrderBook {
  static final String ORDERS_TOPIC = "shop.orders";
  static final String REFUNDS_TOPIC = "shop.refunds";

  /** Where an order stands is guarded by its row. */
  static final StateTable TABLE =
      StateTable.of("orders", "order_id", "status")
          .version("version")
          .lastKey("last_idempotency_key")
          .guardCreates();

  private static final Transition PAYING = new Transition("CREATED", "PAYING");

  private final PostgresStore store;

  OrderBook(PostgresStore store) {
    this.store = store;
  }

  /** An order as its row has it. */
  record Order(
      String id, long customer, String total, String currency, String status, Instant refundAsked) {}

  /**
   * Writes an order and its message. Asked twice, as by a client that has missed the answer, it does so
   * once.
   *
   * @return the order's idempotency key
   * @throws Refused where the order is there with another content
   */
  String create(Connection connection, OrderCreated created) throws SQLException {
    String key = OrderCreatedIdem.idempotencyKey(created);
    Outgoing message =
        new Outgoing(
            ORDERS_TOPIC,
            OrderCreatedIdem.bizKey(created).getBytes(StandardCharsets.UTF_8),
            OrderCreatedIdem.headers(created, Producing.to(ORDERS_TOPIC)),
            created.toByteArray());
    Moved moved = insert(connection, created, key);
    if (moved.verdict() != Verdict.APPLY) {
      checkSame(find(connection, created.getOrderId(), false), created);
      return key;
    }
    store.storeTx(connection, List.of(message));
    // The message is out as soon as this commits, so the payment is under way.
    move(connection, created.getOrderId(), key);
    return key;
  }

  private static Moved insert(Connection connection, OrderCreated created, String key)
      throws SQLException {
    Move creation =
        Move.of(created.getOrderId(), OrderCreatedIdem.TRANSITION, OrderCreatedIdem::verdict)
            .set("customer_id", created.getCustomer().getId())
            .set("total", created.getTotal())
            .set("currency", created.getCurrency());
    Moved moved = TABLE.apply(connection, creation, key, "");
    if (moved.verdict() == Verdict.APPLY) {
      record(connection, created.getOrderId(), OrderCreatedIdem.TRANSITION, key);
    }
    return moved;
  }

  private static void move(Connection connection, String id, String key) throws SQLException {
    Function<String, Verdict> verdict = state -> OrderStateIdem.MACHINE.verdict(state, PAYING);
    Moved moved = TABLE.apply(connection, Move.of(id, PAYING, verdict), key, "");
    if (moved.verdict() != Verdict.APPLY) {
      throw new IllegalStateException("order " + id + ": " + moved.where());
    }
    record(connection, id, PAYING, key);
  }

  private static void checkSame(Order order, OrderCreated created) {
    boolean same =
        order.customer == created.getCustomer().getId()
            && order.total.equals(created.getTotal())
            && order.currency.equals(created.getCurrency());
    if (!same) {
      throw Refused.keyReused(
          "order " + order.id + " is there with another content: give each order an id of its own");
    }
  }

  /** Writes what the state machine did. */
  static void record(Connection connection, String id, Transition transition, String key)
      throws SQLException {
    String text =
        "insert into order_event (order_id, from_status, to_status, idempotency_key)"
            + " values (?, ?, ?, ?)";
    try (PreparedStatement insert = connection.prepareStatement(text)) {
      insert.setString(1, id);
      insert.setString(2, transition.from());
      insert.setString(3, transition.to());
      insert.setString(4, key);
      insert.executeUpdate();
    }
  }

  /**
   * Asks for the money back. Asked twice it sends the message once.
   *
   * @param at when the customer asked; it is part of the message's key
   * @return the message's key
   * @throws Refused where there is no such order
   */
  String refund(Connection connection, String id, String reason, Instant at) throws SQLException {
    Order order = find(connection, id, true);
    if (order == null) {
      throw Refused.noOrder(id);
    }
    boolean again = order.refundAsked != null;
    RefundRequested refund = Refunds.of(order, reason, again ? order.refundAsked : at);
    if (!again) {
      markRefund(connection, id, at);
      store.storeTx(connection, List.of(messageOf(refund)));
    }
    return RefundRequestedIdem.idempotencyKey(refund);
  }

  private static Outgoing messageOf(RefundRequested refund) {
    return new Outgoing(
        REFUNDS_TOPIC,
        RefundRequestedIdem.bizKey(refund).getBytes(StandardCharsets.UTF_8),
        RefundRequestedIdem.headers(refund, Producing.to(REFUNDS_TOPIC)),
        refund.toByteArray());
  }

  private static void markRefund(Connection connection, String id, Instant at)
      throws SQLException {
    String text = "update orders set refund_requested_at = ? where order_id = ?";
    try (PreparedStatement update = connection.prepareStatement(text)) {
      update.setTimestamp(1, Timestamp.from(at));
      update.setString(2, id);
      update.executeUpdate();
    }
  }

  /** An order, or null. */
  Order find(String id) throws Exception {
    return store.inTx(null, tx -> find(tx.connection(), id, false));
  }

  private static Order find(Connection connection, String id, boolean locked) throws SQLException {
    String text =
        "select order_id, customer_id, total, currency, status, refund_requested_at from orders"
            + " where order_id = ?"
            + (locked ? " for update" : "");
    try (PreparedStatement select = connection.prepareStatement(text)) {
      select.setString(1, id);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          return null;
        }
        Timestamp asked = row.getTimestamp(6);
        return new Order(
            row.getString(1),
            row.getLong(2),
            row.getString(3),
            row.getString(4),
            row.getString(5),
            asked == null ? null : asked.toInstant());
      }
    }
  }
}
