package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// services are the shop's, with the topics that each consumes.
var services = []struct {
	name   string // of the service, its group and its scope
	dsn    string // the variable with its database
	topics []string
}{
	{"orders", "ORDERS_DATABASE_URL", []string{"shop.payments", "shop.refunds"}},
	{"payments", "PAYMENTS_DATABASE_URL", []string{"shop.orders", "shop.refunds"}},
	{"notifications", "NOTIFICATIONS_DATABASE_URL", []string{"shop.payments", "shop.refunds"}},
}

// books are where everything is written.
type books struct {
	databases map[string]*pgxpool.Pool // by service
	kafka     *kafka.Broker
	outside   string
}

func open(ctx context.Context) (*books, error) {
	b := &books{databases: make(map[string]*pgxpool.Pool), outside: strings.TrimSuffix(os.Getenv("OUTSIDE_URL"), "/")}
	for _, s := range services {
		dsn := os.Getenv(s.dsn)
		if dsn == "" {
			continue
		}
		pool, err := pgxpool.New(ctx, dsn)
		if err == nil {
			b.databases[s.name] = pool
			err = pool.Ping(ctx)
		}
		if err != nil {
			b.close()
			return nil, fmt.Errorf("%s: %w", s.dsn, err)
		}
	}
	k, err := kafka.Open(kafka.Config{Brokers: strings.Split(os.Getenv("KAFKA_BROKERS"), ","), ClientID: "books"})
	if err != nil {
		b.close()
		return nil, err
	}
	b.kafka = k
	return b, nil
}

func (b *books) close() {
	for _, pool := range b.databases {
		pool.Close()
	}
	if b.kafka != nil {
		_ = b.kafka.Close()
	}
}

// lag is how many messages a service has to read yet, with those that come again.
func (b *books) lag(ctx context.Context, group string, topics []string) (n int64, err error) {
	for _, t := range topics {
		partitions, err := b.kafka.Lag(ctx, group, t, broker.RetryTopic(t, group))
		if err != nil {
			return 0, err
		}
		for _, p := range partitions {
			n += p.Behind
		}
	}
	return n, nil
}
