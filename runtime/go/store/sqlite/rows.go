package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// claimRows has a statement give rows to token, for a lease.
func claimRows[T any](ctx context.Context, s *Store, action, statement, token string, limit int, lease time.Duration, scan func(*sql.Rows) (T, error)) (claimed []T, err error) {
	err = s.write(ctx, func() string { return action }, func(w *writer) error {
		rows, err := w.query(statement, token, w.now.UnixMilli(), w.now.Add(max(lease, time.Millisecond)).UnixMilli(), limit)
		if err != nil {
			return err
		}
		if claimed, err = scanAll(rows, scan); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// scanAll reads rows to their end, and closes them.
func scanAll[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, nil
}
