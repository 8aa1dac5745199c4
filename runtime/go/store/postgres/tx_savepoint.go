package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// savepoint is one that ends with the transaction, as pgx has it: this one's COMMIT is not pgx's own.
func (t *handlerTx) savepoint(tx pgx.Tx, err error) (pgx.Tx, error) {
	if err != nil {
		return nil, err
	}
	return &savepointTx{tx: tx, of: t}, nil
}

// savepointTx is a savepoint of a handler's transaction. Whoever keeps it must not speak on a connection that is
// another's by now.
type savepointTx struct {
	tx pgx.Tx
	of *handlerTx
}

func (s *savepointTx) live() pgx.Tx {
	if over, ok := s.of.Tx.(closedTx); ok {
		return over
	}
	return s.tx
}

func (s *savepointTx) Begin(ctx context.Context) (pgx.Tx, error) {
	return s.of.savepoint(s.live().Begin(ctx))
}
func (s *savepointTx) Commit(ctx context.Context) error   { return s.live().Commit(ctx) }
func (s *savepointTx) Rollback(ctx context.Context) error { return s.live().Rollback(ctx) }

func (s *savepointTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	return s.live().CopyFrom(ctx, table, columns, rows)
}

func (s *savepointTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return s.live().SendBatch(ctx, b)
}

func (s *savepointTx) LargeObjects() pgx.LargeObjects { return s.live().LargeObjects() }

func (s *savepointTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return s.live().Prepare(ctx, name, sql)
}

func (s *savepointTx) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	return s.live().Exec(ctx, sql, arguments...)
}

func (s *savepointTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return s.live().Query(ctx, sql, args...)
}

func (s *savepointTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return s.live().QueryRow(ctx, sql, args...)
}

func (s *savepointTx) Conn() *pgx.Conn { return s.live().Conn() }
