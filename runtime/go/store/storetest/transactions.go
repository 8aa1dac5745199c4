package storetest

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Transactions is a store's InTx, whatever its transactions are.
type Transactions struct {
	in      func(ctx context.Context, fn func(ctx context.Context, h handle) error) error
	effects func(ctx context.Context) ([]string, error)
}

// handle is a transaction that a handler has.
type handle struct {
	complete func(ctx context.Context, c store.Completion) error
	store    func(ctx context.Context, messages []store.Outgoing) error
	effect   func(ctx context.Context, name string) error
}

// TxOf tells the suite how a handler has an effect in a transaction of s, by its name, such as an INSERT
// into a table of the test's own, and which effects are there, in any order.
func TxOf[T any](s store.Transactor[T], effect func(ctx context.Context, tx T, name string) error,
	effects func(ctx context.Context) ([]string, error)) *Transactions {
	return &Transactions{
		effects: effects,
		in: func(ctx context.Context, fn func(ctx context.Context, h handle) error) error {
			return s.InTx(ctx, func(ctx context.Context, tx T) error {
				return fn(ctx, handle{
					complete: func(ctx context.Context, c store.Completion) error { return s.CompleteTx(ctx, tx, c) },
					store:    func(ctx context.Context, m []store.Outgoing) error { return s.StoreTx(ctx, tx, m) },
					effect:   func(ctx context.Context, name string) error { return effect(ctx, tx, name) },
				})
			})
		},
	}
}
