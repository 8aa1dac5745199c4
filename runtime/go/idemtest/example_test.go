package idemtest_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemtest"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func refunds(t *testing.T) []broker.Message {
	at := timestamppb.New(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	return []broker.Message{
		idemtest.Message(t, "refunds", &refundsv1.RefundAsked{OrderId: "order-1", Amount: "100.00", Currency: "USD", AskedAt: at}),
		idemtest.Message(t, "refunds", &refundsv1.RefundAsked{OrderId: "order-2", Amount: "5", Currency: "USD", AskedAt: at}),
		idemtest.Message(t, "refunds", &refundsv1.RefundAsked{OrderId: "order-3", Amount: "9.99", Currency: "XXX", AskedAt: at}),
	}
}

// pay writes in its transaction. It is right.
func pay(ctx context.Context, tx *sql.Tx, m *refundsv1.RefundAsked) error {
	if m.GetCurrency() != "USD" {
		return idem.NonRetryable("CURRENCY", errors.New("we pay back dollars alone"))
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO refund (order_id, amount) VALUES ($1, $2)`, m.GetOrderId(), m.GetAmount())
	return err
}

func TestARightHandlerPasses(t *testing.T) {
	idemtest.Check(t, idemtest.Case{
		Handlers: []consumer.Handler{consumer.Tx(pay)},
		Store:    idemtest.SQLite(`CREATE TABLE refund (order_id TEXT NOT NULL, amount TEXT NOT NULL)`),
		Messages: refunds(t),
		Effects:  idemtest.Query(`SELECT order_id || ' ' || amount FROM refund`),
	})
}

// Whoever has an effect outside hands the key on, to somebody who has each key once.
func TestAHandlerThatHandsItsKeyOnPasses(t *testing.T) {
	var bank idemtest.Recorder
	idemtest.Check(t, idemtest.Case{
		Handlers: []consumer.Handler{consumer.Idempotent(func(ctx context.Context, m *refundsv1.RefundAsked) error {
			bank.Once(guard.KeyOf(ctx), "paid back "+m.GetOrderId())
			return nil
		})},
		Messages: refunds(t),
		Effects:  &bank,
	})
}

// A World is for tests of one's own.
func TestALeaseOfADeadProcessRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paid idemtest.Recorder
		w := idemtest.New(t, idemtest.Config{Handlers: []consumer.Handler{
			consumer.Tx(func(_ context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
				tx.Do(func() { paid.Add(m.GetOrderId()) })
				return nil
			}, consumer.Route{HandlerTimeout: time.Minute}),
		}})
		w.Arm(idemtest.Fault{At: idemtest.AfterHandler})
		w.Publish(refunds(t)[0])
		began := time.Now()
		w.Run()
		if took := time.Since(began); took < time.Minute {
			t.Errorf("another process took over after %v, under a live lease", took)
		}
		if list, _ := paid.List(w); len(list) != 1 {
			t.Errorf("paid %q", list)
		}
	})
}
