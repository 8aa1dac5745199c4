package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// manyLetters are 12 dead letters of payments, of which the last two are TOO_OLD, and one of mail, whose reason would
// clear a terminal. The payload is an empty message but for the last, whose address is hunter2.
const manyLetters = `INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type,
		source_topic, outcome, reason, topic, headers, payload, created_at)
	SELECT i, 0, 0, 5, 0, 'payments', 'k-' || i, 'orders.created', 'orders', CASE WHEN i > 10 THEN 'TOO_OLD' ELSE 'NON_RETRYABLE' END,
		CASE WHEN i % 2 = 0 THEN 'NO_RATE: EUR' ELSE 'BAD' END, 'orders',
		'[["idempotency_key","k-' || i || '"],["event_type","orders.created"],["topic","orders"],["retry_count","5"],["max_retry","5"],["target_scope","payments"]]',
		''::bytea, now() - i * interval '1 hour' FROM generate_series(1, 12) i;
	INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type,
		source_topic, outcome, reason, topic, headers, payload)
	VALUES (1, 0, 0, 5, 0, 'mail', 'm-1', 'notifications.sent', 'mail', 'MALFORMED', E'\x1b[2J gone', 'mail', '[["x",{"base64":"G1sySg=="}]]',
		'\x220768756e74657232'::bytea)`

// bury leaves a record that is DEAD, and its dead letter.
func bury(t *testing.T, s store.Store) {
	t.Helper()
	grants, err := s.Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k-1", Owner: "o", MaxAttempts: 9, Lease: 1 << 40}})
	require.NoError(t, err)
	headers := idem.Headers{{Name: "idempotency_key", Value: []byte("k-1")}, {Name: "topic", Value: []byte("orders")}, {Name: "max_retry", Value: []byte("5")}}
	settled, err := s.Settle(t.Context(), []store.Settlement{{State: idem.StateDead, Lease: grants[0].Lease, DeadLetter: &store.DeadLetter{
		Scope: "payments", Key: "k-1", SourceTopic: "orders", SourceOffset: 1, Topic: "orders", Outcome: idem.OutcomeNonRetryable, Reason: "NO_RATE: EUR", Headers: headers, Payload: []byte("paid"),
	}}})
	require.NoError(t, err)
	require.Equal(t, []store.Settled{store.SettledWritten}, settled)
}

func TestDeadLettersAreListedByEachFilter(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, "INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, "+
		"outcome, topic, headers, redriven_at) VALUES (14, 0, 0, 0, 0, 'stock', 's-1', 'stock', 'NON_RETRYABLE', 'stock', '[]', now())")
	for args, want := range map[string]int{
		"--with-redriven": 14, "--key s-1": 0, "--key s-1 --with-redriven": 1, "--key k-3 --with-redriven": 1,
		"": 13, "--scope payments": 12, "--scope mail": 1, "--event-type orders.created": 12, "--key k-3": 1,
		"--outcome TOO_OLD": 2, "--reject-reason NO_RATE": 6, "--since 150m": 3, "--until 150m": 10, "--since 5h30m --until 150m": 3,
		"--scope payments --reject-reason BAD --outcome TOO_OLD": 1, "--limit 4": 4, "--reject-reason NO": 0, "--limit 4 --after 11": 1, "--scope none": 0,
	} {
		stdout, stderr, code := invoke(t, append([]string{"dlq", "ls", "--dsn", dsn, "--output", "json"}, strings.Fields(args)...)...)
		require.Equal(t, exitOK, code, stderr)
		assert.Len(t, objects(t, stdout), want, args)
	}
	for _, args := range []string{"dlq ls --key m-1", "dlq show 13"} {
		stdout, _, _ := invoke(t, append(strings.Fields(args), "--dsn", dsn, "-o", "json")...)
		assert.InDelta(t, 9, objects(t, stdout)[0]["payload_bytes"], 0)
		assert.Equal(t, payload.Digest([]byte("\"\x07hunter2")), objects(t, stdout)[0]["payload_sha256"])
	}
	stdout, stderr, code := invoke(t, "dlq", "ls", "--dsn", dsn, "--limit", "12")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, 13, strings.Count(stdout, "\n"), "with the head")
	assert.Contains(t, stderr, "--after 11")
	assert.Contains(t, stdout, `\u001b[2J gone`)
	assert.NotContains(t, stdout, "\x1b")
}

func TestADeadLetterIsShownWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	show := func(args ...string) string {
		stdout, stderr, code := invoke(t, append([]string{"dlq", "show", "13", "--dsn", dsn}, args...)...)
		require.Equal(t, exitOK, code, stderr)
		assert.NotContains(t, stdout, "\x1b")
		assert.NotContains(t, stdout, "hunter2")
		return stdout
	}
	assert.Contains(t, show(), "9 bytes, sha256 ")
	assert.Contains(t, show(), `x: \u001b[2J`)
	_, stderr, _ := invoke(t, "dlq", "show", "13", "--dsn", dsn)
	assert.Equal(t, "the payload is shown by --schema, a directory of .proto files or an image, and its bytes are written by --raw FILE\n", stderr)
	schema := filepath.Join("..", "..", "examples", "shop", "proto")
	assert.Contains(t, show("--schema", schema), "hidden: address")
	o := objects(t, show("--schema", schema, "--output", "json"))[0]
	assert.Equal(t, []any{"address"}, o["payload_hidden"])
	assert.Equal(t, map[string]any{}, o["payload"])
	raw := filepath.Join(t.TempDir(), "raw")
	show("--raw", raw)
	data, err := os.ReadFile(raw)
	require.NoError(t, err)
	assert.Equal(t, "\"\x07hunter2", string(data))
	_, stderr, code := invoke(t, "dlq", "show", "13", "--dsn", dsn, "--schema", schema)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	_, stderr, code = invoke(t, "dlq", "show", "13", "--dsn", dsn, "--raw", raw)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "exists")
	_, stderr, code = invoke(t, "dlq", "show", "99", "--dsn", dsn)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "there is no dead letter 99")
}

func TestARedriveIsNoLargerThanWasMeant(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--scope payments --dry-run", exitOK, "10 would be redriven"},
		{"--scope payments --reason r", exitUsage, "nobody is there to confirm"},
		{"--scope payments --reason r --yes --max 11", exitNo, "12 dead letters are selected, and --max is 11: nothing was changed"},
		{"--all --reason r --yes --max 3", exitNo, "idem: 13 dead letters are selected, and --max is 3: "},
		{"--reject-reason NO_RATE --reason r --yes --max 1", exitNo, "idem: 6 dead letters are selected, "},
		{"--scope paymnts --reason r --yes", exitNo, "no dead letter is selected by scope=paymnts"},
		{"1 99 --reason r --yes", exitNo, "there is no dead letter 99"},
		{"1 2 3 --reason r --yes --max 2", exitNo, "3 ids, and --max is 2"},
		{"11 --reason r --yes", exitNo, "1 are TOO_OLD and stay"},
	} {
		_, stderr, code := invoke(t, append([]string{"dlq", "redrive", "--dsn", dsn}, strings.Fields(c.args)...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
	assert.Equal(t, []string{"0"}, query(t, dsn, "SELECT count(*) FROM msg_retry"))
	assert.Equal(t, []string{"0"}, query(t, dsn, "SELECT count(*) FROM idem_operation"))
}

func TestARedriveGivesAnotherLifeOnceAndIsLogged(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	stdout, stderr, code := invoke(t, "dlq", "redrive", "--dsn", dsn, "--scope", "payments", "--reason", "rates are loaded", "--yes", "--output", "json")
	assert.Equal(t, exitNo, code, "two are TOO_OLD: %s", stderr)
	assert.Equal(t, map[string]any{"redriven": 10., "refused": 2., "skipped": 0., "failed": 0.}, objects(t, stdout)[0])
	stdout, stderr, code = invoke(t, "dlq", "redrive", "--dsn", dsn, "12", "--reason", "checked by hand", "--yes", "--allow-second-effect")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "redriven 1;")
	_, stderr, code = invoke(t, "dlq", "redrive", "--dsn", dsn, "1", "--reason", "again", "--yes")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "redriven already, and skipped: 1\n")
	assert.Equal(t, []string{"11"}, query(t, dsn, "SELECT count(*) FROM msg_retry WHERE action = 'REDRIVE' AND topic = 'orders.retry.payments' AND redrive_count = 1"))
	assert.Equal(t, []string{
		operator() + " dlq redrive 10 rates are loaded scope=payments t",
		operator() + " dlq redrive 1 checked by hand ids 12 allow-second-effect t",
	}, query(t, dsn, "SELECT concat_ws(' ', operator, command, changed, reason, target, ended_at IS NOT NULL) FROM idem_operation ORDER BY id"))
}

