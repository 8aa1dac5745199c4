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

// beginHandler is stated, whatever the database's default is.
const beginHandler = "begin isolation level read committed"

// handlerSettings comes first in a handler's transaction. A handler that hangs, or whose process is stopped, loses its
// transaction once its time is over, and its locks with it.
const handlerSettings = "SELECT set_config('idle_in_transaction_session_timeout', $1, true), set_config('statement_timeout', $1, true)"

// handlerLimit is the time of a handler's transaction.
func (c *core) handlerLimit(ctx context.Context) string {
	limit := c.config.HandlerTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(time.Until(deadline), time.Millisecond)
	}
	return milliseconds(limit)
}

// InTx runs fn in a transaction, and commits where it returns nil. BEGIN and the settings go with the first statement,
// and what CompleteTx was told goes with COMMIT: each in one round trip. Where a claim was lost it returns
// store.ErrFenced, and nothing is done. An error of the commit says nothing of whether it was done, where the
// connection was lost: the record knows.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return named("begin a transaction", err)
	}
	defer func() { // on the way of a panic, too
		rollback(conn.Conn())
		conn.Release()
	}()
	tx := &handlerTx{ctx: ctx, conn: conn.Conn(), limit: s.handlerLimit(ctx)}
	defer func() { tx.Tx = over }()
	if err := fn(ctx, tx); err != nil {
		if tx.lost != nil {
			return fmt.Errorf("begin a transaction: %w: %w", store.ErrNotBegun, err)
		}
		return err
	}
	switch {
	case tx.lost != nil: // the handler has swallowed it
		return fmt.Errorf("commit: %w: %w", store.ErrNotBegun, tx.lost)
	case tx.rolledBack:
		return named("commit", errRolledBack)
	case tx.Tx != nil && conn.Conn().PgConn().TxStatus() != 'T':
		return named("commit", pgx.ErrTxCommitRollback)
	}
	return s.commit(ctx, tx)
}

// commit completes claims and commits, all of it or nothing.
func (s *Store) commit(ctx context.Context, tx *handlerTx) error {
	if tx.Tx == nil && len(tx.completions) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	if tx.Tx == nil {
		tx.queueBegin(batch)
	}
	if len(tx.completions) > 0 {
		s.queueCompletions(batch, tx.completions)
	}
	batch.Queue("commit").Exec(committed)
	err := tx.conn.SendBatch(ctx, batch).Close()
	if isFenced(err) {
		return fmt.Errorf("commit: key %q: %w", tx.completions[0].Lease.Key, store.ErrFenced)
	}
	return named("commit", err)
}

func (s *Store) queueCompletions(batch *pgx.Batch, completions []store.Completion) {
	for i := range completions {
		x := &completions[i]
		for _, k := range keysOf(&x.Lease) {
			batch.Queue(texts["complete_last"], x.Lease.Scope, k.key, k.fence, x.Lease.Owner, x.Result, s.config.Retention.Milliseconds())
		}
	}
	for i := range completions {
		if x := &completions[i]; x.Head && x.Lane.Set() {
			id := laneOf(x.Lease.Scope, x.Lane)
			batch.Queue(texts["lane_lock"], []string{id.scope}, []string{id.topic}, []string{id.bizKey})
			batch.Queue(texts["lane_release"], id.scope, id.topic, id.bizKey, x.Lease.Key)
		}
	}
}

// InTx runs fn in a transaction, and commits where it returns nil. database/sql has no way to send its settings
// with BEGIN: they cost a round trip.
func (s *SQL) InTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return named("begin a transaction", err)
	}
	defer tx.Rollback() // nothing once it has committed
	if _, err := tx.ExecContext(ctx, handlerSettings, s.handlerLimit(ctx)); err != nil {
		return named("begin a transaction", err)
	}
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return named("commit", tx.Commit())
}

// CompleteTx makes records SUCCESS within tx. In a transaction of InTx it is done with the commit, and so InTx is what
// says that a claim was lost.
func (s *Store) CompleteTx(ctx context.Context, tx pgx.Tx, completion store.Completion) error {
	if own, ok := tx.(*handlerTx); ok {
		if err := checkCompletion(&completion); err != nil {
			return err
		}
		own.completions = append(own.completions, completion)
		return nil
	}
	return s.completeTx(ctx, tx, &completion)
}

// CompleteTx makes records SUCCESS within tx.
func (s *SQL) CompleteTx(ctx context.Context, tx *sql.Tx, completion store.Completion) error {
	return sqltx.Ended(ctx, s.completeTx(ctx, tx, &completion))
}

func checkCompletion(x *store.Completion) error {
	if err := checkResult(x); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	if !x.Lease.Held() || x.Lease.Owner == "" {
		return fmt.Errorf("complete key %q: %w", x.Lease.Key, store.ErrFenced)
	}
	return nil
}

type keyFence struct {
	key   string
	fence int64
}

// keysOf are the keys of a lease, in the order of all locks.
func keysOf(l *store.Lease) []keyFence {
	keys := []keyFence{{l.Key, l.Fence}, {l.Previous, l.PreviousFence}}
	if l.PreviousFence == 0 {
		return keys[:1]
	}
	if l.Fence == 0 {
		return keys[1:]
	}
	if l.Previous < l.Key {
		keys[0], keys[1] = keys[1], keys[0]
	}
	return keys
}

func (c *core) completeTx(ctx context.Context, tx any, x *store.Completion) error {
	if err := checkCompletion(x); err != nil {
		return err
	}
	action := fmt.Sprintf("complete key %q", x.Lease.Key)
	t, err := sqltx.Of(tx)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	l := &x.Lease
	for _, k := range keysOf(l) {
		n, err := t.Exec(ctx, texts["complete_one"], l.Scope, k.key, k.fence, l.Owner, x.Result, c.config.Retention.Milliseconds())
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
