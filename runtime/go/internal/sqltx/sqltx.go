// Package sqltx lets one SQL text run in whichever transaction a team has: *sql.Tx or pgx.Tx. Placeholders
// are $1, $2 in order of their first use, which PostgreSQL and SQLite both read.
package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// ErrNoRows says that a query of one row found none.
var ErrNoRows = errors.New("no rows")

// Tx is a transaction.
type Tx interface {
	// Exec says how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// QueryRow scans the first row into dest; ErrNoRows where there is none.
	QueryRow(ctx context.Context, query string, args []any, dest ...any) error
}

// Of wraps a *sql.Tx or a pgx.Tx.
func Of(tx any) (Tx, error) {
	switch tx := tx.(type) {
	case *sql.Tx:
		return sqlTx{tx}, nil
	case pgx.Tx:
		return pgxTx{tx}, nil
	}
	return nil, fmt.Errorf("transaction is a %T: *sql.Tx or pgx.Tx is needed", tx)
}

type sqlTx struct{ tx *sql.Tx }

func (t sqlTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t sqlTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	return noRows(t.tx.QueryRowContext(ctx, query, args...).Scan(dest...))
}

type pgxTx struct{ tx pgx.Tx }

func (t pgxTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (t pgxTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	return noRows(t.tx.QueryRow(ctx, query, args...).Scan(dest...))
}

// noRows gives both drivers' word for it one name. (pgx.ErrNoRows wraps sql.ErrNoRows.)
func noRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoRows
	}
	return err
}

// CodeEnded is in front of the reject_reason of a handler that has ended its transaction by itself.
const CodeEnded = "TX_ENDED"

// Ended gives an error of CompleteTx its meaning where the handler has committed or rolled back its *sql.Tx by itself,
// which nothing can keep it from. What it has committed is done, without its key: to try again would do it twice.
// Where ctx has ended it was database/sql that rolled back.
func Ended(ctx context.Context, err error) error {
	if !errors.Is(err, sql.ErrTxDone) || ctx.Err() != nil {
		return err
	}
	return idem.NonRetryable(CodeEnded, fmt.Errorf("the handler has committed or rolled back its transaction itself: return nil instead, and the store commits, or an error, and it rolls back; see what this one has done before it is redriven: %w", err))
}
