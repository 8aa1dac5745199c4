package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/idem-spec/idem/runtime/go/store/sqlite"
	"github.com/idem-spec/idem/runtime/go/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		path := filepath.Join(t.TempDir(), "idem.db")
		s := openAt(t, path, sqlite.Config{Now: clock.Now, Synchronous: sqlite.Normal})
		other := openAt(t, path, sqlite.Config{Now: clock.Now, Synchronous: sqlite.Normal})
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := db.Exec("CREATE TABLE effect (name TEXT)"); err != nil {
			t.Fatal(err)
		}
		return storetest.Subject{Store: s, Other: other, Seeds: 10, Tx: storetest.TxOf(s, insertEffect, func(ctx context.Context) ([]string, error) {
			return effects(ctx, db)
		}), Without: map[storetest.Capability]string{
			storetest.BesideTx: "a transaction is the one writer: nobody claims until it is over",
		}}
	})
}

func insertEffect(ctx context.Context, tx *sql.Tx, name string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?)", name)
	return err
}

func effects(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM effect")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
