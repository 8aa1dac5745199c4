package memory

import (
	"context"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

type outgoingRow struct {
	store.Outgoing
	until time.Time // the end of the relay's claim
}

// Store puts messages into the outbox.
func (s *Store) Store(ctx context.Context, messages []store.Outgoing) error {
	if err := s.begin(ctx, "store", len(messages), "messages"); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.putOutgoing(messages, s.now())
	return nil
}

func (s *Store) putOutgoing(messages []store.Outgoing, now time.Time) {
	for i := range messages {
		s.lastSent++
		row := &outgoingRow{Outgoing: messages[i]}
		row.ID, row.CreatedAt, row.NextAt = s.lastSent, now, now
		row.Attempts, row.Failed, row.LastError, row.Token = 0, false, "", ""
		s.outbox = append(s.outbox, row)
	}
}

// Stored says which of the biz keys have rows.
func (s *Store) Stored(ctx context.Context, topic string, bizKeys [][]byte) ([]bool, error) {
	if err := s.begin(ctx, "look up", len(bizKeys), "biz keys"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	there := make(map[string]bool)
	for _, row := range s.outbox {
		if row.Topic == topic && row.MessageKey != nil {
			there[string(row.MessageKey)] = true
		}
	}
	stored := make([]bool, len(bizKeys))
	for i, key := range bizKeys {
		stored[i] = key != nil && there[string(key)]
	}
	return stored, nil
}

// ClaimOutgoing claims the first rows of each biz key. Rows without one are in no order.
func (s *Store) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	if err := s.begin(ctx, "claim", limit, "outgoing messages"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	type queue struct{ topic, key string }
	blocked := make(map[queue]bool)
	var rows []store.Outgoing
	for _, row := range s.outbox {
		if len(rows) >= limit {
			break
		}
		q := queue{row.Topic, string(row.MessageKey)}
		ordered := row.MessageKey != nil
		if ordered && blocked[q] {
			continue
		}
		if row.Failed || row.NextAt.After(now) || row.Token != "" && row.until.After(now) {
			blocked[q] = blocked[q] || ordered
			continue
		}
		row.Token, row.until = token, now.Add(lease)
		rows = append(rows, row.Outgoing)
	}
	return rows, nil
}

// Sent removes rows.
func (s *Store) Sent(ctx context.Context, token string, ids []int64) error {
	if err := s.begin(ctx, "remove", len(ids), "sent messages"); err != nil {
		return err
	}
	defer s.mu.Unlock()
	sent := idSet(ids)
	s.outbox = slices.DeleteFunc(s.outbox, func(row *outgoingRow) bool {
		return sent[row.ID] && row.Token == token && token != ""
	})
	return nil
}

// NotSent records a try that failed, or with no reason gives the claim back.
func (s *Store) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	if err := s.begin(ctx, "postpone", len(ids), "outgoing messages"); err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	unsent := idSet(ids)
	for _, row := range s.outbox {
		if unsent[row.ID] && row.Token == token && token != "" {
			row.Token, row.NextAt = "", now.Add(due)
			if reason == "" { // it was not tried
				continue
			}
			row.Attempts++
			row.LastError, row.Failed = reason, failed
		}
	}
	return nil
}

// RetryFailed makes the first failed rows due again.
func (s *Store) RetryFailed(ctx context.Context, limit int) (int, error) {
	if err := s.begin(ctx, "retry", limit, "failed messages"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	now := s.now()
	n := 0
	for _, row := range s.outbox {
		if n >= limit {
			break
		}
		if row.Failed {
			row.Failed, row.Attempts, row.NextAt = false, 0, now
			n++
		}
	}
	return n, nil
}

// OutboxStats counts rows.
func (s *Store) OutboxStats(ctx context.Context) (store.OutboxStats, error) {
	if err := s.begin(ctx, "count outgoing messages", 0, ""); err != nil {
		return store.OutboxStats{}, err
	}
	defer s.mu.Unlock()
	var stats store.OutboxStats
	for _, row := range s.outbox {
		if row.Failed {
			stats.Failed++
		} else {
			stats.Pending++
		}
		if stats.Oldest.IsZero() || row.CreatedAt.Before(stats.Oldest) {
			stats.Oldest = row.CreatedAt
		}
	}
	return stats, nil
}

func idSet(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
