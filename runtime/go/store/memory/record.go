package memory

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Records reads records.
func (s *Store) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	if err := s.begin(ctx, "read", len(keys), "records"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	records := make([]*store.Record, len(keys))
	for i, key := range keys {
		if e := s.records.get(scope, key); e != nil {
			r := e.Record
			records[i] = &r
		}
	}
	return records, nil
}

// Forget leaves a tombstone of each key, so that fences never start again. (DEDUP-025)
func (s *Store) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	if err := s.begin(ctx, "forget", len(keys), "keys"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := 0
	for _, key := range keys {
		if e := s.records.get(scope, key); e != nil {
			s.bury(e)
			n++
		}
	}
	return n, nil
}

func (s *Store) bury(e *entry) {
	now := s.now()
	e.Record = e.Tombstone()
	e.UpdatedAt, e.ExpiresAt = now, now.Add(s.retention)
}

// Clean removes expired records. Of one that is PROCESSING a tombstone remains.
func (s *Store) Clean(ctx context.Context, limit int) (int, error) {
	if err := s.begin(ctx, "clean", limit, "records"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	now := s.now()
	n := 0
	for _, of := range s.records.scopes {
		for key, e := range of {
			if n >= limit {
				return n, nil
			}
			if e.ExpiresAt.After(now) {
				continue
			}
			if e.State == idem.StateProcessing {
				s.bury(e)
			} else {
				delete(of, key)
			}
			n++
		}
	}
	return n, nil
}
