//go:build unix

package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// journal writes calls and deliveries into the ledger, behind their backs: what a kill takes along of it makes
// the judgement milder and the life of a key shorter, and never a sound run look broken.
type journal struct {
	observe.None // of metrics
	worker       string
	pool         *pgxpool.Pool
	next         atomic.Int64

	mu         sync.Mutex
	started    [][]any
	ended      []end
	deliveries [][]any
}

type end struct {
	id   int64
	at   time.Time
	said string
}

// mostLines bounds what waits while the database is down.
const mostLines = 20_000

func newJournal(w *worker) *journal {
	j := &journal{worker: w.id(), pool: w.ledger}
	j.next.Store(w.incarnation << 32)
	return j
}

// start notes a call, and gives it a number that no other call has.
func (j *journal) start(key string, c claim, at time.Time) int64 {
	id := j.next.Add(1)
	var claimed any
	if !c.granted.IsZero() {
		claimed = c.granted
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.started) < mostLines {
		j.started = append(j.started, []any{id, key, j.worker, claimed, c.sure().Milliseconds(), at})
	}
	return id
}

func (j *journal) end(id int64, said string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.ended) < mostLines {
		j.ended = append(j.ended, end{id, time.Now(), said})
	}
}

// Delivery notes a delivery that has ended.
func (j *journal) Delivery(_ context.Context, d *observe.Delivery) {
	reason := d.Reason
	if len(reason) > 200 {
		reason = reason[:200]
	}
	row := []any{d.Key, j.worker, time.Now(), d.Topic, d.Partition, d.Offset, d.Outcome.String(), d.Action.String(), d.Attempts, reason}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.deliveries) < mostLines {
		j.deliveries = append(j.deliveries, row)
	}
}

// run writes until ctx ends, and then what is left.
func (j *journal) run(ctx context.Context) {
	for ctx.Err() == nil {
		sleep(ctx, 50*time.Millisecond)
		j.flush(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	j.flush(last)
}

func (j *journal) flush(ctx context.Context) {
	j.mu.Lock()
	started, ended, deliveries := j.started, j.ended, j.deliveries
	j.started, j.ended, j.deliveries = nil, nil, nil
	j.mu.Unlock()
	if len(started)+len(ended)+len(deliveries) == 0 {
		return
	}
	if err := j.write(ctx, started, ended, deliveries); err != nil {
		slog.Warn("journal not written: tried again", "error", err)
		j.mu.Lock()
		j.started, j.ended, j.deliveries = append(started, j.started...), append(ended, j.ended...), append(deliveries, j.deliveries...)
		j.mu.Unlock()
		sleep(ctx, 200*time.Millisecond)
	}
}

func (j *journal) write(ctx context.Context, started [][]any, ended []end, deliveries [][]any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
			return err
		}
		if len(started) > 0 {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"call"}, []string{"id", "key", "worker", "claimed", "lease_ms", "started"}, pgx.CopyFromRows(started))
			if err != nil {
				return err
			}
		}
		if len(deliveries) > 0 {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"delivery"},
				[]string{"key", "worker", "at", "topic", "partition", "position", "outcome", "action", "attempts", "reason"}, pgx.CopyFromRows(deliveries))
			if err != nil {
				return err
			}
		}
		if len(ended) == 0 {
			return nil
		}
		ids, at, said := make([]int64, len(ended)), make([]time.Time, len(ended)), make([]string, len(ended))
		for i, e := range ended {
			ids[i], at[i], said[i] = e.id, e.at, e.said
		}
		_, err := tx.Exec(ctx, `INSERT INTO call_end SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[])`, ids, at, said)
		return err
	})
}
