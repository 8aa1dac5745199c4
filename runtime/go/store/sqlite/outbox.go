package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Store puts messages into the outbox.
func (s *Store) Store(ctx context.Context, messages []store.Outgoing) error {
	if len(messages) == 0 {
		return nil
	}
	return s.write(ctx, func() string { return fmt.Sprintf("store %d messages in the outbox", len(messages)) }, func(w *writer) error {
		for i := range messages {
			if err := w.storeOutgoing(&messages[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *writer) storeOutgoing(m *store.Outgoing) error {
	_, err := w.exec("outbox_write", m.Topic, m.MessageKey, store.EncodeHeaders(m.Headers), m.Payload, w.now.UnixMilli())
	return err
}

// Stored says which of the biz keys have rows.
func (s *Store) Stored(ctx context.Context, topic string, bizKeys [][]byte) ([]bool, error) {
	stored := make([]bool, len(bizKeys))
	for i, key := range bizKeys {
		if key == nil {
			continue
		}
		if err := s.reads["outbox_stored"].QueryRowContext(ctx, topic, key).Scan(&stored[i]); err != nil {
			return nil, named(fmt.Sprintf("look for %d biz keys in the outbox", len(bizKeys)), err)
		}
	}
	return stored, nil
}

// ClaimOutgoing claims the first rows of each biz key. Rows without one are in no order.
func (s *Store) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	claimed, err := claimRows(ctx, s, "claim rows of the outbox", "outbox_claim", token, limit, lease, scanOutgoing)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claimed, func(a, b store.Outgoing) int { return cmp.Compare(a.ID, b.ID) })
	return claimed, nil
}

func scanOutgoing(rows *sql.Rows) (store.Outgoing, error) {
	var m store.Outgoing
	var headers string
	var created, next int64
	var noKey, noPayload bool
	err := rows.Scan(&m.ID, &m.Topic, &m.MessageKey, &headers, &m.Payload, &created, &m.Attempts, &m.Failed, &m.LastError,
		&next, &m.Token, &noKey, &noPayload)
	if err != nil {
		return m, err
	}
	m.CreatedAt, m.NextAt = timeOf(created), timeOf(next)
	m.MessageKey, m.Payload = bytesOf(m.MessageKey, noKey), bytesOf(m.Payload, noPayload)
	if m.Headers, err = store.DecodeHeaders(headers); err != nil {
		return m, fmt.Errorf("row %d: %w", m.ID, err)
	}
	return m, nil
}

// Sent removes rows.
func (s *Store) Sent(ctx context.Context, token string, ids []int64) error {
	return s.outgoing(ctx, "remove", token, ids, func(w *writer, id int64) error {
		_, err := w.exec("outbox_sent", id, token)
		return err
	})
}

// NotSent records a try that failed, or with no reason gives the claim back.
func (s *Store) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	return s.outgoing(ctx, "postpone", token, ids, func(w *writer, id int64) error {
		next := w.now.Add(due).UnixMilli()
		if reason == "" {
			_, err := w.exec("outbox_give_back", id, token, next)
			return err
		}
		_, err := w.exec("outbox_not_sent", id, token, reason, next, failed)
		return err
	})
}

// outgoing changes rows that token has claimed.
func (s *Store) outgoing(ctx context.Context, what, token string, ids []int64, change func(w *writer, id int64) error) error {
	if len(ids) == 0 || token == "" {
		return nil
	}
	return s.write(ctx, func() string { return fmt.Sprintf("%s %d rows of the outbox", what, len(ids)) }, func(w *writer) error {
		for _, id := range ids {
			if err := change(w, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// RetryFailed makes the first failed rows due again.
func (s *Store) RetryFailed(ctx context.Context, limit int) (int, error) {
	n := int64(0)
	err := s.write(ctx, func() string { return "retry failed rows of the outbox" }, func(w *writer) (err error) {
		n, err = w.exec("outbox_retry_failed", limit, w.now.UnixMilli())
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// OutboxStats counts rows.
func (s *Store) OutboxStats(ctx context.Context) (store.OutboxStats, error) {
	var stats store.OutboxStats
	var oldest sql.NullInt64
	if err := s.reads["outbox_stats"].QueryRowContext(ctx).Scan(&stats.Pending, &stats.Failed, &oldest); err != nil {
		return stats, named("count the outbox", err)
	}
	if oldest.Valid {
		stats.Oldest = timeOf(oldest.Int64)
	}
	return stats, nil
}
