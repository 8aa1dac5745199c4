package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// count is the one number that a query of one database gives.
func count(ctx context.Context, pool *pgxpool.Pool, query string) (n int64, err error) {
	err = pool.QueryRow(ctx, query).Scan(&n)
	return n, err
}

// sum is the number over all databases.
func (b *books) sum(ctx context.Context, query string) (n int64, err error) {
	for service, pool := range b.databases {
		x, err := count(ctx, pool, query)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", service, err)
		}
		n += x
	}
	return n, nil
}

const (
	retriesWaiting = `SELECT count(*) FROM msg_retry`
	outboxWaiting  = `SELECT count(*) FROM outbox`
	deadLetters    = `SELECT count(*) FROM dead_letter WHERE redriven_at IS NULL`
	stopped        = `SELECT coalesce(sum(count), 0)::bigint FROM idem_audit WHERE layer <> ''`
)

// waiting is how much is on its way: in topics, retries and outboxes.
func (b *books) waiting(ctx context.Context) (int64, error) {
	n, err := b.sum(ctx, `SELECT (`+retriesWaiting+`) + (`+outboxWaiting+`)`)
	if err != nil {
		return 0, err
	}
	for _, s := range services {
		if b.databases[s.name] == nil {
			continue
		}
		lag, err := b.lag(ctx, s.name, s.topics)
		if err != nil {
			return 0, err
		}
		n += lag
	}
	return n, nil
}

const (
	deadOrders    = `SELECT DISTINCT biz_key FROM dead_letter WHERE redriven_at IS NULL`
	keylessOrders = `SELECT DISTINCT biz_key FROM dead_letter WHERE split_part(reason, ':', 1) = 'MISSING_KEY'`
)

// ordersOf are those that a query of dead letters finds in any database.
func (b *books) ordersOf(ctx context.Context, query string) (map[string]bool, error) {
	orders := make(map[string]bool)
	for service, pool := range b.databases {
		rows, err := pool.Query(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		for _, k := range keys {
			orders[k] = true
		}
	}
	return orders, nil
}
