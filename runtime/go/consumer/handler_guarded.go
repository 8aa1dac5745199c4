package consumer

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/state"
)

// Guarded has one effect: it moves the row of table that id selects by the message's transition, which the row
// itself guards, along with the columns that set gives; a nil set gives none. The table needs LastKey. It is in the
// store's database, or in that of Route.StateDB. (STATE-013, DEDUP-032)
func Guarded[P pointer[M], M any](table *state.Table, id func(m P) any, set func(ctx context.Context, m P) (map[string]any, error), routes ...Route) Handler {
	h := handlerOf[P](guard.Guarded, false, routes)
	if table == nil {
		h.misuse = errors.New("the table is nil: give a *state.Table")
		return h
	}
	if table.LastKey == "" {
		h.misuse = errors.New("the table has no LastKey, and mode Guarded needs it: name a text column that keeps the key of the last move")
	}
	h.route.State = table
	if id != nil {
		h.route.StateID = func(m proto.Message) any { return id(m.(P)) }
	}
	h.bind = func(b *binding) { bindGuarded(b, set) }
	return h
}

func bindGuarded[P pointer[M], M any](b *binding, set func(ctx context.Context, m P) (map[string]any, error)) {
	mover, err := newMover(b, P(new(M)))
	if err != nil {
		b.err = err
		return
	}
	g, format := b.guard, b.route.Format
	move := func(ctx context.Context, tx any, d *guard.Delivery) error {
		m, err := decoded[P](format, d)
		if err != nil {
			return err
		}
		var columns map[string]any
		if set != nil {
			if columns, err = set(ctx, m); err != nil {
				return err
			}
		}
		return mover.apply(ctx, tx, d, m, columns)
	}
	if b.route.StateDB == nil {
		if b.run = runInStore(b, move); b.run != nil {
			return
		}
	}
	db, err := databaseOf(b)
	if err != nil {
		b.err = err
		return
	}
	b.run = func(ctx context.Context, d *guard.Delivery) {
		g.Run(ctx, d, func(ctx context.Context) error {
			return db(ctx, func(ctx context.Context, tx any) error { return move(ctx, tx, d) })
		})
	}
}
