package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// callers is how many batches are on their way at once.
const callers = 4

// claim is a durable claim and its completion, 500 keys at a time, on PostgreSQL: beside the least that could be asked
// of a server, and beside a queue that works through jobs which are in its table already.
func claim(ctx context.Context, s size) (report, error) {
	d, err := open(ctx, 2*callers, postgres.Config{})
	if err != nil {
		return report{}, err
	}
	defer d.drop()
	r, err := newRiver(ctx, d)
	if err != nil {
		return report{}, err
	}
	c, err := compare(ctx, "claim and completion on PostgreSQL", "keys", s, 60_000, []side{
		{name: "idem, store: Claim and Complete of 500", round: d.claims},
		{name: "idem, guard: Open, Claim, Run, Settle of 500", round: d.guarded},
		{name: "bare: one INSERT of 500 unnested keys", round: d.bare},
		{name: "bare: that and one UPDATE of 500", round: d.bareBoth},
		{name: "River: jobs of its own table", round: r.work, n: 20_000},
	})
	return report{Comparisons: c}, err
}

// each calls fn with batches from as many goroutines as there are callers.
func each[T any](all []T, fn func(T) error) error {
	var next atomic.Int64
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(all) {
					return
				}
				errs[i] = fn(all[n])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func keys(n int) [][]string {
	var all [][]string
	for ; n > 0; n -= batch {
		keys := make([]string, min(n, batch))
		for i := range keys {
			keys[i] = key()
		}
		all = append(all, keys)
	}
	return all
}

func (d *database) claims(ctx context.Context, n int) (usage, error) {
	all := keys(n)
	measured := start(d.cpu)
	err := each(all, func(keys []string) error { return d.claimAndComplete(ctx, keys) })
	return measured.stop(n), err
}

func (d *database) claimAndComplete(ctx context.Context, keys []string) error {
	claims := make([]store.Claim, len(keys))
	owner := owner()
	for i, key := range keys {
		claims[i] = store.Claim{Scope: group, Key: key, Owner: owner + strconv.Itoa(i), Fingerprint: "549bde46-0123456789abcdef", MaxAttempts: 9, Lease: guard.DefaultLease}
	}
	grants, err := d.store.Claim(ctx, claims)
	if err != nil {
		return err
	}
	completions := make([]store.Completion, len(keys))
	for i := range grants {
		completions[i].Lease = grants[i].Lease
	}
	done, err := d.store.Complete(ctx, completions)
	for i, done := range done {
		if !done {
			return fmt.Errorf("key %s is not complete", keys[i])
		}
	}
	return err
}

// guarded is the whole of it, from messages.
func (d *database) guarded(ctx context.Context, n int) (usage, error) {
	g, err := guard.New(d.store, guard.Config{Scope: group})
	if err != nil {
		return usage{}, err
	}
	all := batches(messages(n))
	rules := &guard.Rules{}
	var made sync.Pool
	measured := start(d.cpu)
	var effects atomic.Int64
	err = each(all, func(batch []broker.Message) error {
		ds, _ := made.Get().([]*guard.Delivery)
		for len(ds) < len(batch) {
			ds = append(ds, new(guard.Delivery))
		}
		defer made.Put(ds) //nolint:staticcheck // a slice header for each 500 messages
		ds = ds[:len(batch)]
		for i := range batch {
			g.Open(ds[i], &batch[i], rules)
		}
		if err := g.Claim(ctx, ds); err != nil {
			return err
		}
		for _, d := range ds {
			g.Run(ctx, d, func(context.Context) error { effects.Add(1); return nil })
		}
		return g.Settle(ctx, ds)
	})
	u := measured.stop(n)
	if err == nil && effects.Load() != int64(n) {
		err = fmt.Errorf("%d effects of %d messages", effects.Load(), n)
	}
	return u, err
}

const (
	bareInsert = `INSERT INTO bare SELECT 'payments', k, 1, 1, $2, clock_timestamp() + interval '30 s'
		FROM unnest($1::text[]) k ORDER BY k ON CONFLICT DO NOTHING RETURNING key`
	bareUpdate = `UPDATE bare SET state = 2 FROM (SELECT k FROM unnest($1::text[]) k ORDER BY k) i
		WHERE scope = 'payments' AND key = i.k AND fence = 1 AND owner = $2 AND state = 1 RETURNING key`
)

func (d *database) bare(ctx context.Context, n int) (usage, error) {
	return d.statements(ctx, n, bareInsert)
}

func (d *database) bareBoth(ctx context.Context, n int) (usage, error) {
	return d.statements(ctx, n, bareInsert, bareUpdate)
}

func (d *database) statements(ctx context.Context, n int, statements ...string) (usage, error) {
	all := keys(n)
	measured := start(d.cpu)
	err := each(all, func(keys []string) error {
		owner := owner()
		for _, sql := range statements {
			rows, _ := d.pool.Query(ctx, sql, keys, owner)
			if made, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(made) != len(keys) {
				return fmt.Errorf("%d of %d keys: %w", len(made), len(keys), err)
			}
		}
		return nil
	})
	return measured.stop(n), err
}
