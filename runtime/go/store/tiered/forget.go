package tiered

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Forget makes keys new again, in the database and then in the memory, also where the memory was given up for
// a while: what it still knows it would answer when it is back. Where it cannot be told the error wraps
// ErrHintsRemain, and the number is that of the database.
func (s *Store[Tx]) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	n, err := s.Full.Forget(ctx, scope, keys)
	if err != nil || len(keys) == 0 {
		return n, err
	}
	if err := s.forgetHints(ctx, scope, keys); err != nil {
		return n, fmt.Errorf("forget %d keys: %w (%w)", len(keys), ErrHintsRemain, err)
	}
	return n, nil
}

// forgetHints leaves in the memory the fence that the database has by now: a success from before, which is
// still on its way, has a lower one.
func (s *Store[Tx]) forgetHints(ctx context.Context, scope string, keys []string) error {
	records, err := s.Full.Records(ctx, scope, keys)
	if err != nil {
		return err
	}
	leases := make([]store.Lease, len(keys))
	for i, key := range keys {
		leases[i] = store.Lease{Scope: scope, Key: key}
		if records[i] != nil {
			leases[i].Fence = records[i].Fence
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.ForgetTimeout)
	defer cancel()
	return s.hint.Forgotten(ctx, leases)
}
