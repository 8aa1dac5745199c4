package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	shopv1 "github.com/idem-spec/idem/examples/shop/go/shop/v1"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/payload"
	"github.com/idem-spec/idem/runtime/go/store"
)

const (
	insertPayment = `INSERT INTO payment (payment_id, order_id, amount, currency, idempotency_key, paid_at) VALUES ($1, $2, $3::text::numeric, $4, $5, $6)`
	insertRefund  = `INSERT INTO refund (order_id, amount, currency, idempotency_key, at) VALUES ($1, $2::text::numeric, $3, $4, $5)`
)

type payments struct {
	store  store.Transactor[pgx.Tx]
	outbox *outbox.Outbox
	bank   *bank
}

// charge takes the money of an order. The bank goes by the delivery's key, so that a call which is made again moves
// nothing; the row, the event and the record of the key commit together, or not at all.
func (p *payments) charge(ctx context.Context, tx pgx.Tx, m *shopv1.OrderCreated) error {
	paid := &shopv1.PaymentSucceeded{PaymentId: "p-" + m.GetOrderId(), OrderId: m.GetOrderId(), Amount: m.GetTotal(), Currency: m.GetCurrency()}
	at, err := p.bank.charge(ctx, transfer{paid.PaymentId, paid.OrderId, paid.Amount, paid.Currency})
	if err != nil {
		return err // what the schema's PaymentError says of it
	}
	if _, err := tx.Exec(ctx, insertPayment, paid.PaymentId, paid.OrderId, paid.Amount, paid.Currency, guard.KeyOf(ctx), at); err != nil {
		return err
	}
	paid.OccurredAt = timestamppb.New(at)
	event, err := payload.Message("shop.payments", paid, payload.Options{})
	if err != nil {
		return err
	}
	return outbox.PublishTx(ctx, p.outbox, p.store, tx, event)
}

// refund gives the money of an order back. A request that overtook the payment waits for it, which costs no retry.
func (p *payments) refund(ctx context.Context, tx pgx.Tx, m *shopv1.RefundRequested) error {
	var paid bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payment WHERE order_id = $1)`, m.GetOrderId()).Scan(&paid); err != nil {
		return err
	}
	if !paid {
		return idem.OutOfOrder(errors.New("the order is not paid yet"))
	}
	amount := fmt.Sprintf("%d.%02d", m.GetAmount().GetUnits(), m.GetAmount().GetNanos()/1e7)
	back := transfer{"p-" + m.GetOrderId(), m.GetOrderId(), amount, m.GetAmount().GetCurrencyCode()}
	at, err := p.bank.refund(ctx, back)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertRefund, back.Order, back.Amount, back.Currency, guard.KeyOf(ctx), at)
	return err
}
