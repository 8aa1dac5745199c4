package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/internal/sqltx"
	"github.com/idem-spec/idem/runtime/go/store"
)

// InTx runs fn in a transaction of the one writer: others wait until it returns. Within fn the store's other
// writing methods are ErrNested.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	var inner error
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		inner = fn(ctx, tx)
		return inner
	})
	if err != nil && inner == nil {
		return named("run a transaction", err)
	}
	return err
}

// CompleteTx makes records SUCCESS within tx, which may also be one that the caller began on the same file
// (with BEGIN IMMEDIATE: one that begins by reading cannot always go on to write).
func (s *Store) CompleteTx(ctx context.Context, tx *sql.Tx, completion store.Completion) error {
	if err := checkResult(&completion); err != nil {
		return err
	}
	done, err := s.within(ctx, tx).complete(&completion)
	if err != nil {
		return sqltx.Ended(ctx, named("complete within a transaction", err))
	}
	if !done {
		return fmt.Errorf("complete %s: %w", completion.Lease.Key, store.ErrFenced)
	}
	return nil
}

// StoreTx puts messages into the outbox within tx.
func (s *Store) StoreTx(ctx context.Context, tx *sql.Tx, messages []store.Outgoing) error {
	w := s.within(ctx, tx)
	for i := range messages {
		if err := w.storeOutgoing(&messages[i]); err != nil {
			return named("store a message in the outbox within a transaction", err)
		}
	}
	return nil
}

// within is a writer over a transaction that was given. The store's own statements serve only its own.
func (s *Store) within(ctx context.Context, tx *sql.Tx) *writer {
	w := &writer{tx: tx, now: s.now(), retention: s.config.Retention}
	if ctx.Value(nested{s}) == tx {
		w.prepared = s.writes
	}
	return w
}
