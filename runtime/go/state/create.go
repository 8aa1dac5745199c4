package state

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/jackc/pgx/v5"
)

// create makes way for a row that is not there: it inserts it, or sees to it that the handler is the only one
// to do so. The row that it returns is there where another has been faster.
func (q *query) create(ctx context.Context, row found) (found, error) {
	if verdict, err := q.move.Verdict(""); err != nil || verdict != idem.VerdictApply {
		return row, nil // decide says it
	}
	if q.table.Creates == HandlerCreates {
		return q.reserve(ctx)
	}
	args, err := q.args()
	if err != nil {
		return row, err
	}
	text := q.texts.insert
	if q.columns != nil {
		text = q.table.insertion(q.texts.table, q.columns)
	}
	created, err := q.one(ctx, text, args)
	if err != nil {
		return row, fmt.Errorf("insert the row: %w", err)
	}
	if created {
		return found{missing: true, created: true}, nil
	}
	return q.locked(ctx)
}

// reserve keeps others from creating the same object until the transaction ends, and looks again: one that
// was being created meanwhile is there now.
func (q *query) reserve(ctx context.Context) (found, error) {
	if q.dialect() == SQLite {
		return found{missing: true}, nil // the file is locked
	}
	text := "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
	if _, err := q.tx.Exec(ctx, text, "idem state "+q.texts.table+" "+textOf(q.move.ID)); err != nil {
		return found{}, fmt.Errorf("lock the object that is to be created: %w", err)
	}
	return q.locked(ctx)
}

// textOf is the same text for the same ID in every process: what the database is given, not where it lies.
func textOf(id any) string {
	if v, ok := id.(driver.Valuer); ok {
		if value, err := v.Value(); err == nil {
			id = value
		}
	}
	for v := reflect.ValueOf(id); v.Kind() == reflect.Pointer && !v.IsNil(); v = reflect.ValueOf(id) {
		id = v.Elem().Interface()
	}
	if b, ok := id.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(id)
}

// noUpdate is an update of no row.
func (q *query) noUpdate() string {
	return fmt.Sprintf("UPDATE %s SET %s = %[2]s WHERE 1 = 0", q.texts.table, quote(q.table.Status))
}

func (q *query) dialect() Dialect {
	if q.table.Dialect != 0 {
		return q.table.Dialect
	}
	return Dialect(q.table.found.Load())
}

// findDialect asks the database in words that both understand: PostgreSQL makes a number of a literal beside a
// number, SQLite does not.
func (q *query) findDialect(ctx context.Context, tx any) error {
	if q.dialect() != 0 {
		return nil
	}
	found := PostgreSQL
	if _, ok := tx.(pgx.Tx); !ok {
		var equal int
		if err := q.tx.QueryRow(ctx, "SELECT CASE WHEN 1 = '1' THEN 1 ELSE 0 END", nil, &equal); err != nil {
			return fmt.Errorf("ask the database for its dialect (set Table.Dialect to spare it): %w", err)
		}
		if equal == 0 {
			found = SQLite
		}
	}
	q.table.found.Store(uint32(found))
	return nil
}
