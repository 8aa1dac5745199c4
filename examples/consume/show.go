package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/dial"
	"github.com/idem-spec/idem/runtime/go/payload"
	"github.com/idem-spec/idem/runtime/go/store"
)

// asked are the refunds of this run: one of them three times, written in three ways that are one key, one
// that fails twice, and one that can never succeed.
var asked = []struct{ order, amount, currency string }{
	{"order-1", "100.00", "USD"},
	{"order-2", "5", "USD"},
	{"order-1", "100.0", "USD"},
	{"order-3", "17.50", "USD"},
	{"order-4", "9.99", "XXX"},
	{"order-1", "1e2", "USD"},
}

// run makes the orders of each run other ones: what an earlier run left in Kafka is not of this one.
var run = time.Now().UTC().Format("150405")

// effects and deadLetters are what the run has to end with.
const effects, deadLetters = 3, 1

// prepare makes the user's own table and sends the messages, each as a producer sends it.
func prepare(ctx context.Context, s *dial.Services) error {
	_, err := s.Broker.Partitions(ctx, "refunds", broker.RetryTopic("refunds", "payments"))
	if err != nil {
		return fmt.Errorf("%w; on Kafka first: idem topic create refunds --group payments", err)
	}
	err = s.Store.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS refund (order_id TEXT NOT NULL, amount TEXT NOT NULL)`)
		return err
	})
	if err != nil {
		return err
	}
	at := timestamppb.New(time.Now().Truncate(time.Millisecond))
	messages := make([]broker.Message, len(asked))
	for i, a := range asked {
		m := &refundsv1.RefundAsked{OrderId: a.order + "-" + run, Amount: a.amount, Currency: a.currency, AskedAt: at}
		if messages[i], err = payload.Message("refunds", m, payload.Options{}); err != nil {
			return err
		}
		fmt.Printf("sent  %s %6s %s\n", m.GetOrderId(), a.amount, a.currency)
	}
	for _, err := range s.Broker.Publish(ctx, messages) {
		if err != nil {
			return err
		}
	}
	return nil
}

var handled sync.Map // order -> *int

// tries is how often the order was handled before, in this run.
func tries(m *refundsv1.RefundAsked) int {
	n, _ := handled.LoadOrStore(m.GetOrderId(), new(int))
	*n.(*int)++
	return *n.(*int) - 1
}

// watch waits until the run has come to its end, and prints what is there.
func watch(ctx context.Context, s store.Full[*sql.Tx]) {
	for {
		paid, dead, err := ends(ctx, s)
		if err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
			return
		}
		if len(paid) >= effects && len(dead) >= deadLetters {
			fmt.Println()
			for _, line := range append(paid, dead...) {
				fmt.Println(line)
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ends(ctx context.Context, s store.Full[*sql.Tx]) (paid, dead []string, err error) {
	err = s.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		paid = nil
		rows, err := tx.QueryContext(ctx, `SELECT order_id, amount FROM refund WHERE order_id LIKE $1 ORDER BY order_id`, "%-"+run)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var order, amount string
			if err := rows.Scan(&order, &amount); err != nil {
				return err
			}
			paid = append(paid, fmt.Sprintf("paid  %s %6s", order, amount))
		}
		return rows.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	letters, err := s.ListDeadLetters(ctx, store.DeadLetterFilter{Scope: "payments", Since: started}, 0, 1000)
	for _, l := range letters {
		if !strings.HasSuffix(l.BizKey, run) {
			continue
		}
		dead = append(dead, fmt.Sprintf("dead  %s: %s", l.Key, l.Reason))
	}
	return paid, dead, err
}

// started is on this machine's clock, the store's may be behind it.
var started = time.Now().Add(-time.Minute)
