package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Tx is a handler's transaction. What it does is done when it commits, in one step, or not at all.
type Tx struct {
	completions []store.Completion
	first       [1]store.Completion // the room of completions, which are one for the most part
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
	tx.completions = tx.first[:0]
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := s.begin(ctx, "commit", 0, ""); err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	if lost := s.completeAll(tx.completions, now); lost != nil {
		return fmt.Errorf("commit: key %q: %w", lost.Lease.Key, store.ErrFenced)
	}
	s.putOutgoing(tx.outgoing, now)
	for _, effect := range tx.effects {
		effect()
	}
	return nil
}

// completeAll completes claims where all are still held; else it does nothing, and gives one that is not.
func (s *Store) completeAll(all []store.Completion, now time.Time) (lost *store.Completion) {
	if len(all) == 1 { // looks its record up once
		if !s.complete(&all[0], now) {
			return &all[0]
		}
		return nil
	}
	for i := range all {
		if _, _, ok := s.held(&all[i].Lease, now); !ok {
			return &all[i]
		}
	}
	for i := range all {
		s.complete(&all[i], now)
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
