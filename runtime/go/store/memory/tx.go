package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Tx is a handler's transaction. What it does is done when it commits, in one step, or not at all.
type Tx struct {
	completions []store.Completion
	outgoing    []store.Outgoing
	effects     []func()
}

// Do has effect run when the transaction commits, in the order of the calls, under the store's lock: it
// must not call the store.
func (tx *Tx) Do(effect func()) { tx.effects = append(tx.effects, effect) }

// InTx runs fn, and commits what it did where it returns nil. It returns store.ErrFenced where a claim
// that fn completed was lost in the meantime, and then nothing is done.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	if err := s.Check(ctx); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	tx := new(Tx)
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := s.begin(ctx, "commit", 0, ""); err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	for i := range tx.completions {
		if _, _, ok := s.held(&tx.completions[i].Lease, now); !ok {
			return fmt.Errorf("commit: key %q: %w", tx.completions[i].Lease.Key, store.ErrFenced)
		}
	}
	for i := range tx.completions {
		s.complete(&tx.completions[i], now)
	}
	s.putOutgoing(tx.outgoing, now)
	for _, effect := range tx.effects {
		effect()
	}
	return nil
}

// CompleteTx completes a claim when tx commits, where it is still held by then.
func (s *Store) CompleteTx(ctx context.Context, tx *Tx, c store.Completion) error {
	if err := checkResult(&c); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	if err := s.begin(ctx, "complete", 0, ""); err != nil {
		return err
	}
	defer s.mu.Unlock()
	again := slices.ContainsFunc(tx.completions, func(o store.Completion) bool { return o.Lease == c.Lease })
	if _, _, ok := s.held(&c.Lease, s.now()); !ok || c.Lease.Owner == "" || again {
		return fmt.Errorf("complete key %q: %w", c.Lease.Key, store.ErrFenced)
	}
	tx.completions = append(tx.completions, c)
	return nil
}

// StoreTx puts messages into the outbox when tx commits.
func (s *Store) StoreTx(_ context.Context, tx *Tx, messages []store.Outgoing) error {
	tx.outgoing = append(tx.outgoing, messages...)
	return nil
}
