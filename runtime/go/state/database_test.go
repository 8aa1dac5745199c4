package state_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

// database is a database with one of the ways to have a transaction in it.
type database struct {
	name string
	// tx runs fn in a transaction, which is kept where fn returns nil.
	tx func(ctx context.Context, fn func(tx any) error) error
	// exec runs a statement on its own, and get reads one value as text.
	exec   func(query string, args ...any) error
	get    func(query string, args ...any) string
	source any // what Read reads from
}

// everyDatabase runs a test on SQLite, and on PostgreSQL through both drivers where DATABASE_URL is set.
func everyDatabase(t *testing.T, test func(t *testing.T, db database)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "state.db")+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		test(t, sqlDatabase("sqlite", db))
	})
	t.Run("postgres sql", func(t *testing.T) {
		t.Parallel()
		db, err := sql.Open("pgx", realtest.Postgres(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		test(t, sqlDatabase("postgres", db))
	})
	t.Run("postgres pgx", func(t *testing.T) {
		t.Parallel()
		pool, err := pgxpool.New(t.Context(), realtest.Postgres(t))
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		test(t, database{
			name: "postgres",
			tx: func(ctx context.Context, fn func(tx any) error) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return fn(tx) })
			},
			exec: func(query string, args ...any) error {
				_, err := pool.Exec(context.Background(), query, args...)
				return err
			},
			get: func(query string, args ...any) string {
				var text sql.NullString
				if err := pool.QueryRow(context.Background(), query, args...).Scan(&text); err != nil {
					return err.Error()
				}
				return text.String
			},
			source: pool,
		})
	})
}

func sqlDatabase(name string, db *sql.DB) database {
	return database{
		name: name,
		tx: func(ctx context.Context, fn func(tx any) error) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if err := fn(tx); err != nil {
				_ = tx.Rollback()
				return err
			}
			return tx.Commit()
		},
		exec: func(query string, args ...any) error { _, err := db.Exec(query, args...); return err },
		get: func(query string, args ...any) string {
			var text sql.NullString
			if err := db.QueryRow(query, args...).Scan(&text); err != nil {
				return err.Error()
			}
			return text.String
		},
		source: db,
	}
}

// apply runs one move in a transaction of its own.
func (db *database) apply(ctx context.Context, t *state.Table, m state.Move) (state.Result, error) {
	var r state.Result
	err := db.tx(ctx, func(tx any) (err error) {
		r, err = t.Apply(ctx, tx, m)
		return err
	})
	return r, err
}
