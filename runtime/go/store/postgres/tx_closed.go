package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// closedTx is in the place of a transaction that is over: whoever kept it must not speak on a connection that is
// another's by now. It is in the place of one that never began, too. Methods that later versions of pgx add panic.
type closedTx struct {
	pgx.Tx
	why  error     // what all of it returns
	conn *pgx.Conn // of one that never began, which is closed
}

// over is the transaction that is over.
var over = closedTx{why: pgx.ErrTxClosed}

func (t closedTx) Begin(context.Context) (pgx.Tx, error) { return nil, t.why }
func (t closedTx) Commit(context.Context) error          { return t.why }
func (t closedTx) Rollback(context.Context) error        { return t.why }

func (t closedTx) CopyFrom(context.Context, pgx.Identifier, []string, pgx.CopyFromSource) (int64, error) {
	return 0, t.why
}

func (t closedTx) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return pgx.FailedBatchResults(b, t.why)
}

func (closedTx) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

func (t closedTx) Prepare(context.Context, string, string) (*pgconn.StatementDescription, error) {
	return nil, t.why
}

func (t closedTx) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, t.why
}

func (t closedTx) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return failedRows{err: t.why}, t.why
}

func (t closedTx) QueryRow(context.Context, string, ...any) pgx.Row {
	return firstRow{failedRows{err: t.why}, t.why}
}

func (t closedTx) Conn() *pgx.Conn { return t.conn }
