package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyOperations are two changes by hand.
const manyOperations = `INSERT INTO idem_operation (begun_at, ended_at, operator, command, reason, target)
	SELECT now() - (3 - i) * interval '1 hour', now(), 'ana@ops', 'dlq drop', 'r', 'ids ' || i FROM generate_series(1, 2) i`

func TestAKeyIsShownSuchThatItCanBeCopied(t *testing.T) {
	t.Parallel()
	key := "refunds.requested:v1:" + strings.Repeat("o", 60) + ":2026-11-30T10:46:55.791Z"
	dsn := operated(t, manyLetters, waiting, "UPDATE dead_letter SET idempotency_key = '"+key+"' WHERE id = 1", "UPDATE msg_retry SET idempotency_key = '"+key+"' WHERE id = 1")
	for _, command := range []string{"dlq ls", "retry ls"} {
		stdout, stderr, code := invoke(t, append(strings.Fields(command), "--dsn", dsn)...)
		require.Equal(t, exitOK, code, stderr)
		assert.Contains(t, stdout, " "+key+" ")
	}
}

// The order of several stores is that of time, and the limit is one of all.
func TestAListOfSeveralStoresIsOne(t *testing.T) {
	early := operated(t, manyLetters, waiting, manyOperations)
	late := operated(t, manyLetters, waiting, manyOperations, "UPDATE dead_letter SET created_at = created_at + interval '30 minutes'",
		"UPDATE msg_retry SET created_at = created_at + interval '30 minutes'", "UPDATE idem_operation SET begun_at = begun_at + interval '30 minutes'")
	userConfig(t, "contexts:\n  prod:\n    stores:\n      early: "+early+"\n      late: "+late+"\n")
	for _, c := range []struct {
		name         string
		args, stores []string
		more         string
	}{
		{"newest first", []string{"dlq", "ls", "--scope", "payments", "--limit", "5"}, []string{"late", "early", "late", "early", "late"},
			"there are more in early: --store early --after 2\nthere are more in late: --store late --after 3\n"},
		{"nothing of one is shown", []string{"dlq", "ls", "--scope", "payments", "--limit", "1"}, []string{"late"},
			"there are more in early: --store early\nthere are more in late: --store late --after 1\n"},
		{"in the order in which they were written", []string{"retry", "ls", "--limit", "5"}, []string{"early", "early", "early", "early", "late"},
			"there are more in late: --store late --after 1\n"},
		{"operations", []string{"operations", "--limit", "3"}, []string{"late", "early", "late"}, "there are more in early: --store early --after 2\n"},
		{"all", []string{"operations", "--limit", "4"}, []string{"late", "early", "late", "early"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append(c.args, "--context", "prod")
			stdout, stderr, code := invoke(t, append(args, "--output", "json")...)
			require.Equal(t, exitOK, code, stderr)
			var stores []string
			for _, o := range objects(t, stdout) {
				stores = append(stores, o["store"].(string))
			}
			assert.Equal(t, c.stores, stores)
			_, stderr, code = invoke(t, args...)
			require.Equal(t, exitOK, code)
			assert.Equal(t, c.more, stderr)
		})
	}
	_, stderr, code := invoke(t, "dlq", "ls", "--context", "prod", "--reject-reason", "XYZ", "--scope", "payments")
	require.Equal(t, exitOK, code)
	assert.Equal(t, "no dead letters: none has the reason XYZ; there are \\u001b[2J gone, BAD, NO_RATE\n", stderr)
	for _, command := range [][]string{{"dlq", "ls"}, {"retry", "ls"}, {"operations"}} {
		_, stderr, code := invoke(t, append(command, "--context", "prod", "--after", "1")...)
		assert.Equal(t, exitUsage, code, command)
		assert.Contains(t, stderr, "--after is an id of one store: say which by --store")
	}
}
