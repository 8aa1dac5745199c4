package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

func TestAFilterThatSelectsNothingSaysWhatWasMeant(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, waiting, "UPDATE dead_letter SET redriven_at = '2026-03-01 12:40Z' WHERE id = 9")
	for _, c := range []struct{ args, want string }{
		{"dlq ls --scope paymnts", "no dead letters: none has the scope paymnts; did you mean payments?\n"},
		{"dlq ls --scope Mail -o json", "no dead letters: none has the scope Mail; did you mean mail?\n"},
		{"dlq ls --event-type order.created", "none has the event type order.created; did you mean orders.created?\n"},
		{"dlq ls --reject-reason NO_RATES:X", "none has the reason NO_RATES; did you mean NO_RATE?\n"},
		{"dlq ls --reject-reason nobody", "none has the reason nobody; there are \\u001b[2J gone, BAD, NO_RATE\n"},
		{"dlq ls --outcome STALE", "none has the outcome STALE; there are MALFORMED, NON_RETRYABLE, TOO_OLD\n"},
		{"dlq ls --with-redriven --outcome STALE", "none that waits has the outcome STALE"},
		{"dlq ls --scope mail --outcome TOO_OLD", "there are dead letters of each, and none of all: filters have to fit all\n"},
		{"dlq ls --scope mail --since 2026-01-01T00:00:00Z --until 2026-01-02T00:00:00Z", "no dead letters\n"},
		{"dlq ls --key k-9", "no dead letters: dead letter 9 of this key, in "},
		{"dlq ls --key k-9", "was redriven at 2026-03-01T12:40:00Z: see idem dlq show and idem trace\n"},
		{"retry ls --scope payment", "no deliveries to come: none has the scope payment; did you mean payments?\n"},
		{"retry ls --event-type paidd --reject-reason BANK", "none has the event type paidd; did you mean paid?: none has the reason BANK; there are BANK_DOWN\n"},
	} {
		stdout, stderr, code := invoke(t, append(strings.Fields(c.args), "--dsn", dsn)...)
		assert.Equal(t, exitOK, code, c.args)
		assert.Empty(t, stdout, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
	for _, c := range []struct{ args, want string }{
		{"dlq redrive --scope paymnts", "no dead letter is selected by scope=paymnts: none has the scope paymnts; did you mean payments?\n"},
		{"dlq drop --reject-reason BED", "none has the reason BED; did you mean BAD?\n"},
		{"retry cancel --scope payment", "no delivery to come is selected by scope=payment: none has the scope payment; did you mean payments?\n"},
	} {
		_, stderr, code := invoke(t, append(strings.Fields(c.args), "--dsn", dsn, "--reason", "r", "--yes")...)
		assert.Equal(t, exitNo, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}

func TestThereIsNothingAtAll(t *testing.T) {
	t.Parallel()
	dsn := operated(t)
	for args, want := range map[string]string{
		"dlq redrive --all": "there is no dead letter: nothing was changed\n", "retry now --all": "there is no delivery to come: nothing was changed\n",
		"dlq drop --scope s": "no dead letter is selected by scope=s\n",
	} {
		_, stderr, code := invoke(t, append(strings.Fields(args), "--dsn", dsn, "--reason", "r", "--yes")...)
		assert.Equal(t, exitNo, code, args)
		assert.Contains(t, stderr, want)
	}
}

func TestAFilterOfASQLiteFileSaysWhatWasMeantToo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "orders.db")
	s, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	bury(t, s)
	require.NoError(t, s.Close())
	for args, want := range map[string]string{
		"dlq ls --scope paymnts":          "did you mean payments?",
		"dlq ls --reject-reason NO_RAT:X": "did you mean NO_RATE?",
		"retry ls --scope paymnts":        "no deliveries to come\n",
	} {
		_, stderr, code := invoke(t, append(strings.Fields(args), "--dsn", "sqlite:"+file)...)
		require.Equal(t, exitOK, code, stderr)
		assert.Contains(t, stderr, want, args)
	}
}
