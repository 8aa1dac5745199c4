package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

type deadID struct {
	scope, topic string
	partition    int32
	offset       int64
}

// deadRows are the dead letters that a transaction writes, each once.
type deadRows struct {
	rows []*store.DeadLetter
	ids  []deadID
	at   map[deadID]int
}

// add takes the later life of two of the same delivery, else the first, as the table does.
func (b *deadRows) add(d *store.DeadLetter) {
	id := deadID{text(d.Scope), text(d.SourceTopic), d.SourcePartition, d.SourceOffset}
	if i, twice := b.at[id]; twice {
		if cmp.Compare(d.RedriveCount, b.rows[i].RedriveCount) > 0 {
			b.rows[i] = d
		}
		return
	}
	if b.at == nil {
		b.at = make(map[deadID]int)
	}
	b.at[id] = len(b.rows)
	b.rows, b.ids = append(b.rows, d), append(b.ids, id)
}

func (b *deadRows) write(w *work) {
	n := len(b.rows)
	if n == 0 {
		return
	}
	var (
		scopes, keys, types, bizKeys, ids    = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		sources, outcomes, reasons           = make([]string, n), make([]string, n), make([]string, n)
		topics, headers                      = make([]string, n), make([]string, n)
		partitions, redrives, retries, holds = make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
		offsets                              = make([]int64, n)
		messageKeys, payloads                = make([][]byte, n), make([][]byte, n)
	)
	for i, d := range b.rows {
		id := b.ids[i]
		scopes[i], sources[i], partitions[i], offsets[i] = id.scope, id.topic, id.partition, id.offset
		keys[i], types[i], bizKeys[i], ids[i] = text(d.Key), text(d.EventType), text(d.BizKey), text(d.EventID)
		redrives[i], retries[i], holds[i] = d.RedriveCount, d.RetryCount, d.HoldCount
		outcomes[i], reasons[i], topics[i] = d.Outcome.String(), text(d.Reason), text(d.Topic)
		headers[i], messageKeys[i], payloads[i] = store.EncodeHeaders(d.Headers), d.MessageKey, d.Payload
	}
	w.queue("dead_put", scopes, keys, types, bizKeys, ids, sources, partitions, offsets, redrives, retries, holds, outcomes, reasons, topics,
		headers, messageKeys, payloads)
}

// columnsOfFilter are the first parameters of dead_list and dead_count.
func columnsOfFilter(f *store.DeadLetterFilter) []any {
	return []any{f.Scope, f.Key, f.EventType, f.Outcome, f.ReasonPrefix, present(f.Since), present(f.Until), f.Redriven}
}

// present is nil for a time that is not there.
func present(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// ListDeadLetters gives dead letters in the order of IDs.
func (c *core) ListDeadLetters(ctx context.Context, f store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	letters, err := list(ctx, c, customPlan, "dead_list", scanDead, append(columnsOfFilter(&f), after, max(limit, 0))...)
	return letters, named("list dead letters", err)
}

// RecentDeadLetters gives dead letters without their payloads, newest first.
func (c *core) RecentDeadLetters(ctx context.Context, f store.DeadLetterFilter, after store.Cursor, limit int) ([]store.DeadLetter, error) {
	statement, args := "dead_recent", append(columnsOfFilter(&f), present(after.CreatedAt), after.ID, max(limit, 0), f.Digests)
	// Which rows have a detail, only the index of those that wait knows, and that of keys is better.
	if strings.Contains(f.ReasonPrefix, ":") && !f.Redriven && f.Key == "" {
		reasons, err := list(ctx, c, "", "dead_reasons", pgx.RowTo[string], f.ReasonPrefix, manyReasons)
		if err != nil {
			return nil, named("list dead letters", err)
		}
		if len(reasons) < manyReasons { // else nearly each is of its own, and rows are read in the order of the list
			statement, args = "dead_detail", append(args, reasons)
		}
	}
	letters, err := list(ctx, c, customPlan, statement, scanListedDead, args...)
	return letters, named("list dead letters", err)
}

// manyReasons are too many to look for the newest dead letters of each.
const manyReasons = 1000

func scanDead(row pgx.CollectableRow) (d store.DeadLetter, err error) {
	err = scanLetter(row, &d, &d.Payload)
	return d, err
}

func scanListedDead(row pgx.CollectableRow) (d store.DeadLetter, err error) {
	err = scanLetter(row, &d, &d.PayloadBytes, &d.PayloadSHA256)
	return d, err
}

// scanLetter reads a row, and its payload or what is told of it into what is given.
func scanLetter(row pgx.CollectableRow, d *store.DeadLetter, payload ...any) error {
	var outcome, headers string
	var redriven *time.Time
	columns := append([]any{
		&d.ID, &d.Scope, &d.Key, &d.EventType, &d.BizKey, &d.EventID, &d.SourceTopic, &d.SourcePartition, &d.SourceOffset,
		&d.RedriveCount, &d.RetryCount, &d.HoldCount, &outcome, &d.Reason, &d.Topic, &d.MessageKey, &headers,
	}, payload...)
	err := row.Scan(append(columns, &d.CreatedAt, &redriven)...)
	if redriven != nil {
		d.RedrivenAt = *redriven
	}
	known := false
	if d.Outcome, known = idem.ParseOutcome(outcome); !known {
		d.OtherOutcome = outcome
	}
	d.Headers = headersOf(headers, fmt.Sprintf("dead_letter %d", d.ID))
	return err
}

// CountDeadLetters counts them.
func (c *core) CountDeadLetters(ctx context.Context, f store.DeadLetterFilter) (n int64, err error) {
	err = c.transact(ctx, work{plans: customPlan}, func(w *work) error {
		w.queue("dead_count", columnsOfFilter(&f)...).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		return nil
	})
	return n, named("count dead letters", err)
}

// Redrive writes the delivery of each dead letter that still waits.
func (c *core) Redrive(ctx context.Context, ids []int64, deliveries []store.Retry) ([]bool, error) {
	if len(ids) != len(deliveries) {
		return nil, fmt.Errorf("redrive %d dead letters: %d deliveries, one for each is needed", len(ids), len(deliveries))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	done := make([]bool, len(ids))
	waiting := make(map[int64]bool, len(ids))
	err := c.transact(ctx, work{}, func(w *work) error {
		clear(waiting)
		clear(done)
		w.queue("dead_redrive", ids).Query(func(rows pgx.Rows) error {
			var id int64
			_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
				waiting[id] = true
				return nil
			})
			return err
		})
		return nil
	}, func(w *work) error {
		var rows retryRows
		for i, id := range ids {
			if done[i] = waiting[id]; done[i] {
				waiting[id] = false
				rows.add(&deliveries[i], deliveries[i].Lane, store.RetryPending)
			}
		}
		rows.write(w)
		return nil
	})
	if err != nil {
		return nil, named(fmt.Sprintf("redrive %d dead letters", len(ids)), err)
	}
	return done, nil
}

// DropDeadLetters removes dead letters.
func (c *core) DropDeadLetters(ctx context.Context, ids []int64) (int, error) {
	n, err := c.change(ctx, "dead_drop", ids)
	if err != nil {
		return 0, named(fmt.Sprintf("drop %d dead letters", len(ids)), err)
	}
	return n, nil
}

// DeadLetterStats counts those that wait, in the order of scope and event type.
func (c *core) DeadLetterStats(ctx context.Context) ([]store.DeadLetterStats, error) {
	stats, err := list(ctx, c, "", "dead_stats", pgx.RowToStructByPos[store.DeadLetterStats])
	return stats, named("count dead letters", err)
}
