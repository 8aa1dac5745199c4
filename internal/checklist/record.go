package checklist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// recordTable is where the service keeps idem's records, quoted; empty: not in this database.
func (b *bench) recordTable(ctx context.Context) (string, error) { return b.table(ctx, "idem_record") }

func (b *bench) table(ctx context.Context, name string) (quoted string, err error) {
	if b.db == nil {
		return "", nil
	}
	err = b.db.pool.QueryRow(ctx, `SELECT oid::regclass::text FROM pg_class WHERE relname = $1 AND relkind IN ('r', 'p') LIMIT 1`, name).Scan(&quoted)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return quoted, err
}

// errNoRecord is a message in mid-handler that the table does not know: its record is elsewhere, as in Redis.
var errNoRecord = errors.New("it has no row of a message in mid-handler")

// lockRecord locks what idem has of a message. Who would end the message waits for the lock.
func (b *bench) lockRecord(ctx context.Context, table string, m *made) (*lockGate, error) {
	g, err := b.locking(ctx, func(tx *pgx.Conn) error {
		tag, err := tx.Exec(ctx, "SELECT FROM "+table+" WHERE key = $1 FOR UPDATE", m.key)
		if err == nil && tag.RowsAffected() == 0 {
			err = errNoRecord
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", table, err)
	}
	return g, nil
}

// ended says whether idem's record of a message is SUCCESS or DEAD.
func (b *bench) ended(ctx context.Context, table string, m *made) (bool, error) {
	var states []int16
	err := b.db.pool.QueryRow(ctx, "SELECT coalesce(array_agg(state), '{}') FROM "+table+" WHERE key = $1", m.key).Scan(&states)
	const success, dead = 2, 4
	return len(states) > 0 && !slices.ContainsFunc(states, func(s int16) bool { return s != success && s != dead }), err
}
