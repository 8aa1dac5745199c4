package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func (w *writer) writeDeadLetter(d *store.DeadLetter) error {
	_, err := w.exec("dead_letter_write", d.Scope, d.Key, d.EventType, d.BizKey, d.EventID,
		d.SourceTopic, d.SourcePartition, d.SourceOffset, d.RedriveCount, d.RetryCount, d.HoldCount, d.Outcome.String(), d.Reason,
		d.Topic, d.MessageKey, store.EncodeHeaders(d.Headers), d.Payload, w.now.UnixMilli())
	return err
}

// ListDeadLetters gives dead letters in the order of IDs.
func (s *Store) ListDeadLetters(ctx context.Context, f store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	var letters []store.DeadLetter
	rows, err := s.reads["dead_letter_list"].QueryContext(ctx, append(filterArgs(&f), after, max(limit, 0))...)
	if err == nil {
		letters, err = scanAll(rows, scanDeadLetter)
	}
	return letters, named("list dead letters", err)
}

func filterArgs(f *store.DeadLetterFilter) []any {
	return []any{f.Scope, f.Key, f.EventType, f.Outcome, f.ReasonPrefix, msOf(f.Since), msOf(f.Until), f.Redriven}
}

func scanDeadLetter(rows *sql.Rows) (store.DeadLetter, error) {
	var d store.DeadLetter
	var outcome, headers string
	var created, redriven int64
	var noKey, noPayload bool
	err := rows.Scan(&d.ID, &d.Scope, &d.Key, &d.EventType, &d.BizKey, &d.EventID,
		&d.SourceTopic, &d.SourcePartition, &d.SourceOffset, &d.RedriveCount, &d.RetryCount, &d.HoldCount,
		&outcome, &d.Reason, &d.Topic, &d.MessageKey, &headers, &d.Payload, &created, &redriven, &noKey, &noPayload)
	if err != nil {
		return d, err
	}
	known := false
	if d.Outcome, known = idem.ParseOutcome(outcome); !known {
		d.OtherOutcome = outcome
	}
	d.CreatedAt, d.RedrivenAt = timeOf(created), timeOf(redriven)
	d.MessageKey, d.Payload = bytesOf(d.MessageKey, noKey), bytesOf(d.Payload, noPayload)
	if d.Headers, err = store.DecodeHeaders(headers); err != nil {
		return d, fmt.Errorf("dead letter %d: %w", d.ID, err)
	}
	return d, nil
}

// CountDeadLetters counts them.
func (s *Store) CountDeadLetters(ctx context.Context, f store.DeadLetterFilter) (int64, error) {
	n := int64(0)
	err := s.reads["dead_letter_count"].QueryRowContext(ctx, filterArgs(&f)...).Scan(&n)
	return n, named("count dead letters", err)
}

// Redrive writes the delivery of each dead letter that still waits. (CONS-022)
func (s *Store) Redrive(ctx context.Context, ids []int64, deliveries []store.Retry) ([]bool, error) {
	if len(ids) != len(deliveries) {
		return nil, fmt.Errorf("redrive %d dead letters: there are %d deliveries, and each needs one", len(ids), len(deliveries))
	}
	done := make([]bool, len(ids))
	err := s.write(ctx, func() string { return fmt.Sprintf("redrive %d dead letters", len(ids)) }, func(w *writer) error {
		for i, id := range ids {
			n, err := w.exec("dead_letter_redriven", id, w.now.UnixMilli())
			if err != nil {
				return err
			}
			if done[i] = n == 1; !done[i] {
				continue
			}
			r := deliveries[i]
			r.Status = store.RetryPending
			if _, err := w.writeRetry(&r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// DropDeadLetters removes dead letters.
func (s *Store) DropDeadLetters(ctx context.Context, ids []int64) (int, error) {
	n := 0
	err := s.write(ctx, func() string { return fmt.Sprintf("drop %d dead letters", len(ids)) }, func(w *writer) error {
		for _, id := range ids {
			dropped, err := w.exec("dead_letter_drop", id)
			if err != nil {
				return err
			}
			n += int(dropped)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// DeadLetterStats counts those that wait, in the order of scope and event type.
func (s *Store) DeadLetterStats(ctx context.Context) ([]store.DeadLetterStats, error) {
	stats, err := s.deadLetterStats(ctx)
	if err != nil {
		return nil, named("count dead letters", err)
	}
	return stats, nil
}

func (s *Store) deadLetterStats(ctx context.Context) ([]store.DeadLetterStats, error) {
	rows, err := s.reads["dead_letter_stats"].QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var stats []store.DeadLetterStats
	for rows.Next() {
		var g store.DeadLetterStats
		var oldest int64
		if err := rows.Scan(&g.Scope, &g.EventType, &g.Count, &oldest); err != nil {
			return nil, err
		}
		g.Oldest = timeOf(oldest)
		stats = append(stats, g)
	}
	return stats, rows.Err()
}
