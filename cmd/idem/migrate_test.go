package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSQLPrintsTablesAndStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"sql", "--partitions", "8"}, []string{"PARTITION BY HASH (key);", "idem_record_7 PARTITION OF idem_record FOR VALUES WITH (MODULUS 8, REMAINDER 7)\n    WITH (fillfactor = 50"}},
		{[]string{"sql"}, []string{"CREATE TABLE idem_record (", "INSERT INTO idem_schema (version, name) VALUES (1, 'tables');"}},
		{[]string{"sql", "--statements"}, []string{"-- claim: ", "-- complete: ", "FOR UPDATE SKIP LOCKED", "-- $1 text[]"}},
		{[]string{"sql", "--dialect", "sqlite"}, []string{"CREATE TABLE idem_record ("}},
		{[]string{"sql", "--dialect", "sqlite", "--statements"}, []string{"?1"}},
		{[]string{"migrate", "print", "--from", "0"}, []string{"BEGIN;", "CREATE TABLE msg_retry (", "COMMIT;"}},
		{[]string{"migrate", "print", "--from", "1"}, []string{"-- the tables are of version 1 already"}},
	} {
		stdout, stderr, code := invoke(t, c.args...)
		assert.Equal(t, exitOK, code, c.args)
		assert.Empty(t, stderr, c.args)
		for _, want := range c.want {
			assert.Contains(t, stdout, want, c.args)
		}
	}
}

func TestMigrateSaysWhatIsWrongAndNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sql", "--dialect", "oracle"}, exitUsage, "--dialect oracle: it is postgres or sqlite"},
		{[]string{"migrate", "print", "--from", "9"}, exitUsage, "--from 9: versions are 0 (no tables) to 1"},
		{[]string{"migrate", "up", "--dsn", "sqlite:orders.db"}, exitUsage, "gets its tables from the store that opens it"},
		{[]string{"migrate", "up", "--dsn", "postgres://u:hunter2@127.0.0.1:1/x"}, exitUsage, "connection refused"},
		{[]string{"migrate", "up", "--dsn", "postgres://u:hunter2%zz@127.0.0.1:1/x"}, exitUsage, "cannot parse"},
		{[]string{"migrate", "validate", "--dsn", "host=127.0.0.1 port=x password=hunter2"}, exitUsage, "invalid port"},
	} {
		stdout, stderr, code := invoke(t, c.args...)
		assert.Equal(t, c.code, code, c.args)
		assert.Empty(t, stdout, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.NotContains(t, stderr, "hunter2", c.args)
	}
}

func TestMigrateNeedsADatabase(t *testing.T) {
	for _, variable := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL"} {
		t.Setenv(variable, "")
	}
	for _, name := range []string{"up", "print", "validate"} {
		_, stderr, code := invoke(t, "migrate", name)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stderr, "no database: say --context, --dsn or IDEM_DSN")
		assert.NotContains(t, stderr, "sqlite", "which has nothing to migrate")
		stdout, _, _ := invoke(t, "migrate", name, "--help")
		assert.NotContains(t, stdout, "sqlite")
	}
}

func TestMigrateMakesTablesAndFindsThemMade(t *testing.T) {
	t.Parallel()
	dsn := freshDatabase(t)
	_, stderr, code := invoke(t, "migrate", "validate", "--dsn", dsn)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "run `idem migrate up`")
	stdout, _, _ := invoke(t, "migrate", "print", "--dsn", dsn)
	assert.Contains(t, stdout, "CREATE TABLE outbox (")
	for _, want := range []string{"made the tables of version 1\n", "the tables are of version 1 already\n"} {
		stdout, stderr, code = invoke(t, "migrate", "up", "--dsn", dsn)
		assert.Equal(t, exitOK, code, stderr)
		assert.Equal(t, want, stdout)
	}
	stdout, stderr, code = invoke(t, "migrate", "validate", "--dsn", dsn)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "the tables are of version 1, and complete\n", stdout)

	// Of what a later version has besides this program knows nothing.
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "INSERT INTO idem_schema (version, name) VALUES (2, 'later')")
	require.NoError(t, err)
	stdout, stderr, code = invoke(t, "migrate", "validate", "--dsn", dsn)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "the tables are of version 2, and have all that version 1, which this program knows, needs\n", stdout)
}

// Nobody knows what a program would do to tables that were made after it.
func TestNoCommandWorksOnTablesOfALaterVersionThanTheNext(t *testing.T) {
	t.Parallel()
	dsn := operated(t, "UPDATE idem_schema SET version = version + 2")
	for _, command := range []string{
		"dlq ls", "dlq redrive --all --reason r --yes", "retry cancel --all --reason r --yes", "audit", "worker --cleaner",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a worker that runs goes on
		var said bytes.Buffer
		code := run(ctx, append(strings.Fields(command), "--dsn", dsn), streams{in: strings.NewReader(""), out: io.Discard, err: &said})
		cancel()
		assert.Equal(t, exitNo, code, command)
		assert.Contains(t, said.String(), "update this program", command)
	}
	query(t, dsn, "UPDATE idem_schema SET version = -1")
	for _, command := range []string{"up", "print", "validate"} {
		_, stderr, code := invoke(t, "migrate", command, "--dsn", dsn)
		assert.Equal(t, exitNo, code, command)
		assert.Contains(t, stderr, "restore its row, or drop the tables", command)
	}
}

// freshDatabase makes a database on the server of DATABASE_URL.
func freshDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv("DATABASE_URL")
	if server == "" {
		if os.Getenv("IDEM_TEST_REAL") == "1" {
			t.Fatal("DATABASE_URL is not set, and IDEM_TEST_REAL=1")
		}
		t.Skip(`DATABASE_URL is not set: scripts/services start postgres && eval "$(scripts/services env)"`)
	}
	name := fmt.Sprintf("idem_cli_%d", time.Now().UnixNano())
	do := func(statement string) {
		conn, err := pgx.Connect(context.Background(), server)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), statement)
		require.NoError(t, err)
	}
	do("CREATE DATABASE " + name)
	t.Cleanup(func() { do("DROP DATABASE " + name + " WITH (FORCE)") })
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}
