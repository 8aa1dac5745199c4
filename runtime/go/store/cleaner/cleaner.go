// Package cleaner removes what a store need not keep any longer: dedup records behind their retention, and old hours
// of counts. Each consumer runs it, and so does idem worker for a store whose services do not. A loop of your own, on a
// guard.Guard, runs it beside. (DEDUP-005)
package cleaner

import (
	"context"
	"errors"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

const (
	every = time.Minute
	batch = 1000
)

// Run cleans until ctx ends: until nothing is left, then once a minute. cleaned is told how many records were removed,
// and hindered what went wrong, nil where nothing did.
func Run(ctx context.Context, s store.Store, cleaned func(records int), hindered func(error)) error {
	for {
		more, err := pass(ctx, s, cleaned)
		if ctx.Err() != nil {
			return nil
		}
		hindered(err)
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// pass removes a batch, and says whether there may be more. Hours wait until no record is left.
func pass(ctx context.Context, s store.Store, cleaned func(int)) (more bool, err error) {
	n, err := s.Clean(ctx, batch)
	if n > 0 {
		cleaned(n)
	}
	counts, ok := s.(store.Audit)
	if n >= batch || !ok {
		return n >= batch, err
	}
	hours, hindered := counts.CleanCounts(ctx, batch)
	return hours >= batch, errors.Join(err, hindered)
}
