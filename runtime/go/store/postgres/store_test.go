package postgres_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/storetest"
)

// odd is a configuration whose wait is no lease's. Transactions that wait for one lane wait as long as it takes
// a busy machine.
var odd = postgres.Config{Wait: 12345 * time.Millisecond, LockTimeout: 5 * time.Second}

// clearTables empties the tables.
func clearTables(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	run(t, pool, "TRUNCATE idem_record, msg_retry, idem_lane, dead_letter, idem_audit, outbox, effect RESTART IDENTITY")
}

func TestStoreOverPgx(t *testing.T) {
	t.Parallel()
	url, set := warp(t)
	s, pool := openURL(t, url, odd)
	other, otherPool := openURL(t, url, odd)
	run(t, pool, "CREATE TABLE effect (id bigint GENERATED ALWAYS AS IDENTITY, name text)")
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		set(t, clock.Now())
		clearTables(t, pool)
		return storetest.Subject{
			Store: patientStore{s}, Other: other, Seeds: 6,
			Quiet: func() {
				quiet(t, pool, func() int32 { return pool.Stat().TotalConns() + otherPool.Stat().TotalConns() })
			},
			Advance: func(d time.Duration) {
				clock.Advance(d)
				set(t, clock.Now())
			},
			Tx: storetest.TxOf(s, insertEffect, func(ctx context.Context) ([]string, error) {
				rows, _ := pool.Query(ctx, "SELECT name FROM effect ORDER BY id") // the error comes with the rows
				return pgx.CollectRows(rows, pgx.RowTo[string])
			}),
		}
	})
}

// A table in partitions is the same to every statement.
func TestStoreInPartitions(t *testing.T) {
	t.Parallel()
	url, set := warp(t)
	partitioned := odd
	partitioned.Partitions = 3
	s, pool := openURL(t, url, partitioned)
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		set(t, clock.Now())
		run(t, pool, "TRUNCATE idem_record, msg_retry, idem_lane, dead_letter, idem_audit, outbox RESTART IDENTITY")
		return storetest.Subject{
			Store: patientStore{s}, Seeds: 2,
			Quiet: func() { quiet(t, pool, pool.Stat().TotalConns) },
			Advance: func(d time.Duration) {
				clock.Advance(d)
				set(t, clock.Now())
			},
		}
	})
}

func TestStoreOverDatabaseSQL(t *testing.T) {
	t.Parallel()
	url, set := warp(t)
	s, db := openSQL(t, url, odd)
	_, pool := openURL(t, url, odd)
	run(t, pool, "CREATE TABLE effect (id bigint GENERATED ALWAYS AS IDENTITY, name text)")
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		set(t, clock.Now())
		clearTables(t, pool)
		return storetest.Subject{
			Store: patientSQL{s}, Seeds: 3,
			Quiet: func() {
				quiet(t, pool, func() int32 { return pool.Stat().TotalConns() + int32(db.Stats().OpenConnections) })
			},
			Advance: func(d time.Duration) {
				clock.Advance(d)
				set(t, clock.Now())
			},
			Tx: storetest.TxOf(s,
				func(ctx context.Context, tx *sql.Tx, name string) error {
					_, err := tx.ExecContext(ctx, "INSERT INTO effect (name) VALUES ($1)", name)
					return err
				},
				func(ctx context.Context) ([]string, error) {
					rows, _ := pool.Query(ctx, "SELECT name FROM effect ORDER BY id") // the error comes with the rows
					return pgx.CollectRows(rows, pgx.RowTo[string])
				}),
		}
	})
}

// quiet waits until the server has no more connections than the pools: one that was closed in the middle of a
// statement lasts on the server until the statement has ended there.
func quiet(t *testing.T, pool *pgxpool.Pool, open func() int32) {
	t.Helper()
	for {
		var there int32
		err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'warp'`).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		if there <= open() {
			return
		}
	}
}

// patientStore asks again where a key was locked by another transaction: that of a call that was given up lasts
// until the server sees that it was.
type patientStore struct{ *pgxStore }

type patientSQL struct{ *sqlStore }

type (
	pgxStore = postgres.Store
	sqlStore = postgres.SQL
)

func (s patientStore) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	return patient(ctx, s.pgxStore, claims)
}

func (s patientSQL) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	return patient(ctx, s.sqlStore, claims)
}

func patient(ctx context.Context, s store.Store, claims []store.Claim) ([]store.Grant, error) {
	for {
		grants, err := s.Claim(ctx, claims)
		locked := func(g store.Grant) bool {
			return g.Kind == idem.AdmitInProgress && g.WaitMs == odd.Wait.Milliseconds()
		}
		if err != nil || !slices.ContainsFunc(grants, locked) {
			return grants, err
		}
	}
}
