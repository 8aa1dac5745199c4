package consumer

import (
	"context"
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// TxBatch is Tx for a function of several messages, at most Route.BatchSize, within one transaction. It returns one
// result for each message, in their order: make([]error, len(ms)) is success for all, and a message without a
// result has failed with RETRYABLE. Where one fails, everything is rolled back and the function is called again
// without that one; so it may be called several times, and one of its transactions is committed. (CONS-008)
func TxBatch[T any, P pointer[M], M any](fn func(ctx context.Context, tx T, ms []P) []error, routes ...Route) Handler {
	h := handlerOf[P](guard.Tx, fn == nil, routes)
	h.bind = func(b *binding) {
		s, err := transactor[T](b.store)
		if err != nil {
			b.err = err
			return
		}
		mover, err := newMover(b, P(new(M)))
		if err != nil {
			b.err = err
			return
		}
		g, format := b.guard, b.route.Format
		b.batch = func(ctx context.Context, ds []*guard.Delivery) {
			guard.RunTxBatch(ctx, g, s, ds, func(ctx context.Context, tx T, ds []*guard.Delivery) []error {
				return callBatch(ctx, format, ds, func(d *guard.Delivery, m P) error {
					if mover == nil {
						return nil
					}
					return mover.apply(ctx, tx, d, m, nil)
				}, func(ctx context.Context, ms []P) []error { return fn(ctx, tx, ms) })
			})
		}
	}
	return h
}

// IdempotentBatch is Idempotent for a function of several messages, at most Route.BatchSize. It returns one result
// for each message, in their order: make([]error, len(ms)) is success for all, and a message without a result has
// failed with RETRYABLE. BatchKeys(ctx) are their keys. (CONS-008)
func IdempotentBatch[P pointer[M], M any](fn func(ctx context.Context, ms []P) []error, routes ...Route) Handler {
	h := handlerOf[P](guard.Idempotent, fn == nil, routes)
	h.bind = func(b *binding) {
		if b.route.State != nil {
			b.err = errors.New("a batch handler in mode Idempotent has no State table: use consumer.Idempotent or consumer.TxBatch")
			return
		}
		g, format := b.guard, b.route.Format
		b.batch = func(ctx context.Context, ds []*guard.Delivery) {
			g.RunBatch(ctx, ds, func(ctx context.Context, ds []*guard.Delivery) []error {
				return callBatch(ctx, format, ds, func(*guard.Delivery, P) error { return nil }, fn)
			})
		}
	}
	return h
}

// batchKeys is where the keys of a batch are in its context.
type batchKeys struct{}

// BatchKeys are, in a batch handler, the idempotency keys of its messages, in their order: each to be passed on with
// what the message causes, as guard.KeyOf in other handlers.
func BatchKeys(ctx context.Context) []string {
	keys, _ := ctx.Value(batchKeys{}).([]string)
	return keys
}

// callBatch decodes what of a batch can be decoded, asks before whether each may run, and calls fn for those that
// may. It gives a result for every delivery.
func callBatch[P pointer[M], M any](ctx context.Context, f payload.Format, ds []*guard.Delivery, before func(*guard.Delivery, P) error, fn func(context.Context, []P) []error) []error {
	results := make([]error, len(ds))
	ms, at, keys := make([]P, 0, len(ds)), make([]int, 0, len(ds)), make([]string, 0, len(ds))
	for i, d := range ds {
		m, err := decodedSafely[P](f, d)
		if err == nil {
			err = before(d, m)
		}
		if results[i] = err; err == nil {
			ms, at, keys = append(ms, m), append(at, i), append(keys, d.Key)
		}
	}
	if len(ms) == 0 {
		return results
	}
	given := fn(context.WithValue(ctx, batchKeys{}, keys), ms)
	for j, i := range at {
		if j < len(given) {
			results[i] = given[j]
		} else {
			results[i] = &idem.Failure{Code: guard.CodeNoResult, Err: fmt.Errorf("%d results for %d messages: the handler gave none for this one", len(given), len(ms))}
		}
	}
	return results
}

// decodedSafely is decoded; a payload that makes the decoder panic is one that cannot be decoded, and does not take
// the others of its batch along.
func decodedSafely[P pointer[M], M any](f payload.Format, d *guard.Delivery) (m P, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &idem.Failure{Outcome: idem.OutcomeMalformed, Code: string(idem.CodePayloadInvalid), Err: fmt.Errorf("the decoder panics: %v", p)}
		}
	}()
	return decoded[P](f, d)
}
