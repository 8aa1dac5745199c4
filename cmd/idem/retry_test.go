package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// waiting are deliveries to come: k-1 heads a lane in which k-2 is parked, k-3 is held, and k-4 is being published.
const waiting = `INSERT INTO idem_record (scope, key, state, fence, retry_count, position, created_at, updated_at, expires_at)
		SELECT 'payments', 'k-' || i, 3, 1, 1, 1, now(), now(), now() + interval '14 days' FROM unnest('{1,3,4}'::int[]) i;
	INSERT INTO idem_lane (scope, topic, biz_key, head_key) VALUES ('payments', 'orders', 'o', 'k-1');
	INSERT INTO msg_retry (next_retry_time, claimed_until, token, source_offset, source_partition, redrive_count, retry_count, hold_count, scope,
		idempotency_key, event_type, source_topic, status, action, reason, lane_topic, lane_key, biz_key, topic, headers)
	SELECT now() + interval '1 hour', CASE WHEN i = 4 THEN now() + interval '1 hour' END, CASE WHEN i = 4 THEN 't' ELSE '' END, i, 0, 0,
		CASE WHEN i = 2 THEN 0 ELSE 1 END, 0, 'payments', 'k-' || i, 'paid', 'orders', CASE WHEN i = 2 THEN 'PARKED' ELSE 'PENDING' END,
		CASE WHEN i = 3 THEN 'HOLD' ELSE 'RETRY' END, 'BANK_DOWN', CASE WHEN i < 3 THEN 'orders' ELSE '' END, CASE WHEN i < 3 THEN 'o' ELSE '' END,
		'o', 'orders.retry.payments', '[["idempotency_key","k-' || i || '"],["event_type","paid"],["topic","orders"],["max_retry","5"],["retry_count","1"]]'
	FROM generate_series(1, 4) i`

func TestDeliveriesToComeAreListed(t *testing.T) {
	t.Parallel()
	dsn := operated(t, waiting)
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, 4}, {[]string{"--status", "PARKED"}, 1}, {[]string{"--action", "HOLD"}, 1}, {[]string{"--key", "k-2"}, 1},
		{[]string{"--reject-reason", "BANK_DOWN"}, 4}, {[]string{"--reject-reason", "BANK"}, 0}, {[]string{"--limit", "3"}, 3}, {[]string{"--scope", "mail"}, 0},
	} {
		stdout, stderr, code := invoke(t, append([]string{"retry", "ls", "--dsn", dsn, "--output", "json"}, c.args...)...)
		require.Equal(t, exitOK, code, stderr)
		assert.Len(t, objects(t, stdout), c.want, c.args)
	}
	stdout, _, _ := invoke(t, "retry", "ls", "--dsn", dsn)
	for _, want := range []string{"in 59m", "behind o", "being published"} {
		assert.Contains(t, stdout, want)
	}
}

func TestDeliveriesToComeAreHastened(t *testing.T) {
	t.Parallel()
	dsn := operated(t, waiting)
	stdout, stderr, code := invoke(t, "retry", "now", "--all", "--dsn", dsn, "--reason", "the bank is back", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "3 due now; 1 left as they were")
	due, err := opened(t, dsn).ClaimDue(t.Context(), "t2", 10, 1<<40)
	require.NoError(t, err)
	require.Len(t, due, 2, "and the one that another publishes, once its claim is over")
	_, _, code = invoke(t, "retry", "now", "1", "--dsn", dsn, "--reason", "again", "--yes")
	assert.Equal(t, exitNo, code, "it is due already")
}

