// Command right is a service as the checklist wants it: it asks the bank, and writes the refund in the transaction that
// ends the message. BUG gives it one of the bugs that such services have:
//
//	outside-transaction      the refund is written by the pool, beside the transaction
//	own-transaction          the same, in a transaction of the handler's own
//	not-idempotent           the same, by a handler that is called at least once, and writes each time
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	goredis "github.com/redis/go-redis/v9"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

var bank = &http.Client{Timeout: time.Second}

func ask(ctx context.Context, m *refundsv1.RefundAsked) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("BANK_URL")+"/refunds", bytes.NewReader([]byte(m.GetOrderId())))
	if err != nil {
		return err
	}
	r.Header.Set("Idempotency-Key", guard.KeyOf(ctx))
	answer, err := bank.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the bank answers %s", answer.Status)
	}
	return nil
}

type refunds struct {
	pool *pgxpool.Pool
	bug  string
}

func (r *refunds) refund(ctx context.Context, tx pgx.Tx, m *refundsv1.RefundAsked) error {
	if err := ask(ctx, m); err != nil {
		return err
	}
	switch r.bug {
	case "outside-transaction":
		return write(ctx, r.pool, m)
	case "own-transaction":
		return pgx.BeginFunc(ctx, r.pool, func(own pgx.Tx) error { return write(ctx, own, m) })
	}
	return write(ctx, tx, m)
}

// refundEachTime is the handler of a mode that asks for effects which can come twice.
func (r *refunds) refundEachTime(ctx context.Context, m *refundsv1.RefundAsked) error {
	if err := ask(ctx, m); err != nil {
		return err
	}
	return write(ctx, r.pool, m)
}

func write(ctx context.Context, db interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}, m *refundsv1.RefundAsked) error {
	_, err := db.Exec(ctx, `INSERT INTO refund (order_id, amount) VALUES ($1, $2)`, m.GetOrderId(), m.GetAmount())
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	broker, err := kafka.Open(kafka.Config{
		Brokers: strings.Split(os.Getenv("KAFKA_BROKERS"), ","), SessionTimeout: 6 * time.Second, HeartbeatInterval: 500 * time.Millisecond,
		MaxWait: 100 * time.Millisecond, Logger: log,
	})
	if err != nil {
		return err
	}
	defer broker.Close()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		return err
	}
	options, err := goredis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	memory := goredis.NewClient(options)
	defer memory.Close()
	both := tiered.New(redis.New(memory, redis.Config{Prefix: os.Getenv("REDIS_PREFIX")}).Hints(), store.Full[pgx.Tx](s), tiered.Config{})
	r := &refunds{pool: pool, bug: os.Getenv("BUG")}
	handler := consumer.Tx(r.refund)
	if r.bug == "not-idempotent" {
		handler = consumer.Idempotent(r.refundEachTime)
	}
	c, err := consumer.New(broker, both, consumer.Config{
		Group: os.Getenv("GROUP"), Topics: []string{os.Getenv("TOPIC")}, CommitInterval: 300 * time.Millisecond, RebalanceTimeout: time.Second,
		Guard: guard.Config{HandlerTimeout: 3 * time.Second, DeadLetterTopic: os.Getenv("DEAD_LETTERS") == "topic"}, Log: log,
	}, handler)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
