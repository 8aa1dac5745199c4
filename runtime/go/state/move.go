package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/sqltx"
)

// Move is one transition of one object.
type Move struct {
	// ID selects the row: a value of the ID column's type.
	ID any
	// Key is the message's idempotency key, and PreviousKey the one by the template before, during a
	// migration.
	Key, PreviousKey string
	// Transition and Verdict are the generated IdemTransition() and IdemVerdict of the message.
	Transition idem.Transition
	Verdict    func(current string) (idem.Verdict, error)
	// Set is further columns to write with the move, by name. Values are arguments, never SQL.
	Set map[string]any
}

// Apply moves the row, or says why not, within tx, a *sql.Tx or a pgx.Tx. The row is locked until tx ends,
// whatever the verdict. An error is one of the database, or of the description of the table; or, as an
// *idem.Failure, of a state that the machine does not have (STATE_UNKNOWN). That is RETRYABLE, as all is that
// the spec does not classify: the row may be ahead of this process's schema while a release rolls out.
// (STATE-010, CLASS-001)
func (t *Table) Apply(ctx context.Context, tx any, m Move) (Result, error) {
	r, err := t.apply(ctx, tx, &m)
	if err != nil {
		return Result{}, fmt.Errorf("move %s to %s in table %s: %w", word(m.Transition.From), m.Transition.To, t.Name, err)
	}
	return r, nil
}

func (t *Table) apply(ctx context.Context, tx any, m *Move) (Result, error) {
	q, err := t.query(m)
	if err != nil {
		return Result{}, err
	}
	if q.tx, err = sqltx.Of(tx); err != nil {
		return Result{}, err
	}
	from := m.Transition.From
	if from != "" {
		moved, err := q.update(ctx)
		if err != nil || moved {
			return Result{Verdict: idem.VerdictApply, Current: from}, err
		}
	}
	if err := q.findDialect(ctx, tx); err != nil {
		return Result{}, err
	}
	if from == "" && q.dialect() == SQLite {
		// SQLite's lock is the file's: an update takes it, whether it changes a row or not.
		if _, err := q.tx.Exec(ctx, q.noUpdate()); err != nil {
			return Result{}, err
		}
	}
	row, err := q.locked(ctx)
	if err != nil {
		return Result{}, err
	}
	if row.missing && from == "" {
		if row, err = q.create(ctx, row); err != nil {
			return Result{}, err
		}
		if row.created {
			return Result{Verdict: idem.VerdictApply, Missing: true}, nil
		}
	}
	result, err := q.decide(row)
	if err != nil || result.Verdict != idem.VerdictApply || row.missing {
		return result, err
	}
	// The row came into the expected state between the update and the lock.
	return result, q.updateLocked(ctx)
}

// Read is the verdict before a handler runs in mode Idempotent, without a lock and without a change. q is a
// transaction, a connection or a pool: *sql.Tx, *sql.DB, *sql.Conn, pgx.Tx, *pgx.Conn, *pgxpool.Pool. Errors
// are those of Apply. (STATE-013)
func (t *Table) Read(ctx context.Context, q any, m Move) (Result, error) {
	r, err := t.readVerdict(ctx, q, &m)
	if err != nil {
		return Result{}, fmt.Errorf("read the state for %s to %s in table %s: %w", word(m.Transition.From), m.Transition.To, t.Name, err)
	}
	return r, nil
}

func (t *Table) readVerdict(ctx context.Context, source any, m *Move) (Result, error) {
	q, err := t.query(m)
	if err != nil {
		return Result{}, err
	}
	var row found
	err = queryRow(ctx, source, q.texts.read, []any{m.ID}, &row.status, &row.lastKey)
	if errors.Is(err, sqltx.ErrNoRows) {
		row, err = found{missing: true}, nil
	}
	if err != nil {
		return Result{}, err
	}
	return q.decide(row)
}

// word is a state's name in a sentence.
func word(state string) string {
	if state == "" {
		return `""`
	}
	return state
}
