package consumer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/idem-spec/idem/runtime/go/store"
)

// mover is the state guard of a route.
type mover struct {
	table        *state.Table
	id           func(m proto.Message) any // nil: the biz key
	onSuperseded Superseded
}

// newMover is nil where the route has no state table.
func newMover(b *binding, sample Message) (*mover, error) {
	r := b.route
	if r.State == nil {
		return nil, nil
	}
	if _, ok := sample.(withMachine); !ok {
		return nil, fmt.Errorf("the route has a State table, and %T is no transition: give its schema the option idem.v1.transition", sample)
	}
	if _, ok := sample.(withVerdicts); !ok {
		return nil, fmt.Errorf("%T has no IdemVerdict: generate it again", sample)
	}
	if _, ok := sample.(withBizKey); !ok && r.StateID == nil {
		return nil, fmt.Errorf("the route has a State table, and neither StateID nor does %T have a biz key: give StateID", sample)
	}
	return &mover{table: r.State, id: r.StateID, onSuperseded: r.OnSuperseded}, nil
}

// move is the message's transition.
func (v *mover) move(d *guard.Delivery, m Message) (state.Move, error) {
	move := state.Move{
		Key: d.Key, PreviousKey: d.Envelope.IdempotencyKeyPrevious,
		Transition: m.(withMachine).IdemTransition(), Verdict: m.(withVerdicts).IdemVerdict,
	}
	switch v.onSuperseded {
	case Acknowledge:
		move.Transition.DeadLetterSuperseded = false
	case DeadLetter:
		move.Transition.DeadLetterSuperseded = true
	}
	if v.id != nil {
		move.ID = v.id(m)
		return move, nil
	}
	var err error
	move.ID, err = m.(withBizKey).IdemBizKey()
	return move, err
}

// apply moves the row within tx, or says why not.
func (v *mover) apply(ctx context.Context, tx any, d *guard.Delivery, m Message, set map[string]any) error {
	move, err := v.move(d, m)
	if err != nil {
		return err
	}
	move.Set = set
	return v.verdict(d, func() (state.Result, error) { return v.table.Apply(ctx, tx, move) })
}

// read says beforehand what apply would.
func (v *mover) read(ctx context.Context, tx any, d *guard.Delivery, m Message) error {
	move, err := v.move(d, m)
	if err != nil {
		return err
	}
	return v.verdict(d, func() (state.Result, error) { return v.table.Read(ctx, tx, move) })
}

func (v *mover) verdict(d *guard.Delivery, ask func() (state.Result, error)) error {
	r, err := ask()
	if err != nil {
		return err
	}
	d.Superseded, d.SupersededBy, d.Layer = r.Superseded, r.SupersededBy, observe.LayerState
	return r.Err()
}

// database runs a function in a transaction of its own, and commits where it returns nil.
type database func(ctx context.Context, fn func(ctx context.Context, tx any) error) error

// databaseOf is where a route's state table is.
func databaseOf(b *binding) (database, error) {
	switch db := b.route.StateDB.(type) {
	case nil:
	case *sql.DB:
		return sqlDatabase(db), nil
	case *pgxpool.Pool:
		return func(ctx context.Context, fn func(ctx context.Context, tx any) error) error {
			return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return fn(ctx, tx) })
		}, nil
	default:
		return nil, fmt.Errorf("StateDB is a %T: give a *sql.DB or a *pgxpool.Pool", db)
	}
	if s, ok := b.store.(store.Transactor[*sql.Tx]); ok {
		return storeDatabase(s), nil
	}
	if s, ok := b.store.(store.Transactor[pgx.Tx]); ok {
		return storeDatabase(s), nil
	}
	return nil, errors.New("the route has a State table, and the store has no SQL transactions: set StateDB to the *sql.DB or *pgxpool.Pool of the table")
}

func sqlDatabase(db *sql.DB) database {
	return func(ctx context.Context, fn func(ctx context.Context, tx any) error) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // of no effect after a commit
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	}
}

func storeDatabase[T any](s store.Transactor[T]) database {
	return func(ctx context.Context, fn func(ctx context.Context, tx any) error) error {
		return s.InTx(ctx, func(ctx context.Context, tx T) error { return fn(ctx, tx) })
	}
}

// runInStore runs a move and SUCCESS in one transaction of the store; nil where that has no SQL transactions.
func runInStore(b *binding, move func(ctx context.Context, tx any, d *guard.Delivery) error) runner {
	if s, ok := b.store.(store.Transactor[*sql.Tx]); ok {
		return runIn(b.guard, s, move)
	}
	if s, ok := b.store.(store.Transactor[pgx.Tx]); ok {
		return runIn(b.guard, s, move)
	}
	return nil
}

func runIn[T any](g *guard.Guard, s store.Transactor[T], move func(ctx context.Context, tx any, d *guard.Delivery) error) runner {
	return func(ctx context.Context, d *guard.Delivery) {
		guard.RunTx(ctx, g, s, d, func(ctx context.Context, tx T) error { return move(ctx, tx, d) })
	}
}
