package consumer

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/guard"
)

// Idempotent is a handler whose effect is outside: it is called at least once, and has guard.KeyOf(ctx) to pass
// on, so that whoever has the effect can have it once. (DEDUP-032)
func Idempotent[P pointer[M], M any](fn func(ctx context.Context, m P) error, routes ...Route) Handler {
	h := handlerOf[P](guard.Idempotent, fn == nil, routes)
	h.bind = func(b *binding) {
		bindIdempotent(b, func(ctx context.Context, d *guard.Delivery, m P) error { return fn(ctx, m) })
	}
	return h
}

// IdempotentResult is Idempotent with a result, []byte or a message, that is kept with SUCCESS and given to
// duplicates: at most store.MaxResult bytes.
func IdempotentResult[P pointer[M], M, R any](fn func(ctx context.Context, m P) (R, error), routes ...Route) Handler {
	h := handlerOf[P](guard.Idempotent, fn == nil, routes)
	h.bind = func(b *binding) {
		bindIdempotent(b, func(ctx context.Context, d *guard.Delivery, m P) error {
			result, err := fn(ctx, m)
			if err != nil {
				return err
			}
			d.Value, err = resultBytes(result)
			return err
		})
	}
	return h
}

func bindIdempotent[P pointer[M], M any](b *binding, fn func(ctx context.Context, d *guard.Delivery, m P) error) {
	mover, err := newMover(b, P(new(M)))
	if err != nil {
		b.err = err
		return
	}
	var db database
	if mover != nil {
		if db, err = databaseOf(b); err != nil {
			b.err = err
			return
		}
	}
	g, format := b.guard, b.route.Format
	b.run = func(ctx context.Context, d *guard.Delivery) {
		g.Run(ctx, d, func(ctx context.Context) error {
			m, err := decoded[P](format, d)
			if err != nil {
				return err
			}
			if mover == nil {
				return fn(ctx, d, m)
			}
			if err := db(ctx, func(ctx context.Context, tx any) error { return mover.read(ctx, tx, d, m) }); err != nil {
				return err
			}
			if err := fn(ctx, d, m); err != nil {
				return err
			}
			return db(ctx, func(ctx context.Context, tx any) error { return mover.apply(ctx, tx, d, m, nil) })
		})
	}
}
