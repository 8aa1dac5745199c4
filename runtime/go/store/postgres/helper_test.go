package postgres_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// open gives a migrated store on a database of its own, and the pool to look behind it.
func open(t testing.TB, config postgres.Config) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	return openURL(t, realtest.Postgres(t), config)
}

func openURL(t testing.TB, url string, config postgres.Config) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, pool
}

func openSQL(t testing.TB, url string, config postgres.Config) (*postgres.SQL, *sql.DB) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(8)
	t.Cleanup(func() { db.Close() })
	s, err := postgres.NewSQL(db, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, db
}

// warp is a database whose clock only the test moves: a function of the name clock_timestamp, found before the
// server's own. set sets it.
func warp(t testing.TB) (url string, set func(t testing.TB, now time.Time)) {
	t.Helper()
	url = realtest.Postgres(t)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "warp" // which quiet does not count
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	run(t, pool, "CREATE SCHEMA warp")
	run(t, pool, "CREATE TABLE warp.clock (now timestamptz)")
	run(t, pool, "INSERT INTO warp.clock VALUES (now())")
	run(t, pool, "CREATE FUNCTION warp.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT now FROM warp.clock'")
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	return url + separator + "search_path=warp,pg_catalog,public", func(t testing.TB, now time.Time) {
		t.Helper()
		run(t, pool, "UPDATE warp.clock SET now = $1", now)
	}
}

func run(t testing.TB, pool *pgxpool.Pool, statement string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func value[T any](t testing.TB, pool *pgxpool.Pool, query string, args ...any) (v T) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func claimOf(key, owner string) store.Claim {
	return store.Claim{Scope: "payments", Key: key, Owner: owner, MaxAttempts: 9, Lease: time.Minute}
}

func claim(t testing.TB, s store.Store, claims ...store.Claim) []store.Grant {
	t.Helper()
	grants, err := s.Claim(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	return grants
}

func proceed(t testing.TB, s store.Store, key, owner string) store.Lease {
	t.Helper()
	g := claim(t, s, claimOf(key, owner))[0]
	if g.Kind != idem.AdmitProceed {
		t.Fatalf("claim %s: %s, want PROCEED", key, g.Kind)
	}
	return g.Lease
}

func kinds(grants []store.Grant) []string {
	words := make([]string, len(grants))
	for i := range grants {
		words[i] = grants[i].Kind.String()
	}
	return words
}

func insertEffect(ctx context.Context, tx pgx.Tx, name string) error {
	_, err := tx.Exec(ctx, "INSERT INTO effect (name) VALUES ($1)", name)
	return err
}

func newStore(t testing.TB, config *pgxpool.Config) *postgres.Store {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
