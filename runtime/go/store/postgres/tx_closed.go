package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// closedTx is in the place of a transaction that is over: whoever kept it must not speak on a connection that is
// another's by now. Methods that later versions of pgx add panic.
type closedTx struct{ pgx.Tx }

func (closedTx) Begin(context.Context) (pgx.Tx, error) { return nil, pgx.ErrTxClosed }
func (closedTx) Commit(context.Context) error          { return pgx.ErrTxClosed }
func (closedTx) Rollback(context.Context) error        { return pgx.ErrTxClosed }

func (closedTx) CopyFrom(context.Context, pgx.Identifier, []string, pgx.CopyFromSource) (int64, error) {
	return 0, pgx.ErrTxClosed
}

func (closedTx) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return pgx.FailedBatchResults(b, pgx.ErrTxClosed)
}

func (closedTx) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

func (closedTx) Prepare(context.Context, string, string) (*pgconn.StatementDescription, error) {
	return nil, pgx.ErrTxClosed
}

func (closedTx) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, pgx.ErrTxClosed
}

func (closedTx) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, pgx.ErrTxClosed }
func (closedTx) QueryRow(context.Context, string, ...any) pgx.Row        { return closedRow{} }
func (closedTx) Conn() *pgx.Conn                                         { return nil }

type closedRow struct{}

func (closedRow) Scan(...any) error { return pgx.ErrTxClosed }
