package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// A loop of one's own over franz-go or sarama makes a broker.Message of each record, and acknowledges it once Do
// returns without an error.
func ExampleGuard_Do() {
	g, err := guard.New(memory.New(memory.Config{}), guard.Config{Scope: "payments", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	record := &broker.Message{
		Topic: "orders", Partition: 3, Offset: 1207, Key: []byte("order-8317"), Value: []byte("…"),
		Headers: idem.Headers{{Name: "idempotency_key", Value: []byte("payment:8317:v1")}},
	}
	charge := func(ctx context.Context) error {
		fmt.Println("charge, with Idempotency-Key", guard.KeyOf(ctx))
		return nil
	}
	for range 2 { // the broker delivers it twice
		report, err := g.Do(context.Background(), record, charge)
		if err != nil {
			fmt.Println("not acknowledged:", err)
			continue
		}
		fmt.Println(report.Outcome, report.Action)
	}
	// Output:
	// charge, with Idempotency-Key payment:8317:v1
	// OK ACK
	// DUPLICATE ACK
}

// In mode Tx what the handler writes and the record's SUCCESS are committed together. With package postgres tx is a
// pgx.Tx, with package sqlite a *sql.Tx.
func ExampleDoTx() {
	s := memory.New(memory.Config{})
	g, err := guard.New(s, guard.Config{Scope: "payments", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	record := &broker.Message{
		Topic: "orders", Partition: 3, Offset: 1207,
		Headers: idem.Headers{{Name: "idempotency_key", Value: []byte("payment:8317:v1")}},
	}
	balance := 100
	for range 2 {
		report, err := guard.DoTx(context.Background(), g, s, record, func(ctx context.Context, tx *memory.Tx) error {
			tx.Do(func() { balance -= 30 })
			return nil
		})
		fmt.Println(report.Outcome, balance, err)
	}
	// Output:
	// OK 70 <nil>
	// DUPLICATE 70 <nil>
}

// A job without a broker: what fails is done again by its next run, under the same key, and what was done is not.
func ExampleGuard_Do_job() {
	g, err := guard.New(memory.New(memory.Config{}), guard.Config{
		Scope: "nightly-report", Rules: guard.Rules{Order: guard.Block}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		panic(err)
	}
	job := &broker.Message{
		Topic: "jobs", Headers: idem.Headers{
			{Name: "idempotency_key", Value: []byte("report:2025-01-01")},
			{Name: "backoff_jitter", Value: []byte("0")},
		},
	}
	mailServer := errors.New("the mail server is down")
	for range 3 {
		report, err := g.Do(context.Background(), job, func(context.Context) error {
			defer func() { mailServer = nil }()
			return mailServer
		})
		fmt.Println(report.Outcome, report.Delay, errors.Is(err, guard.ErrHeld))
	}
	// Output:
	// RETRYABLE 1s true
	// OK 0s false
	// DUPLICATE 0s false
}
