package consumer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Tx is a handler whose effect and SUCCESS are one transaction, of the type that the store gives: *sql.Tx or
// pgx.Tx. One effect, whatever crashes. What the handler returns, if not nil, rolls it back. (DEDUP-032)
//
// The transaction is the runtime's to end. A pgx.Tx refuses Commit; a *sql.Tx cannot, and a handler that commits it
// and returns an error has its effect again at the next try. A handler that asks the store's own pool for a second
// connection may wait for one that other handlers hold: use tx, or a pool of its own.
func Tx[T any, P pointer[M], M any](fn func(ctx context.Context, tx T, m P) error, routes ...Route) Handler {
	h := handlerOf[P](guard.Tx, fn == nil, routes)
	h.bind = func(b *binding) {
		bindTx(b, func(ctx context.Context, tx T, d *guard.Delivery, m P) error { return fn(ctx, tx, m) })
	}
	return h
}

// TxResult is Tx with a result, []byte or a message, that is kept with SUCCESS and given to duplicates: at
// most store.MaxResult bytes.
func TxResult[T any, P pointer[M], M, R any](fn func(ctx context.Context, tx T, m P) (R, error), routes ...Route) Handler {
	h := handlerOf[P](guard.Tx, fn == nil, routes)
	h.bind = func(b *binding) {
		bindTx(b, func(ctx context.Context, tx T, d *guard.Delivery, m P) error {
			result, err := fn(ctx, tx, m)
			if err != nil {
				return err
			}
			d.Value, err = resultBytes(result)
			return err
		})
	}
	return h
}

func bindTx[T any, P pointer[M], M any](b *binding, fn func(ctx context.Context, tx T, d *guard.Delivery, m P) error) {
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
	b.run = func(ctx context.Context, d *guard.Delivery) {
		guard.RunTx(ctx, g, s, d, func(ctx context.Context, tx T) error {
			m, err := decoded[P](format, d)
			if err != nil {
				return err
			}
			if mover != nil {
				if err := mover.apply(ctx, tx, d, m, nil); err != nil {
					return err
				}
			}
			return fn(ctx, tx, d, m)
		})
	}
}

// transactor is the store as one of transactions of type T, or an error that says what it has instead.
func transactor[T any](s store.Store) (store.Transactor[T], error) {
	if t, ok := s.(store.Transactor[T]); ok {
		return t, nil
	}
	want := reflect.TypeFor[T]()
	if has := transactionOf(s); has != nil {
		return nil, fmt.Errorf("the handler wants a transaction of type %v, and the store %T gives %v: take a %[3]v in the handler, or a store that gives %[1]v", want, s, has)
	}
	return nil, fmt.Errorf("the handler wants a transaction of type %v, and the store %T has none: use consumer.Idempotent, or a store of package sqlite, postgres or tiered", want, s)
}

// transactionOf is the type of a store's transactions; nil where it has none.
func transactionOf(s store.Store) reflect.Type {
	method := reflect.ValueOf(s).MethodByName("InTx")
	if !method.IsValid() || method.Type().NumIn() != 2 {
		return nil
	}
	fn := method.Type().In(1)
	if fn.Kind() != reflect.Func || fn.NumIn() != 2 {
		return nil
	}
	return fn.In(1)
}
