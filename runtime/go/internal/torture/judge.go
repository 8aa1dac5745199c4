//go:build unix

package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/internal/history"
)

// readHistory reads what was observed.
func readHistory(ctx context.Context, db *pgxpool.Pool) (*history.History, error) {
	h := &history.History{Unordered: map[string]bool{}}
	for _, read := range []func(context.Context, *pgxpool.Pool, *history.History) error{readProduced, readCalls, readEffects, readDeadLetters, readCommits, readRedriven} {
		if err := read(ctx, db, h); err != nil {
			return nil, err
		}
	}
	return h, nil
}

var modeOf = map[string]history.Mode{order: history.Guarded, outside: history.Idempotent}

// ordered are the kinds whose lanes have an order: by their route, or by the state of the row.
var ordered = map[string]bool{blocked: true, parked: true, order: true}

func readProduced(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var p history.Produced
	var kind string
	var doubt bool
	return each(ctx, db, `SELECT key, kind, lane, seq, acknowledged, doubt FROM produced`, []any{&p.Key, &kind, &p.Lane, &p.Seq, &p.Acknowledged, &doubt}, func() {
		p.Mode = modeOf[kind]
		// A message that nobody was told of may arrive at any time: it has no place.
		if !ordered[kind] || !p.Acknowledged {
			p.Lane = ""
		}
		h.Produced = append(h.Produced, p)
	})
}

// readCalls has each call begin with the claim that it was made under.
func readCalls(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var c history.Call
	var ended *time.Time
	var lease int64
	return each(ctx, db, `SELECT key, worker, claimed, lease_ms, ended FROM call LEFT JOIN call_end USING (id) WHERE claimed IS NOT NULL`,
		[]any{&c.Key, &c.Worker, &c.Start, &lease, &ended}, func() {
			c.Lease, c.End = time.Duration(lease)*time.Millisecond, time.Time{}
			if ended != nil {
				c.End = *ended
			}
			h.Calls = append(h.Calls, c)
		})
}

func readEffects(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var e history.Effect
	var call int64
	return each(ctx, db, `SELECT key, place, call FROM effect ORDER BY n`, []any{&e.Key, &e.Order, &call}, func() {
		e.Call = int(call)
		h.Effects = append(h.Effects, e)
	})
}

func readDeadLetters(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var l history.DeadLetter
	return each(ctx, db, `SELECT idempotency_key, redriven_at IS NOT NULL FROM dead_letter`, []any{&l.Key, &l.Redriven}, func() {
		h.DeadLetters = append(h.DeadLetters, l)
	})
}

func readCommits(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var c history.Commit
	return each(ctx, db, `SELECT grp, topic, partition, place FROM committed ORDER BY n`, []any{&c.Group, &c.Topic, &c.Partition, &c.Offset}, func() {
		h.Commits = append(h.Commits, c)
	})
}

func readRedriven(ctx context.Context, db *pgxpool.Pool, h *history.History) error {
	var key string
	return each(ctx, db, `SELECT key FROM redriven`, []any{&key}, func() { h.Unordered[key] = true })
}

func each(ctx context.Context, db *pgxpool.Pool, query string, into []any, row func(), arguments ...any) error {
	rows, err := db.Query(ctx, query, arguments...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, func() error { row(); return nil })
	return err
}
