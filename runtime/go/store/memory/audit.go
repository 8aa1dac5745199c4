package memory

import (
	"context"
	"slices"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Count adds to the present hour.
func (s *Store) Count(ctx context.Context, counts []store.Count) error {
	if err := s.begin(ctx, "write", len(counts), "counts"); err != nil {
		return err
	}
	defer s.mu.Unlock()
	hour := store.Hour(s.now())
	for _, c := range counts {
		n := c.N
		c.Hour, c.N = hour, 0
		s.counts[c] += n
	}
	return nil
}

// Counts reads what was counted.
func (s *Store) Counts(ctx context.Context, f store.CountFilter) ([]store.Count, error) {
	if err := s.begin(ctx, "read counts", 0, ""); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	since := store.Hour(f.Since)
	sums := make(map[store.Count]int64)
	for c, n := range s.counts {
		if c.Hour.Before(since) || !f.Until.IsZero() && !c.Hour.Before(f.Until) || f.Scope != "" && f.Scope != c.Scope {
			continue
		}
		sums[f.Of(c)] += n
	}
	list := make([]store.Count, 0, len(sums))
	for c, n := range sums {
		c.N = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b store.Count) int { return a.Compare(&b) })
	return list, nil
}

// CleanCounts removes old hours.
func (s *Store) CleanCounts(ctx context.Context, limit int) (int, error) {
	if err := s.begin(ctx, "clean", limit, "counts"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	before, n := s.now().Add(-store.AuditRetention), 0
	for c := range s.counts {
		if n == limit {
			break
		}
		if c.Hour.Before(before) {
			delete(s.counts, c)
			n++
		}
	}
	return n, nil
}
