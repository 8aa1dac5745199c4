package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/internal/sqltx"
	"github.com/idem-spec/idem/runtime/go/store"
)

// handlerSettings is what begins a handler's transaction. A handler that hangs, or whose process is stopped,
// loses its transaction once its time is over, and its locks with it.
func (c *core) handlerSettings(ctx context.Context) string {
	limit := c.config.HandlerTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(time.Until(deadline), time.Millisecond)
	}
	ms := milliseconds(limit)
	return "set local idle_in_transaction_session_timeout = '" + ms + "'; set local statement_timeout = '" + ms + "'"
}

// InTx runs fn in a transaction, and commits where it returns nil. Its settings go with BEGIN, in one round trip.
// An error of the commit says nothing of whether it was done, where the connection was lost: the record knows.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: "begin isolation level read committed; " + s.handlerSettings(ctx)})
	if err != nil {
		return named("begin a transaction", err)
	}
	defer undo(ctx, tx)
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return named("commit", tx.Commit(ctx))
}

// undo rolls back what was not committed, also on the way of a panic.
func undo(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	tx.Rollback(ctx) // nothing once it has committed
}

// InTx runs fn in a transaction, and commits where it returns nil. database/sql has no way to send its settings
// with BEGIN: they cost a round trip.
func (s *SQL) InTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return named("begin a transaction", err)
	}
	defer tx.Rollback() // nothing once it has committed
	if _, err := tx.ExecContext(ctx, s.handlerSettings(ctx)); err != nil {
		return named("begin a transaction", err)
	}
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return named("commit", tx.Commit())
}

// CompleteTx makes records SUCCESS within tx.
func (s *Store) CompleteTx(ctx context.Context, tx pgx.Tx, completion store.Completion) error {
	return s.completeTx(ctx, tx, &completion)
}

// CompleteTx makes records SUCCESS within tx.
func (s *SQL) CompleteTx(ctx context.Context, tx *sql.Tx, completion store.Completion) error {
	return s.completeTx(ctx, tx, &completion)
}

func (c *core) completeTx(ctx context.Context, tx any, x *store.Completion) error {
	action := fmt.Sprintf("complete key %q", x.Lease.Key)
	if err := checkResult(x); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	if !x.Lease.Held() || x.Lease.Owner == "" {
		return fmt.Errorf("%s: %w", action, store.ErrFenced)
	}
	t, err := sqltx.Of(tx)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	l := &x.Lease
	keys := []struct {
		key   string
		fence int64
	}{{l.Key, l.Fence}, {l.Previous, l.PreviousFence}}
	if keys[1].key < keys[0].key { // in the order of all locks
		keys[0], keys[1] = keys[1], keys[0]
	}
	for _, k := range keys {
		if k.fence == 0 {
			continue
		}
		n, err := t.Exec(ctx, texts["complete_one"], l.Scope, k.key, k.fence, l.Owner, x.Result, c.config.Retention.Milliseconds(), c.config.Rounding.Milliseconds())
		if err != nil {
			return named(action, err)
		}
		if n == 0 {
			return fmt.Errorf("%s: %w", action, store.ErrFenced)
		}
	}
	if !x.Head || !x.Lane.Set() {
		return nil
	}
	id := laneOf(l.Scope, x.Lane)
	if _, err := t.Exec(ctx, texts["lane_lock"], []string{id.scope}, []string{id.topic}, []string{id.bizKey}); err != nil {
		return named(action, err)
	}
	_, err = t.Exec(ctx, texts["lane_release"], id.scope, id.topic, id.bizKey, l.Key)
	return named(action, err)
}

// StoreTx puts messages into the outbox within tx.
func (s *Store) StoreTx(ctx context.Context, tx pgx.Tx, messages []store.Outgoing) error {
	return storeTx(ctx, tx, messages)
}

// StoreTx puts messages into the outbox within tx.
func (s *SQL) StoreTx(ctx context.Context, tx *sql.Tx, messages []store.Outgoing) error {
	return storeTx(ctx, tx, messages)
}

func storeTx(ctx context.Context, tx any, messages []store.Outgoing) error {
	if len(messages) == 0 {
		return nil
	}
	t, err := sqltx.Of(tx)
	if err == nil {
		topics, keys, headers, payloads := columnsOfOutgoing(messages)
		_, err = t.Exec(ctx, texts["outbox_put"], topics, keys, headers, payloads)
	}
	return named(fmt.Sprintf("store %d messages", len(messages)), err)
}
