// Command payments takes the money for orders, and gives it back: each once, whatever is delivered twice, crashes,
// or comes late. This file is all of its wiring.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

//go:embed tables.sql
var tables string

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)).With("service", "payments", "instance", os.Getenv("SHOP_INSTANCE")))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "payments:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	options, err := goredis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	database, err := postgres.Open(ctx, os.Getenv("PAYMENTS_DATABASE_URL"), postgres.Config{})
	if err != nil {
		return fmt.Errorf("PAYMENTS_DATABASE_URL: %w", err)
	}
	// Redis answers duplicates, and PostgreSQL is the truth: without Redis it goes on, slower.
	store := tiered.New(redis.New(goredis.NewClient(options), redis.Config{Prefix: "payments:"}).Hints(), database, tiered.Config{})
	defer store.Close()
	err = store.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, tables)
		return err
	})
	if err != nil {
		return fmt.Errorf("make the tables payment and refund: %w", err)
	}
	session, err := seconds("SHOP_SESSION_SECONDS")
	if err != nil {
		return err
	}
	limit, err := seconds("SHOP_HANDLER_SECONDS")
	if err != nil {
		return err
	}
	broker, err := kafka.Open(kafka.Config{
		Brokers: strings.Split(os.Getenv("KAFKA_BROKERS"), ","), ClientID: cmp.Or(os.Getenv("SHOP_INSTANCE"), "payments"), SessionTimeout: session,
	})
	if err != nil {
		return err
	}
	defer broker.Close()

	messages, err := outbox.New(store, broker, outbox.Config{})
	if err != nil {
		return err
	}
	relay, err := outbox.NewRelay(store, broker, outbox.RelayConfig{Poll: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	bank, err := newBank(os.Getenv("BANK_URL"))
	if err != nil {
		return err
	}
	p := &payments{store, messages, bank}
	route := consumer.Route{MissingKey: guard.Derive} // where a gateway has lost the key's header, by the schema
	c, err := consumer.New(broker, store, consumer.Config{
		Group:      "payments",
		Topics:     []string{"shop.orders", "shop.refunds"},
		Background: []func(context.Context) error{relay.Run},
		Guard:      guard.Config{HandlerTimeout: limit},
	}, consumer.Tx(p.charge, route), consumer.Tx(p.refund, route))
	if err != nil {
		return err
	}
	go ready(ctx, c)
	return c.Run(ctx)
}

// seconds is a setting that is shorter where processes are killed on purpose; 0, the runtime's own, without it.
func seconds(name string) (time.Duration, error) {
	text := os.Getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q: give whole seconds", name, text)
	}
	return time.Duration(n) * time.Second, nil
}

// ready says on standard output that the consumer has joined its group.
func ready(ctx context.Context, c *consumer.Consumer) {
	for len(c.Health().Partitions) == 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	fmt.Println("payments: ready")
}
