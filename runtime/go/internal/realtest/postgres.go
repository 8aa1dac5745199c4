package realtest

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is the URL of a fresh database on the server of DATABASE_URL. It is dropped when the test is
// over, whoever is still connected.
func Postgres(t testing.TB) string {
	t.Helper()
	return database(t, need(t, "DATABASE_URL", "postgres"))
}

// Standby is the URL of a fresh database on a primary with a synchronous standby, for one test at a time.
// The URL names both servers, and whoever connects gets the one that can be written to. The test may
// call Services(t, "kill", "standby:1") and Services(t, "promote"); when it is over the pair is as new.
func Standby(t testing.TB) string {
	t.Helper()
	need(t, "STANDBY_URL", "standby")
	exclusive(t, "standby")
	t.Cleanup(func() {
		Services(t, "stop", "standby")
		Services(t, "start", "standby")
	})
	return database(t, need(t, "STANDBY_URL", "standby"))
}

func database(t testing.TB, server string) string {
	t.Helper()
	name := "idem_test_" + unique()
	run(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("DATABASE_URL has to be a URL, postgres://user@host/name: %v", err)
	}
	u.Path = "/" + name
	return u.String()
}

func run(t testing.TB, server, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("DATABASE_URL: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