// A delivery that is cancelled is lost neither to the lane that it headed nor to a later redrive.
func TestADeliveryThatIsCancelledIsADeadLetter(t *testing.T) {
	t.Parallel()
	dsn := operated(t, waiting)
	stdout, stderr, code := invoke(t, "retry", "cancel", "1", "4", "--dsn", dsn, "--reason", "the order\nis void", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "1 cancelled; 1 left as they were")
	s := opened(t, dsn)
	letters, err := s.ListDeadLetters(t.Context(), store.DeadLetterFilter{}, 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	assert.Equal(t, "CANCELLED: the order is void", letters[0].Reason)
	assert.Equal(t, "orders", letters[0].Topic)
	assert.Equal(t, idem.OutcomeNonRetryable, letters[0].Outcome)
	records, err := s.Records(t.Context(), "payments", []string{"k-1", "k-4"})
	require.NoError(t, err)
	assert.Equal(t, idem.StateDead, records[0].State)
	assert.Equal(t, idem.StateFailed, records[1].State)

	moved, err := s.SweepLanes(t.Context(), 10)
	require.NoError(t, err)
	assert.Equal(t, 1, moved, "k-2 goes on")

	_, stderr, code = invoke(t, "dlq", "redrive", "--key", "k-1", "--dsn", dsn, "--reason", "not void", "--yes")
	require.Equal(t, exitOK, code, stderr)
	grants, err := s.Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k-1", Owner: "o", RedriveCount: 1, MaxAttempts: 9, Lease: 1 << 40}})
	require.NoError(t, err)
	assert.Equal(t, idem.AdmitProceed, grants[0].Kind)
}

// Who cancels a redrive takes back what permitted a second effect: the next one has to be permitted again.
func TestACancelledRedriveOfWhatIsTooOldIsTooOldStill(t *testing.T) {
	t.Parallel()
	dsn := operated(t, manyLetters)
	payload := filepath.Join(t.TempDir(), "repaired")
	require.NoError(t, os.WriteFile(payload, []byte("repaired"), 0o600))
	for _, args := range [][]string{
		{"dlq", "redrive", "11", "--allow-second-effect"}, {"dlq", "redrive", "12", "--allow-second-effect", "--payload", payload},
		{"dlq", "redrive", "10"}, {"retry", "cancel", "--all"},
	} {
		_, stderr, code := invoke(t, append(args, "--dsn", dsn, "--reason", "r", "--yes")...)
		require.Equal(t, exitOK, code, stderr)
	}
	assert.Equal(t, []string{"NON_RETRYABLE", "TOO_OLD", "TOO_OLD"},
		query(t, dsn, "SELECT outcome FROM dead_letter WHERE reason = 'CANCELLED: r' ORDER BY source_offset"))
}

// A row of an earlier delivery than the one that its record waits for ends without the record.
func TestACopyThatIsBehindIsCancelledAlone(t *testing.T) {
	t.Parallel()
	dsn := operated(t, waiting, "UPDATE idem_record SET retry_count = 2, position = 2 WHERE key = 'k-3'")
	_, stderr, code := invoke(t, "retry", "cancel", "--key", "k-3", "--dsn", dsn, "--reason", "r", "--yes")
	require.Equal(t, exitOK, code, stderr)
	records, err := opened(t, dsn).Records(t.Context(), "payments", []string{"k-3"})
	require.NoError(t, err)
	assert.Equal(t, idem.StateFailed, records[0].State)
}

func TestRetriesAreChangedAsMeant(t *testing.T) {
	t.Parallel()
	dsn := operated(t, waiting)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--all", "--dry-run"}, exitOK, "4 are selected, and nothing was changed"},
		{[]string{"--all", "--reason", "r", "--yes", "--max", "3"}, exitNo, "idem: 4 deliveries are selected, and --max is 3"},
		{[]string{"99", "--reason", "r", "--yes"}, exitNo, "or never there), and skipped: 99\nidem: nothing is left to do"},
		{[]string{"--scope", "mail", "--reason", "r", "--yes"}, exitNo, "no delivery to come is selected by scope=mail"},
		{[]string{"1", "--reason", "r"}, exitUsage, "nobody is there to confirm"},
	} {
		_, stderr, code := invoke(t, append([]string{"retry", "cancel", "--dsn", dsn}, c.args...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
	assert.Equal(t, []string{"4"}, query(t, dsn, "SELECT count(*) FROM msg_retry"))
}