func TestADeadLetterIsRepaired(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(good, []byte(`{"order_id": "o-7"}`), 0o600))
	require.NoError(t, os.WriteFile(bad, []byte(`{"ordr_id": "o-7"}`), 0o600))
	args := []string{"dlq", "redrive", "3", "--dsn", dsn, "--reason", "r", "--yes", "--schema", filepath.Join("..", "..", "examples", "shop", "proto"), "--payload"}
	_, stderr, code := invoke(t, append(args, bad)...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "ordr_id")
	same := filepath.Join(dir, "same.json")
	require.NoError(t, os.WriteFile(same, []byte("{ }"), 0o600))
	_, stderr, code = invoke(t, append(args, same, "--dry-run")...)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stderr, "warning: the repaired payload says what the old one says")
	_, stderr, code = invoke(t, append(args, good)...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "by its fields its key is orders.created:v1:o-7, and the dead letter's is k-3: mend")
	assert.Equal(t, []string{"0"}, query(t, dsn, "SELECT count(*) FROM msg_retry"))
	_, stderr, code = invoke(t, append(args, good, "--allow-second-effect")...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "warning: by its fields the key of the repaired payload is orders.created:v1:o-7; it is redriven as k-3\n")
	assert.Equal(t, []string{`\x0a036f2d37`}, query(t, dsn, "SELECT payload::text FROM msg_retry"))
}

// A later version of a service may end messages in ways that this one does not know; RETRYABLE is the zero value.
func TestAnOutcomeIsShownAsItIs(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, "UPDATE dead_letter SET outcome = CASE id WHEN 1 THEN 'FROZEN' ELSE 'RETRYABLE' END WHERE id < 3")
	for id, want := range map[string]string{"1": "FROZEN", "2": "RETRYABLE"} {
		stdout, _, _ := invoke(t, "dlq", "ls", "--key", "k-"+id, "--dsn", dsn)
		assert.Contains(t, stdout, "k-"+id+"  "+want+" ")
		stdout, _, _ = invoke(t, "dlq", "ls", "--key", "k-"+id, "--dsn", dsn, "-o", "json")
		assert.Equal(t, want, objects(t, stdout)[0]["outcome"])
		stdout, _, _ = invoke(t, "dlq", "show", id, "--dsn", dsn)
		assert.Regexp(t, `\noutcome +`+want+`\n`, stdout)
		stdout, _, _ = invoke(t, "trace", "k-"+id, "--dsn", dsn)
		assert.Contains(t, stdout, "dead letter "+id+", "+want+": ")
	}
}

func TestADryRunShowsWhatARepairChanges(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, `UPDATE dead_letter SET payload = convert_to('{"order_id": "7", "channel": "CHANNEL_SMS", "template": "paid", "address": "hunter2"}', 'UTF8') WHERE id = 13`)
	dir := t.TempDir()
	mended, raw := filepath.Join(dir, "mended.json"), filepath.Join(dir, "raw")
	require.NoError(t, os.WriteFile(mended, []byte(`{"channel": "CHANNEL_SMS", "template": "paid\u001b[2J", "address": "hunter3", "sent_at": "2026-03-01T12:00:00Z"}`), 0o600))
	require.NoError(t, os.WriteFile(raw, []byte("raw"), 0o600))
	redrive := func(args ...string) (stdout, stderr string) {
		stdout, stderr, code := invoke(t, append([]string{"dlq", "redrive", "13", "--dsn", dsn, "--dry-run", "--allow-second-effect"}, args...)...)
		require.Equal(t, exitOK, code, stderr)
		assert.NotContains(t, stdout+stderr, "hunter")
		assert.NotContains(t, stdout+stderr, "\x1b")
		return stdout, stderr
	}
	schema := filepath.Join("..", "..", "examples", "shop", "proto")
	stdout, _ := redrive("--payload", mended, "--schema", schema)
	assert.Contains(t, stdout, "the payload is repaired: 85 bytes, sha256 ")
	assert.Contains(t, stdout, "  order_id: \"7\" → not set\n  sent_at: not set → \"2026-03-01T12:00:00Z\"\n  template: \"paid\" → \"paid\\u001b[2J\"\n  address: it differs, and is hidden\n")
	stdout, _ = redrive("--payload", mended, "--schema", schema, "-o", "json")
	assert.Equal(t, []any{
		map[string]any{"path": "order_id", "before": "7"}, map[string]any{"path": "sent_at", "after": "2026-03-01T12:00:00Z"},
		map[string]any{"path": "template", "before": "paid", "after": "paid\x1b[2J"}, map[string]any{"path": "address", "hidden": true},
	}, objects(t, stdout)[0]["repair"].(map[string]any)["changes"])
	stdout, stderr := redrive("--payload", raw)
	assert.Contains(t, stdout, " become 3 bytes, sha256 ")
	assert.Contains(t, stderr, "which fields the repair changes is shown by --schema")
}

func TestDeadLettersAreDropped(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	stdout, stderr, code := invoke(t, "dlq", "drop", "--dsn", dsn, "--reject-reason", "BAD", "--reason", "test data", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "dropped 6\n", stdout)
	assert.Equal(t, []string{"7"}, query(t, dsn, "SELECT count(*) FROM dead_letter"))
	assert.Equal(t, []string{"6"}, query(t, dsn, "SELECT changed FROM idem_operation"))
}

