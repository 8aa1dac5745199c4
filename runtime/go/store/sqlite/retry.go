package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// writeRetry says whether the row was written: one that is further on already stays. (DEDUP-027)
func (w *writer) writeRetry(r *store.Retry) (bool, error) {
	due := w.now.Add(max(r.Due, 0)).UnixMilli()
	n, err := w.exec("retry_write", r.Scope, r.Key, r.EventType, r.BizKey, r.EventID,
		r.SourceTopic, r.SourcePartition, r.SourceOffset, r.RedriveCount, r.RetryCount, r.HoldCount, r.Action.String(), r.Reason,
		r.Topic, r.MessageKey, store.EncodeHeaders(r.Headers), r.Payload, due, string(r.Status), r.Lane.Topic, r.Lane.BizKey, w.now.UnixMilli())
	return n == 1, err
}

// ClaimDue claims rows that are due.
func (s *Store) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	claimed, err := claimRows(ctx, s, "claim due retries", "retry_claim", token, limit, lease, scanRetry)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claimed, func(a, b store.Retry) int {
		return cmp.Or(a.NextRetryTime.Compare(b.NextRetryTime), cmp.Compare(a.ID, b.ID))
	})
	return claimed, nil
}

func scanRetry(rows *sql.Rows) (store.Retry, error) {
	var r store.Retry
	var action, headers, status string
	var next, created int64
	var noKey, noPayload bool
	err := rows.Scan(&r.ID, &r.Scope, &r.Key, &r.EventType, &r.BizKey, &r.EventID,
		&r.SourceTopic, &r.SourcePartition, &r.SourceOffset, &r.RedriveCount, &r.RetryCount, &r.HoldCount,
		&action, &r.Reason, &r.Topic, &r.MessageKey, &headers, &r.Payload, &next, &status,
		&r.Lane.Topic, &r.Lane.BizKey, &r.Token, &r.Publications, &created, &noKey, &noPayload)
	if err != nil {
		return r, err
	}
	known := false
	if r.Action, known = idem.ParseAction(action); !known {
		return r, fmt.Errorf("row %d has the action %q", r.ID, action)
	}
	r.Status, r.NextRetryTime, r.CreatedAt = store.RetryStatus(status), timeOf(next), timeOf(created)
	r.MessageKey, r.Payload = bytesOf(r.MessageKey, noKey), bytesOf(r.Payload, noPayload)
	if r.Headers, err = store.DecodeHeaders(headers); err != nil {
		return r, fmt.Errorf("row %d: %w", r.ID, err)
	}
	return r, nil
}

// bytesOf tells null from empty, which the driver does not. (CONS-030)
func bytesOf(b []byte, null bool) []byte {
	if b == nil && !null {
		return []byte{}
	}
	return b
}

// MarkPublished removes rows.
func (s *Store) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	removed := make([]bool, len(marks))
	err := s.write(ctx, func() string { return fmt.Sprintf("mark %d retries published", len(marks)) }, func(w *writer) error {
		for i, m := range marks {
			if m.Token == "" {
				continue
			}
			n, err := w.exec("retry_mark", m.ID, m.Token, m.RedriveCount, m.Position)
			if err != nil {
				return err
			}
			removed[i] = n == 1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// Postpone gives claims back.
func (s *Store) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	return s.write(ctx, func() string { return fmt.Sprintf("postpone %d retries", len(marks)) }, func(w *writer) error {
		for _, m := range marks {
			if m.Token == "" {
				continue
			}
			if _, err := w.exec("retry_postpone", m.ID, m.Token, m.RedriveCount, m.Position, w.now.Add(due).UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextDue is how long until a row can be claimed.
func (s *Store) NextDue(ctx context.Context) (time.Duration, bool, error) {
	var due sql.NullInt64
	if err := s.reads["retry_next"].QueryRowContext(ctx).Scan(&due); err != nil {
		return 0, false, named("look for the next retry", err)
	}
	if !due.Valid {
		return 0, false, nil
	}
	return max(timeOf(due.Int64).Sub(s.now()), 0), true, nil
}

// Wake makes held rows due now, and says how many were not.
func (s *Store) Wake(ctx context.Context, scope, bizKey string) (int, error) {
	n := int64(0)
	err := s.write(ctx, func() string { return "wake the held messages of " + bizKey }, func(w *writer) (err error) {
		n, err = w.exec("retry_wake", scope, bizKey, w.now.UnixMilli())
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// CountRetries counts rows.
func (s *Store) CountRetries(ctx context.Context) (store.RetryCounts, error) {
	var c store.RetryCounts
	var oldest sql.NullInt64
	now := s.now()
	if err := s.reads["retry_count"].QueryRowContext(ctx, now.UnixMilli()).Scan(&c.Pending, &c.Parked, &oldest); err != nil {
		return c, named("count retries", err)
	}
	if oldest.Valid {
		c.OldestDue = now.Sub(timeOf(oldest.Int64))
	}
	return c, nil
}
