package tiered

import (
	"context"
	"reflect"

	"github.com/idem-spec/idem/runtime/go/store"
)

// InTx runs fn in a transaction of the database. What it completed is noted in the memory once the commit has
// succeeded; where it has not, or nobody knows, the memory is told nothing.
func (s *Store[Tx]) InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	var done []store.Completion
	err := s.Full.InTx(ctx, func(ctx context.Context, tx Tx) error {
		done = nil // of an earlier try, which was rolled back
		defer s.watch(tx, &done)()
		return fn(ctx, tx)
	})
	if err == nil {
		s.succeeded(ctx, done)
	}
	return err
}

// CompleteTx makes a record SUCCESS within tx. In a transaction that is not InTx's, whose commit nobody tells
// of, the memory forgets the claim, so that others ask the database.
func (s *Store[Tx]) CompleteTx(ctx context.Context, tx Tx, c store.Completion) error {
	if err := s.Full.CompleteTx(ctx, tx, c); err != nil {
		return err
	}
	if mayBeNoted(&c.Lease) && !s.watched(tx, c) {
		s.failed(ctx, []store.Lease{c.Lease})
	}
	return nil
}

// watch has completions of tx collected until the function that it returns is called.
func (s *Store[Tx]) watch(tx Tx, done *[]store.Completion) func() {
	if !findable(tx) {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[tx] = done
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, tx)
	}
}

func (s *Store[Tx]) watched(tx Tx, c store.Completion) bool {
	if !findable(tx) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.open[tx]
	if done == nil {
		return false
	}
	*done = append(*done, c)
	return true
}

// findable says whether a transaction can be found again. Those of database/sql, pgx and store/memory can.
func findable(tx any) bool {
	t := reflect.TypeOf(tx)
	return t != nil && t.Comparable()
}
