package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	spec "github.com/idem-spec/idem/spec/sql"
)

// texts are the statements by name.
var texts = spec.SQLiteStatements()

// statements are prepared ones by name.
type statements map[string]*sql.Stmt

func prepare(db *sql.DB) (statements, error) {
	prepared := make(statements, len(texts))
	for name, text := range texts {
		stmt, err := db.Prepare(text)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", name, err)
		}
		prepared[name] = stmt
	}
	return prepared, nil
}

// writer is one transaction on the writer's connection.
type writer struct {
	tx *sql.Tx
	// prepared is nil in a transaction of somebody else's, which prepares for itself.
	prepared statements
	bound    statements
	// now is the present once the writer was had: waiting for it must not shorten a lease.
	now       time.Time
	retention time.Duration
}

// statement begins a statement of the transaction. Statements run without the caller's context: they are
// short, the transaction has it, and a watcher for each would cost more than most of them.
func (w *writer) statement(name string) *sql.Stmt {
	if stmt := w.bound[name]; stmt != nil {
		return stmt
	}
	stmt := w.tx.StmtContext(context.Background(), w.prepared[name])
	if w.bound == nil {
		w.bound = statements{}
	}
	w.bound[name] = stmt
	return stmt
}

// exec says how many rows a statement changed.
func (w *writer) exec(name string, args ...any) (int64, error) {
	var result sql.Result
	var err error
	if w.prepared == nil {
		result, err = w.tx.ExecContext(context.Background(), texts[name], args...)
	} else {
		result, err = w.statement(name).ExecContext(context.Background(), args...)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return result.RowsAffected()
}

func (w *writer) row(name string, args ...any) *sql.Row {
	if w.prepared == nil {
		return w.tx.QueryRowContext(context.Background(), texts[name], args...)
	}
	return w.statement(name).QueryRowContext(context.Background(), args...)
}

func (w *writer) query(name string, args ...any) (*sql.Rows, error) {
	rows, err := w.statement(name).QueryContext(context.Background(), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

func (w *writer) expiry() int64 { return w.now.Add(w.retention).UnixMilli() }

// nested marks the context of a transaction of this store.
type nested struct{ s *Store }

// write runs fn in a transaction of the store's own. action begins its error.
func (s *Store) write(ctx context.Context, action func() string, fn func(w *writer) error) error {
	err := s.inTx(ctx, func(_ context.Context, tx *sql.Tx) error {
		return fn(&writer{tx: tx, prepared: s.writes, now: s.now(), retention: s.config.Retention})
	})
	if err != nil {
		return named(action(), err)
	}
	return nil
}

func (s *Store) inTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if ctx.Value(nested{s}) != nil {
		return ErrNested
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing once it has committed; the way out of a panic
	if err := fn(context.WithValue(ctx, nested{s}, tx), tx); err != nil {
		return err
	}
	return tx.Commit()
}
