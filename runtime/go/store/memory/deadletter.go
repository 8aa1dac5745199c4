package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// deadID is a delivery. The place in the topic is not enough: a topic that was made anew counts from 0 again.
type deadID struct {
	scope, topic string
	partition    int32
	offset       int64
	key          string
	payload      [sha256.Size]byte
}

func idOfDead(d *store.DeadLetter) deadID {
	return deadID{d.Scope, d.SourceTopic, d.SourcePartition, d.SourceOffset, d.Key, sha256.Sum256(d.Payload)}
}

// putDead writes a dead letter. One of the same delivery that still waits stays as it is; one that was
// redriven, or is of an earlier life, is written anew, since this delivery ends once more.
func (s *Store) putDead(d *store.DeadLetter, now time.Time) {
	row := *d
	row.CreatedAt, row.RedrivenAt = now, time.Time{}
	if old := s.dead[idOfDead(d)]; old != nil {
		if old.RedrivenAt.IsZero() && d.RedriveCount <= old.RedriveCount {
			return
		}
		row.ID = old.ID
		*old = row
		return
	}
	s.lastDead++
	row.ID = s.lastDead
	s.dead[idOfDead(d)], s.deadByID[row.ID] = &row, &row
}

func selects(f *store.DeadLetterFilter, d *store.DeadLetter) bool {
	return (f.Scope == "" || f.Scope == d.Scope) &&
		(f.Key == "" || f.Key == d.Key) &&
		(f.EventType == "" || f.EventType == d.EventType) &&
		(f.Outcome == "" || f.Outcome == d.Outcome.String()) &&
		strings.HasPrefix(d.Reason, f.ReasonPrefix) &&
		(f.Since.IsZero() || !d.CreatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || d.CreatedAt.Before(f.Until)) &&
		(f.Redriven || d.RedrivenAt.IsZero())
}

// ListDeadLetters gives dead letters in the order of IDs.
func (s *Store) ListDeadLetters(ctx context.Context, f store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	if err := s.begin(ctx, "list dead letters", 0, ""); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []store.DeadLetter
	for id, d := range s.deadByID {
		if id > after && selects(&f, d) {
			found = append(found, *d)
		}
	}
	slices.SortFunc(found, func(a, b store.DeadLetter) int { return cmp.Compare(a.ID, b.ID) })
	return found[:min(len(found), max(limit, 0))], nil
}

// CountDeadLetters counts them.
func (s *Store) CountDeadLetters(ctx context.Context, f store.DeadLetterFilter) (int64, error) {
	if err := s.begin(ctx, "count dead letters", 0, ""); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := int64(0)
	for _, d := range s.dead {
		if selects(&f, d) {
			n++
		}
	}
	return n, nil
}

// Redrive writes the delivery of each dead letter that still waits.
func (s *Store) Redrive(ctx context.Context, ids []int64, deliveries []store.Retry) ([]bool, error) {
	if len(ids) != len(deliveries) {
		return nil, fmt.Errorf("redrive %d dead letters: %d deliveries, one for each is needed", len(ids), len(deliveries))
	}
	if err := s.begin(ctx, "redrive", len(ids), "dead letters"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	done := make([]bool, len(ids))
	for i, id := range ids {
		d := s.deadByID[id]
		if d == nil || !d.RedrivenAt.IsZero() {
			continue
		}
		row := deliveries[i]
		row.Status = store.RetryPending
		s.putRetry(&row, now)
		d.RedrivenAt = now
		done[i] = true
	}
	return done, nil
}

// DropDeadLetters removes dead letters.
func (s *Store) DropDeadLetters(ctx context.Context, ids []int64) (int, error) {
	if err := s.begin(ctx, "drop", len(ids), "dead letters"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := 0
	for _, id := range ids {
		if d := s.deadByID[id]; d != nil {
			delete(s.deadByID, id)
			delete(s.dead, idOfDead(d))
			n++
		}
	}
	return n, nil
}

// DeadLetterStats counts those that wait, in the order of scope and event type.
func (s *Store) DeadLetterStats(ctx context.Context) ([]store.DeadLetterStats, error) {
	if err := s.begin(ctx, "count dead letters", 0, ""); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	type group struct{ scope, eventType string }
	groups := make(map[group]store.DeadLetterStats)
	for _, d := range s.dead {
		if !d.RedrivenAt.IsZero() {
			continue
		}
		at := group{d.Scope, d.EventType}
		g, found := groups[at]
		if !found {
			g = store.DeadLetterStats{Scope: d.Scope, EventType: d.EventType, Oldest: d.CreatedAt}
		}
		g.Count++
		if d.CreatedAt.Before(g.Oldest) {
			g.Oldest = d.CreatedAt
		}
		groups[at] = g
	}
	stats := make([]store.DeadLetterStats, 0, len(groups))
	for _, g := range groups {
		stats = append(stats, g)
	}
	slices.SortFunc(stats, func(a, b store.DeadLetterStats) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.EventType, b.EventType))
	})
	return stats, nil
}
