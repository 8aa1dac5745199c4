//go:build unix

package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// roles are the subcommands that the driver starts.
var roles = map[string]func(ctx context.Context, w *worker) error{
	"producer":  produce,
	"consumer":  consume,
	"scheduler": scheduleRetries,
	"relay":     relay,
	"sampler":   sample,
	"redriver":  redrive,
}

func scheduleRetries(ctx context.Context, w *worker) error {
	s, err := retry.NewScheduler(w.store, w.broker, retry.Config{
		Timeout: w.patience(), Lease: 4 * w.patience(), Poll: 300 * time.Millisecond, MaxDelay: 4 * time.Second, Sweep: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

func relay(ctx context.Context, w *worker) error {
	r, err := outbox.NewRelay(w.store, w.broker, outbox.RelayConfig{
		Timeout: w.patience(), Lease: 4 * w.patience(), Poll: 300 * time.Millisecond, Revive: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// patience is how long a publication may take. A bug in what follows from its end is found where that is soon.
func (w *worker) patience() time.Duration {
	if w.bug != "" {
		return time.Second
	}
	return 5 * time.Second
}

// sample writes down each change of a committed offset, and how far the groups are behind.
func sample(ctx context.Context, w *worker) error {
	type place struct {
		topic     string
		partition int32
	}
	last := map[place]int64{}
	for ; ctx.Err() == nil; sleep(ctx, 400*time.Millisecond) {
		for topic, group := range groupOf {
			lags, err := w.kafka.Lag(ctx, group, topicsOf(topic)...)
			if err != nil {
				slog.Warn("lag", "error", err)
				continue
			}
			var behind int64
			var rows [][]any
			for _, l := range lags {
				behind += l.Behind
				if at := (place{l.Topic, l.Partition}); l.Committed != last[at] {
					last[at] = l.Committed
					rows = append(rows, []any{group, l.Topic, l.Partition, l.Committed})
				}
			}
			for ctx.Err() == nil { // in the order in which they were seen
				err := pgx.BeginFunc(ctx, w.ledger, func(tx pgx.Tx) error {
					if _, err := tx.CopyFrom(ctx, pgx.Identifier{"committed"}, []string{"grp", "topic", "partition", "place"}, pgx.CopyFromRows(rows)); err != nil {
						return err
					}
					_, err := tx.Exec(ctx, `INSERT INTO lag VALUES ($1, $2, clock_timestamp()) ON CONFLICT (grp) DO UPDATE SET behind = $2, at = clock_timestamp()`, group, behind)
					return err
				})
				if err == nil {
					break
				}
				slog.Warn("sample", "error", err)
				sleep(ctx, 300*time.Millisecond)
			}
		}
	}
	return nil
}

// redrive gives dead letters another life now and then, all but those that can never succeed.
func redrive(ctx context.Context, w *worker) error {
	r, err := deadletter.New(w.store, w.store, deadletter.Config{Limit: -1, Batch: 20})
	if err != nil {
		return err
	}
	for ; ctx.Err() == nil; sleep(ctx, 5*time.Second) {
		var stop bool
		if err := w.ledger.QueryRow(ctx, `SELECT calm FROM control`).Scan(&stop); err != nil || stop {
			continue
		}
		for _, group := range groupOf {
			letters, err := w.store.ListDeadLetters(ctx, store.DeadLetterFilter{Scope: group}, 0, 200)
			if err != nil {
				slog.Warn("list", "error", err)
				continue
			}
			for i := range letters {
				l := &letters[i]
				if l.Outcome == idem.OutcomeMalformed || l.RedriveCount > 2 || !w.chance.in(3000) {
					continue
				}
				// Before, so that the ledger knows of each.
				if _, err := w.ledger.Exec(ctx, `INSERT INTO redriven VALUES ($1) ON CONFLICT DO NOTHING`, l.Key); err != nil {
					continue
				}
				if _, err := r.Run(ctx, store.DeadLetterFilter{Scope: group, Key: l.Key}); err != nil {
					slog.Warn("redrive", "error", err)
				}
			}
		}
	}
	return nil
}
