// Command consume pays refunds once each, whatever is delivered twice, crashes, or comes late. It runs with no
// server at all, on a file and a broker within the process:
//
//	go run ./examples/consume
//
// and on PostgreSQL and Kafka by the line that dials, once `idem topic create refunds --group payments` has made
// the topics.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/dial"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// refund is the handler: what it writes and the record of the key commit together, or not at all.
func refund(ctx context.Context, tx *sql.Tx, m *refundsv1.RefundAsked) error {
	if m.GetCurrency() != "USD" {
		return idem.NonRetryable("CURRENCY", errors.New("we pay back dollars alone")) // a dead letter
	}
	if strings.HasPrefix(m.GetOrderId(), "order-3") && tries(m) < 2 {
		return idem.Retryable(errors.New("the bank did not answer")) // again, after the schema's backoff
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO refund (order_id, amount) VALUES ($1, $2)`, m.GetOrderId(), m.GetAmount())
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	services, err := dial.Open(ctx, "sqlite:refunds.db", "memory:")
	// services, err := dial.Open(ctx, os.Getenv("DATABASE_URL"), "kafka://"+os.Getenv("KAFKA_BROKERS"))
	check(err)
	defer services.Close()
	payments, err := consumer.New(services.Broker, services.Store,
		consumer.Config{Group: "payments", Topics: []string{"refunds"}},
		consumer.Tx(refund, consumer.Route{Order: guard.Block}))
	check(err)

	check(prepare(ctx, services))
	go func() {
		watch(ctx, services.Store)
		stop()
	}()
	check(payments.Run(ctx))
}

func check(err error) {
	if err != nil {
		log.Fatal(fmt.Errorf("consume: %w", err))
	}
}
