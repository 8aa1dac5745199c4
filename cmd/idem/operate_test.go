package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// operated makes a database with tables, and runs these statements on it.
func operated(t *testing.T, statements ...string) string {
	t.Helper()
	dsn := freshDatabase(t)
	_, stderr, code := invoke(t, "migrate", "up", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	for _, s := range statements {
		query(t, dsn, s)
	}
	return dsn
}

// query gives the first column of each row, as text.
func query(t *testing.T, dsn, statement string) (texts []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	results, err := conn.PgConn().Exec(t.Context(), statement).ReadAll()
	require.NoError(t, err)
	for _, row := range results[len(results)-1].Rows {
		texts = append(texts, string(row[0]))
	}
	return texts
}

// opened opens the store beside the command line.
func opened(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, postgres.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// userConfig makes a file of contexts the user's.
func userConfig(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	config, err := os.UserConfigDir()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(config, "idem"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(config, "idem", "config.yaml"), []byte(text), 0o600))
}

func objects(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &o), line)
		all = append(all, o)
	}
	return all
}

func TestOperatorsHearWhatIsMissing(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	nowhere := "postgres://u:hunter2@127.0.0.1:1/x"
	for _, c := range []struct{ want, args string }{
		{"no database: say --context, --dsn or IDEM_DSN", "dlq ls"},
		{`no context "prod"`, "dlq ls --context prod"},
		{"connection refused", "dlq ls --dsn " + nowhere},
		{"it is table or json", "dlq ls --output xml --dsn " + nowhere},
		{"did you mean TOO_OLD?", "dlq ls --outcome TOO_OLDE"},
		{"did you mean NON_RETRYABLE?", "dlq ls --outcome non_retryable"},
		{"--since yesterday", "dlq ls --since yesterday"},
		{"--since is not before --until", "dlq ls --since 1h --until 2h"},
		{"--limit 0", "dlq ls --limit 0"},
		{"--limit 9223372036854775807: it is 1 to 1000000000", "dlq ls --limit 9223372036854775807"},
		{"at least 100ms", "dlq ls --watch --interval 1ms --dsn " + nowhere},
		{"ID is missing", "dlq show"},
		{`"x" is no id`, "dlq show x"},
		{"--schema", "dlq show 1 --schema /nonexistent"},
		{"nothing is selected", "dlq redrive --reason r"},
		{"ids and a filter", "dlq redrive 1 --scope s --reason r"},
		{"--all and a filter", "dlq drop --all --scope s --reason r"},
		{"no --reason", "dlq redrive --all"},
		{"--max 0", "dlq redrive --all --reason r --max 0"},
		{"--rate is more than 0", "dlq redrive --all --reason r --rate NaN"},
		{"--max 9223372036854775807: it is 1 to 1000000000", "retry now --all --reason r --max 9223372036854775807"},
		{"--payload is for one dead letter", "dlq redrive --all --reason r --payload p"},
		{"--schema says how to encode it", "dlq redrive 1 --reason r --payload p.json"},
		{"--payload: open /nonexistent", "dlq redrive 1 --reason r --payload /nonexistent"},
		{"did you mean PARKED?", "retry ls --status PARKD"},
		{"nothing is selected", "retry cancel --reason r"},
		{"no --reason", "retry now 1"},
		{"KEY is missing", "dedup show"},
		{"did you mean type?", "audit --by typ"},
		{"--since is not before --until", "audit --since 1h --until 2h"},
		{"as in 1h or 7d", "audit --since 7x"},
		{"no --scope", "dedup release k --reason r"},
		{"no --allow-second-effect", "dedup forget k --scope s --reason r"},
	} {
		stdout, stderr, code := invoke(t, strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.NotContains(t, stderr, "hunter2", c.args)
		assert.Empty(t, stdout, c.args)
	}
}

func TestAContextIsReadOnly(t *testing.T) {
	dsn := operated(t, manyLetters)
	write := func(more string) {
		userConfig(t, "contexts:\n  prod:\n    stores:\n      payments: "+dsn+"\n"+more)
	}
	write("")
	stdout, stderr, code := invoke(t, "dlq", "ls", "--context", "prod", "--limit", "1", "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "payments", objects(t, stdout)[0]["store"])
	drop := []string{"dlq", "drop", "1", "--context", "prod", "--reason", "r", "--yes"}
	_, stderr, code = invoke(t, drop...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "the context prod is read-only: `write: true` in ")
	stdout, stderr, code = invoke(t, "dlq", "drop", "1", "--context", "prod", "--dry-run")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "k-1")
	write("    write: true\n")
	_, stderr, code = invoke(t, drop...)
	assert.Equal(t, exitOK, code, stderr)
	stdout, _, _ = invoke(t, "__complete", "dlq", "ls", "--context", "")
	assert.Contains(t, stdout, "prod\n")
	stdout, _, _ = invoke(t, "__complete", "dlq", "ls", "--context", "prod", "--scope", "")
	assert.Contains(t, stdout, "mail\npayments\n")
	stdout, _, _ = invoke(t, "__complete", "dlq", "redrive", "--context", "prod", "--event-type", "")
	assert.Contains(t, stdout, "notifications.sent\norders.created\n")
	stdout, _, _ = invoke(t, "__complete", "dlq", "redrive", "--context", "prod", "3", "")
	assert.Contains(t, stdout, "2\tNO_RATE k-2\n")
	assert.NotContains(t, stdout, "3\tBAD k-3\n")
	assert.Contains(t, stdout, `13	\u001b[2J gone m-1`)
	stdout, _, _ = invoke(t, "__complete", "dlq", "ls", "--context", "prod", "--reject-reason", "B")
	assert.Contains(t, stdout, "BAD\n")
}

func TestAChangeIsConfirmedByItsCount(t *testing.T) {
	t.Parallel()
	const question = "This will drop 12 dead letters of prod.\nType 12 to go on: "
	for typed, want := range map[string]struct {
		code int
		said string
	}{
		"12\n":     {exitOK, ""},
		"12":       {exitOK, "\n"}, // a line of its own for what comes next
		"y\n":      {exitNo, "idem: not confirmed (\"y\"): nothing was changed\n"},
		"1\n":      {exitNo, "idem: not confirmed (\"1\"): nothing was changed\n"},
		"12 all\n": {exitNo, "idem: not confirmed (\"12 all\"): nothing was changed\n"},
		"\n":       {exitNo, "idem: not confirmed: nothing was typed, and nothing was changed\n"},
		"":         {exitNo, "\nidem: not confirmed: nothing was typed, and nothing was changed\n"},
	} {
		var said bytes.Buffer
		err := ask(t.Context(), streams{in: strings.NewReader(typed), err: &said}, true, change{what: "drop 12 dead letters of prod", count: 12})
		assert.Equal(t, want.code, exitCode(t.Context(), &said, nil, err), typed)
		assert.Equal(t, question+want.said, said.String())
	}
	assert.ErrorContains(t, ask(t.Context(), streams{in: strings.NewReader("12\n")}, false, change{count: 12}), "no terminal; --yes goes on")
}

func TestAQuestionIsInterrupted(t *testing.T) {
	t.Parallel()
	in, typing := io.Pipe() // nobody types
	defer typing.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said bytes.Buffer
	assert.ErrorIs(t, ask(ctx, streams{in: in, err: &said}, true, change{count: 1}), context.Canceled)
	assert.True(t, strings.HasSuffix(said.String(), "Type 1 to go on: \nnothing was changed\n"), said.String())
}

func TestAFileOfSQLiteIsOperatedToo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "orders.db")
	s, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	bury(t, s)
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec("UPDATE dead_letter SET outcome = 'FROZEN'") // as a later version may
	require.NoError(t, err)
	require.NoError(t, db.Close())
	dsn := "sqlite:" + file
	stdout, stderr, code := invoke(t, "dlq", "ls", "--dsn", dsn, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "k-1", objects(t, stdout)[0]["key"])
	assert.Equal(t, "FROZEN", objects(t, stdout)[0]["outcome"])
	assert.Equal(t, payload.Digest([]byte("paid")), objects(t, stdout)[0]["payload_sha256"])
	assert.InDelta(t, 4, objects(t, stdout)[0]["payload_bytes"], 0)
	for reason, want := range map[string]int{"NO_RATE": 1, "NO": 0, "NO_RATE: E": 1, "NO_RATE: X": 0, "NO_RATE: EUR": 1} {
		stdout, _, _ := invoke(t, "dlq", "ls", "--dsn", dsn, "--output", "json", "--reject-reason", reason)
		assert.Len(t, objects(t, stdout), want, reason)
	}
	stdout, stderr, code = invoke(t, "dlq", "redrive", "1", "--dsn", dsn, "--reason", "r", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "redriven 1;")
	stdout, stderr, code = invoke(t, "dedup", "show", "--scope", "payments", "k-1", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "DEAD")
	_, stderr, code = invoke(t, "dedup", "forget", "--scope", "payments", "k-1", "--dsn", dsn, "--reason", "r", "--yes", "--allow-second-effect")
	require.Equal(t, exitOK, code, stderr)
	stdout, stderr, code = invoke(t, "retry", "ls", "--dsn", dsn, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "REDRIVE", objects(t, stdout)[0]["action"])
	_, stderr, code = invoke(t, "retry", "now", "1", "--dsn", dsn, "--reason", "r", "--yes")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "use PostgreSQL, or sqlite3 on the tables")
}

// A file may be another program's, or a mistake.
func TestAFileWithoutTablesIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bookmarks.db")
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE bookmark (url TEXT)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, args := range []string{"dlq ls", "audit", "dlq redrive --all --reason r --yes"} {
		_, stderr, code := invoke(t, append(strings.Fields(args), "--dsn", "sqlite:"+file)...)
		assert.NotEqual(t, exitOK, code, args)
		assert.Contains(t, stderr, "the tables do not fit", args)
	}
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestWatchingEndsWithoutAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	shown := 0
	flags := watchFlags{watch: true, interval: 100 * time.Millisecond}
	var out bytes.Buffer
	err := flags.run(ctx, streams{out: &out}, func() error {
		if shown++; shown == 2 {
			cancel()
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 2, shown)
	assert.Empty(t, out.String(), "what is no terminal is not cleared")
}