// Whoever looks sees some; a program gets all.
func TestADryRunIsCompleteForPrograms(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, waiting, "INSERT INTO msg_retry "+
		"(next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, status, action, topic, headers, payload) "+
		"SELECT now(), i, 0, 0, 1, 0, 'payments', 'k-' || i, 'orders', 'PENDING', 'RETRY', 'orders.retry.payments', '[]', 'four' FROM generate_series(5, 15) i")
	for _, c := range []struct {
		args  string
		count int
	}{{"dlq drop --all", 13}, {"dlq redrive --scope payments", 12}, {"retry now --all", 15}} {
		args := append(strings.Fields(c.args), "--dsn", dsn, "--dry-run")
		stdout, stderr, code := invoke(t, args...)
		require.Equal(t, exitOK, code, stderr)
		assert.Equal(t, 1+sampleSize+1, strings.Count(stdout, "\n"), c.args)
		stdout, stderr, code = invoke(t, append(args, "-o", "json")...)
		require.Equal(t, exitOK, code, stderr)
		all := objects(t, stdout)
		assert.Len(t, all, c.count, c.args)
		if c.count == 15 {
			assert.InDelta(t, 4, all[14]["payload_bytes"], 0)
		}
	}
}

// A command that was interrupted is given again, as it is in the shell's history.
func TestWhatIsDoneAlreadyIsSkipped(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters, waiting, "UPDATE dead_letter SET redriven_at = now() WHERE id IN (1, 3)")
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"dlq redrive 3 2 1 4 --dry-run", exitOK, "", "redriven already, and skipped: 1 3\n2 would be redriven\n"},
		{"dlq redrive 3 2 1 4", exitOK, "redriven 2; skipped 2 (redriven or dropped already), refused 0 (TOO_OLD), failed 0\n", "redriven already, and skipped: 1 3\n"},
		{"dlq redrive 3 2 1 4", exitNo, "", "redriven already, and skipped: 1 2 3 4\nidem: nothing is left to do: nothing was changed\n"},
		{"dlq redrive 5 99", exitNo, "", "there is no dead letter 99"},
		{"dlq drop 5 6", exitOK, "dropped 2\n", ""},
		{"dlq drop 4 5 6 7 -o json", exitOK, `{"dropped":1,"skipped":3}` + "\n", "redriven already, and skipped: 4\nnot in "},
		{"dlq drop 5 6", exitNo, "", " (dropped since, or never there), and skipped: 5 6\nidem: nothing is left to do"},
		{"retry cancel 1 2", exitOK, "2 cancelled; 0 left as they were", ""},
		{"retry cancel 1 2 3 -o json", exitOK, `{"changed":1,"left":2}` + "\n", " (published or cancelled since, or never there), and skipped: 1 2\n"},
		{"retry now 1 2 3", exitNo, "", "nothing is left to do"},
		{"retry cancel 4711", exitNo, "", "or never there), and skipped: 4711\nidem: nothing is left to do"},
	} {
		stdout, stderr, code := invoke(t, append(strings.Fields(c.args), "--dsn", dsn, "--reason", "r", "--yes")...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stdout, c.stdout, c.args)
		assert.Contains(t, stderr, c.stderr, c.args)
	}
	assert.Equal(t, []string{"ids 2 4", "ids 5 6", "ids 7", "ids 1 2", "ids 3"}, query(t, dsn, "SELECT target FROM idem_operation ORDER BY id"))
}

// What comes while the operator reads is neither redriven nor dropped; nor is one that was redriven meanwhile, and ended
// once more for another reason, under its old id.
func TestASelectionIsWhatTheOperatorSaw(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	s := &connect.Store{Tables: opened(t, dsn)}
	flags := selectFlags{changeFlags: changeFlags{max: 100}}
	found, err := flags.selected(t.Context(), streams{err: io.Discard}, s, []string{"1", "3", "5", "12"})
	require.NoError(t, err)
	query(t, dsn, "UPDATE dead_letter SET redriven_at = now() WHERE id = 3")
	query(t, dsn, "UPDATE dead_letter SET created_at = clock_timestamp(), reason = 'LATER' WHERE id = 5")
	left := &chosen{s, found}
	list, err := left.ListDeadLetters(t.Context(), store.DeadLetterFilter{}, 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.EqualValues(t, 1, list[0].ID)
	assert.EqualValues(t, 12, list[1].ID)
	dropped, err := left.drop(t.Context(), found.ids)
	require.NoError(t, err)
	assert.Equal(t, 2, dropped)
	assert.Equal(t, []string{"11"}, query(t, dsn, "SELECT count(*) FROM dead_letter"))
}
