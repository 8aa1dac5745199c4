package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idem-spec/idem/runtime/go/store"
)

// handlerTx is what a handler gets. BEGIN waits for its first statement, and its completions for the commit: a
// transaction of one statement takes two round trips, where by hand it takes four.
type handlerTx struct {
	pgx.Tx // nil until it has begun
	ctx    context.Context
	conn   *pgx.Conn
	limit  string
	// lost is the error of a BEGIN that did not reach the server, or that it refused.
	lost        error
	completions []store.Completion
	rolledBack  bool // by the handler
}

func (t *handlerTx) queueBegin(batch *pgx.Batch) {
	batch.BeginTx(pgx.TxOptions{BeginQuery: beginHandler})
	batch.Queue(handlerSettings, t.limit)
}

// begin begins it alone, for what cannot go with it. Its settings are no query: SET TRANSACTION may come next. Where it
// fails the connection is of no use, and each statement says so.
func (t *handlerTx) begin(ctx context.Context) {
	if t.Tx != nil {
		return
	}
	set := "; set local idle_in_transaction_session_timeout = '" + t.limit + "'; set local statement_timeout = '" + t.limit + "'"
	tx, err := t.conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: beginHandler + set})
	if err != nil {
		t.see(ctx, err)
		tx = closedTx{why: err, conn: t.conn}
	}
	t.Tx = tx
}

// first sends BEGIN, the settings and a statement, whose results are those that come next.
func (t *handlerTx) first(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	t.queueBegin(batch)
	batch.Queue(sql, args...)
	results := t.conn.SendBatch(ctx, batch)
	t.Tx = results.Tx()
	for range 2 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			t.see(ctx, err)
			return nil, err
		}
	}
	return results, nil
}

// see keeps an error that is no fault of a statement: of the connection, or of a server that goes down or has no room.
// It is neither that of a parameter which cannot be sent, nor that of a context which has ended: both would come again
// for ever, at no cost.
func (t *handlerTx) see(ctx context.Context, err error) {
	var e *pgconn.PgError
	lost := t.conn.IsClosed() && ctx.Err() == nil && isOfConnection(err)
	if errors.As(err, &e) {
		lost = strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "53")
	}
	if lost {
		t.lost = err
	}
}

// isOfConnection says that the network failed. That a connection is closed says less: pgx closes it for a parameter,
// too.
func isOfConnection(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// alone says that a statement cannot go with BEGIN: it has options of pgx, or no parameters, which lets it be several
// statements.
func alone(args []any) bool {
	if len(args) == 0 {
		return true
	}
	switch args[0].(type) {
	case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		return true
	}
	return false
}

func (t *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.Tx != nil || alone(args) {
		t.begin(ctx)
		return t.Tx.Exec(ctx, sql, args...)
	}
	results, err := t.first(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if over := results.Close(); err == nil {
		err = over
	}
	return tag, err
}

func (t *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.Tx != nil || alone(args) {
		t.begin(ctx)
		return t.Tx.Query(ctx, sql, args...)
	}
	results, err := t.first(ctx, sql, args)
	if err != nil {
		return failedRows{err: err}, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return rows, err
	}
	return &firstRows{Rows: rows, results: results}, nil
}

func (t *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.Tx != nil || alone(args) {
		t.begin(ctx)
		return t.Tx.QueryRow(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	return firstRow{rows, err}
}

// What follows begins it first.

func (t *handlerTx) Begin(ctx context.Context) (pgx.Tx, error) {
	t.begin(ctx)
	return t.savepoint(t.Tx.Begin(ctx))
}

var (
	errCommit     = errors.New("the handler commits its transaction itself, and its key would not be part of it: return nil instead, and the store commits both")
	errRolledBack = errors.New("the handler has rolled its transaction back, and returned nil: return an error instead, and the store rolls back (a deferred Rollback has to go)")
)

// Commit refuses: an effect that is committed without its key would be done again.
func (t *handlerTx) Commit(context.Context) error {
	if c, ok := t.Tx.(closedTx); ok {
		return c.why
	}
	return errCommit
}

// Rollback is final: what the handler returns then is an error, whatever it is.
func (t *handlerTx) Rollback(ctx context.Context) error {
	t.begin(ctx)
	err := t.Tx.Rollback(ctx)
	t.rolledBack = t.rolledBack || err == nil
	return err
}

func (t *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	t.begin(ctx)
	return t.Tx.CopyFrom(ctx, table, columns, rows)
}

func (t *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	t.begin(ctx)
	return t.Tx.SendBatch(ctx, b)
}

func (t *handlerTx) LargeObjects() pgx.LargeObjects {
	t.begin(t.ctx)
	return t.Tx.LargeObjects()
}

func (t *handlerTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	t.begin(ctx)
	return t.Tx.Prepare(ctx, name, sql)
}

func (t *handlerTx) Conn() *pgx.Conn {
	t.begin(t.ctx)
	return t.Tx.Conn()
}

// firstRows are the rows of a first statement: the connection is free once they are closed.
type firstRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

func (r *firstRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *firstRows) Close() {
	r.Rows.Close()
	if r.results != nil {
		r.err = r.results.Close()
		r.results = nil
	}
}

func (r *firstRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// Scan closes the rows where it fails, as pgx does.
func (r *firstRows) Scan(dest ...any) error {
	err := r.Rows.Scan(dest...)
	if err != nil {
		r.Close()
	}
	return err
}

// firstRow is the row of a first statement.
type firstRow struct {
	rows pgx.Rows
	err  error
}

func (r firstRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	for _, d := range dest {
		if _, ok := d.(*pgtype.DriverBytes); ok {
			return errors.New("cannot scan into *pgtype.DriverBytes from QueryRow")
		}
	}
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	_ = r.rows.Scan(dest...) // Err has its error
	r.rows.Close()
	return r.rows.Err()
}

// failedRows are the rows of a statement that was not done.
type failedRows struct {
	pgx.Rows
	err error
}

func (failedRows) Close()                                       {}
func (r failedRows) Err() error                                 { return r.err }
func (failedRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (failedRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (failedRows) Next() bool                                   { return false }
func (r failedRows) Scan(...any) error                          { return r.err }
func (r failedRows) Values() ([]any, error)                     { return nil, r.err }
func (failedRows) RawValues() [][]byte                          { return nil }
func (failedRows) Conn() *pgx.Conn                              { return nil }
func (failedRows) TypeMap() *pgtype.Map                         { return nil }
