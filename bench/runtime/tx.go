package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// handlers is how many transactions are open at once.
const handlers = 32

// transactions is one transaction a message, at 32 at once: it changes a row of the business and makes the key
// SUCCESS. By hand it is the same statements with pgx, and, as most would write it, a key that is inserted within.
func transactions(ctx context.Context, s size) (report, error) {
	d, err := open(ctx, handlers+callers, postgres.Config{})
	if err != nil {
		return report{}, err
	}
	defer d.drop()
	c, err := compare(ctx, "one transaction a message", "messages", s, 8_000, []side{
		{name: "idem, guard.RunTx: claim in batches, BEGIN, UPDATE, complete, COMMIT", round: d.guardedTx},
		{name: "by hand: the same statements with pgx", round: d.handTx},
		{name: "by hand: BEGIN, INSERT of the key, UPDATE, COMMIT", round: d.insertTx},
	})
	return report{Comparisons: c}, err
}

const accountUpdate = "UPDATE account SET balance = balance + 1 WHERE id = $1"

// work is a batch of which each one is run by some worker, and then settled.
type work struct {
	n      int
	run    func(i int) error
	settle func() error
}

// workers runs batches with 32 goroutines, each batch on accounts of its own from a first one on. The next one is claimed while one runs, as a consumer does.
func workers[T any](all []T, begin func(batch T, account int) (work, error)) error {
	type one struct {
		run  func(int) error
		i    int
		left *sync.WaitGroup
	}
	var (
		mu   sync.Mutex
		errs []error
		run  = make(chan one)
		done = make(chan func(), 2)
		wait sync.WaitGroup
		last sync.WaitGroup
	)
	fail := func(err error) {
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	}
	for range handlers {
		wait.Go(func() {
			for o := range run {
				fail(o.run(o.i))
				o.left.Done()
			}
		})
	}
	last.Go(func() {
		for settle := range done {
			settle()
		}
	})
	next := make(chan work, 1)
	go func() {
		defer close(next)
		for i, one := range all {
			w, err := begin(one, i*batch%orders)
			fail(err)
			if err != nil {
				return
			}
			next <- w
		}
	}()
	for w := range next {
		left := new(sync.WaitGroup)
		left.Add(w.n)
		for i := range w.n {
			run <- one{w.run, i, left}
		}
		done <- func() {
			left.Wait()
			if w.settle != nil {
				fail(w.settle())
			}
		}
	}
	close(run)
	close(done)
	wait.Wait()
	last.Wait()
	return errors.Join(errs...)
}

func (d *database) guardedTx(ctx context.Context, n int) (usage, error) {
	g, err := guard.New(d.store, guard.Config{Scope: group})
	if err != nil {
		return usage{}, err
	}
	all := batches(messages(n))
	rules := &guard.Rules{Mode: guard.Tx}
	measured := start(d.cpu)
	err = workers(all, func(messages []broker.Message, account int) (work, error) {
		ds := make([]*guard.Delivery, len(messages))
		for i := range ds {
			ds[i] = new(guard.Delivery)
			g.Open(ds[i], &messages[i], rules)
		}
		run := func(i int) error {
			guard.RunTx(ctx, g, d.store, ds[i], func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, accountUpdate, account+i)
				return err
			})
			return ds[i].Err
		}
		return work{len(ds), run, func() error { return g.Settle(ctx, ds) }}, g.Claim(ctx, ds)
	})
	u := measured.stop(n)
	return u, errors.Join(err, d.applied(ctx, n))
}

func (d *database) handTx(ctx context.Context, n int) (usage, error) {
	all := keys(n)
	measured := start(d.cpu)
	err := workers(all, func(keys []string, account int) (work, error) {
		owner := owner()
		run := func(i int) error {
			return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, accountUpdate, account+i); err != nil {
					return err
				}
				tag, err := tx.Exec(ctx, `UPDATE bare SET state = 2, lease_until = NULL WHERE scope = 'payments' AND key = $1 AND fence = 1 AND owner = $2 AND state = 1`, keys[i], owner)
				if err == nil && tag.RowsAffected() != 1 {
					err = fmt.Errorf("key %s: fenced out", keys[i])
				}
				return err
			})
		}
		_, err := d.pool.Exec(ctx, bareInsert, keys, owner)
		return work{n: len(keys), run: run}, err
	})
	u := measured.stop(n)
	return u, errors.Join(err, d.applied(ctx, n))
}

func (d *database) insertTx(ctx context.Context, n int) (usage, error) {
	all := keys(n)
	measured := start(d.cpu)
	err := workers(all, func(keys []string, account int) (work, error) {
		return work{n: len(keys), run: func(i int) error { return d.insertOne(ctx, keys[i], account+i) }}, nil
	})
	u := measured.stop(n)
	return u, errors.Join(err, d.applied(ctx, n))
}

// insertOne is what most write by hand: no lease, no attempts, no fence, and a duplicate is a row that is there.
func (d *database) insertOne(ctx context.Context, key string, account int) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "INSERT INTO bare VALUES ('payments', $1, 2, 1, NULL, NULL) ON CONFLICT DO NOTHING", key)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, accountUpdate, account)
		return err
	})
}

// applied says that each message of a round had one effect.
func (d *database) applied(ctx context.Context, n int) error {
	before := d.effects
	if err := d.pool.QueryRow(ctx, "SELECT sum(balance) FROM account").Scan(&d.effects); err != nil {
		return err
	}
	if d.effects != before+n {
		return fmt.Errorf("%d effects of %d messages", d.effects-before, n)
	}
	return nil
}
