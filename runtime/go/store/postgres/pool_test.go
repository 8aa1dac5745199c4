package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// A consumer has 16 handlers by default; each may hold a transaction while another claims.
func TestOpenHasConnectionsForAConsumersHandlers(t *testing.T) {
	t.Parallel()
	s, err := postgres.Open(t.Context(), realtest.Postgres(t), postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const handlers = 16
	var begun atomic.Int32
	all := make(chan struct{})
	var group errgroup.Group
	for range handlers {
		group.Go(func() error {
			return s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
					return err
				}
				if begun.Add(1) == handlers {
					close(all)
				}
				select {
				case <-all:
				case <-ctx.Done():
				}
				return ctx.Err()
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("%d of %d transactions at a time: %v", begun.Load(), handlers, err)
	}
}
