package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/sqltx"
	"github.com/jackc/pgx/v5"
)

// query is one move on its way.
type query struct {
	table   *Table
	texts   *statements
	move    *Move
	tx      sqltx.Tx
	columns []string // of Move.Set
}

// found is a row as it is.
type found struct {
	status, lastKey sql.NullString
	missing         bool
	created         bool
}

func (t *Table) query(m *Move) (query, error) {
	texts, err := t.statements()
	if err != nil {
		return query{}, err
	}
	if m.ID == nil || m.ID == "" {
		return query{}, errors.New("Move.ID is empty: the value of the row's ID is needed")
	}
	if m.Verdict == nil || m.Transition.To == "" {
		return query{}, errors.New("Move has no Verdict or no Transition: IdemVerdict and IdemTransition of the generated message are needed")
	}
	columns, err := t.columns(m.Set)
	return query{table: t, texts: texts, move: m, columns: columns}, err
}

// value is what the status column holds in a state.
func (q *query) value(state string) (any, error) {
	if q.table.Values == nil {
		return state, nil
	}
	if v, ok := q.table.Values[state]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("Table.Values has nothing for the state %s: every state of the machine is needed", state)
}

// args are to, the key where it is kept, the further columns, and the ID.
func (q *query) args() ([]any, error) {
	to, err := q.value(q.move.Transition.To)
	if err != nil {
		return nil, err
	}
	args := append(make([]any, 0, 4+len(q.columns)), to)
	if q.table.LastKey != "" {
		args = append(args, q.move.Key)
	}
	for _, c := range q.columns {
		args = append(args, q.move.Set[c])
	}
	return append(args, q.move.ID), nil
}

// update moves the row where it is in the expected state.
func (q *query) update(ctx context.Context) (bool, error) {
	from, err := q.value(q.move.Transition.From)
	if err != nil {
		return false, err
	}
	args, err := q.args()
	if err != nil {
		return false, err
	}
	text := q.texts.move
	if q.columns != nil {
		text = q.table.update(q.texts.table, q.columns, true)
	}
	return q.one(ctx, text, append(args, from))
}

// updateLocked moves a row that is locked, and was read.
func (q *query) updateLocked(ctx context.Context) error {
	args, err := q.args()
	if err != nil {
		return err
	}
	text := q.texts.moveID
	if q.columns != nil {
		text = q.table.update(q.texts.table, q.columns, false)
	}
	moved, err := q.one(ctx, text, args)
	if err == nil && !moved {
		err = errors.New("the row is locked and yet was not updated: a trigger or a row security policy may keep it back")
	}
	return err
}

// one runs a statement that changes one row or none.
func (q *query) one(ctx context.Context, text string, args []any) (bool, error) {
	n, err := q.tx.Exec(ctx, text, args...)
	if err == nil && n > 1 {
		err = fmt.Errorf("%d rows have one %s: the column has to be unique", n, q.table.ID)
	}
	return n == 1 && err == nil, err
}

// locked reads the row, and locks it.
func (q *query) locked(ctx context.Context) (found, error) {
	text := q.texts.lock
	if q.dialect() == SQLite {
		text = q.texts.read
	}
	var row found
	err := q.tx.QueryRow(ctx, text, []any{q.move.ID}, &row.status, &row.lastKey)
	if errors.Is(err, sqltx.ErrNoRows) {
		return found{missing: true}, nil
	}
	return row, err
}

// decide asks the machine.
func (q *query) decide(row found) (Result, error) {
	current, err := q.current(row)
	if err != nil {
		return Result{}, err
	}
	verdict, err := q.move.Verdict(current)
	if err != nil {
		return Result{}, &idem.Failure{Outcome: idem.OutcomeRetryable, Code: string(idem.CodeOf(err)), Err: err}
	}
	r := Result{Verdict: verdict, Current: current, Missing: row.missing}
	own := row.lastKey.String
	if verdict == idem.VerdictDuplicate && (own == "" || own != q.move.Key && own != q.move.PreviousKey) {
		r.Superseded, r.SupersededBy = true, own
		r.DeadLetter = q.move.Transition.DeadLetterSuperseded
	}
	return r, nil
}

// current is the text of the row's state.
func (q *query) current(row found) (string, error) {
	if row.missing || !row.status.Valid {
		return "", nil
	}
	if q.texts.states == nil {
		return row.status.String, nil
	}
	if state, ok := q.texts.states[row.status.String]; ok {
		return state, nil
	}
	err := fmt.Errorf("column %s holds %.64q, which Table.Values does not have", q.table.Status, row.status.String)
	return "", &idem.Failure{Outcome: idem.OutcomeRetryable, Code: string(idem.CodeStateUnknown), Err: err}
}

// queryRow reads one row through whatever can.
func queryRow(ctx context.Context, source any, text string, args []any, dest ...any) error {
	var err error
	switch source := source.(type) {
	case interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}:
		err = source.QueryRowContext(ctx, text, args...).Scan(dest...)
	case interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	}:
		err = source.QueryRow(ctx, text, args...).Scan(dest...)
	default:
		return fmt.Errorf("database is a %T: *sql.DB, *sql.Tx, *sql.Conn, pgx.Tx, *pgx.Conn or *pgxpool.Pool is needed", source)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return sqltx.ErrNoRows
	}
	return err
}
