//go:build unix

package checklist

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatIsOnItsWayIsNotLost: a message under a live lease, one that has a retry to come, and one that the group has not
// committed are not done yet; the rest is lost.
func TestWhatIsOnItsWayIsNotLost(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/right.yaml")
	require.NoError(t, err)
	a.Build = ""
	o := options(t)
	o.run = "waits" + time.Now().Format("150405")
	b, err := newBench(t.Context(), a, o)
	require.NoError(t, err)
	t.Cleanup(b.close)
	for _, sql := range []string{
		`INSERT INTO idem_record (fence, created_at, updated_at, expires_at, lease_until, state, attempts, scope, key)
			SELECT 1, now(), now(), now() + '1 day', now() + lease * '1 second'::interval, 1, 3, 's', key FROM (VALUES ('claimed', 90), ('left', -90)) v (key, lease)`,
		`INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
			source_topic, status, action, topic, headers)
			SELECT now() + due * '1 second'::interval, 1, 1, 0, 2, 0, 's', key, 't', status, 'RETRY', 't', '{}'
			FROM (VALUES ('to come', 90, 'PENDING'), ('overdue', -90, 'PENDING'), ('parked', 0, 'PARKED')) v (key, due, status)`,
	} {
		_, err := b.db.pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	unread, err := b.maker.make(a.Message)
	require.NoError(t, err)
	unread.Headers = set(unread.Headers, "idempotency_key", "unread")
	require.NoError(t, b.send(t.Context(), unread))
	trial := b.newTrial(&Result{})
	says := map[string][]string{
		"claimed": {"NOT DONE YET claimed: its record is PROCESSING, attempt 3, under a lease for", "Raise patience (1m", "or lease (13s)"},
		"to come": {"NOT DONE YET to come: its row in msg_retry is PENDING, after 2 retries, and due in", "Raise patience (1m"},
		"overdue": {"NOT DONE YET overdue: its row in msg_retry is PENDING, after 2 retries, and was due", "no scheduler has taken it"},
		"parked":  {"NOT DONE YET parked: its row in msg_retry is PARKED, after 2 retries: the head of its lane"},
		"unread":  {"NOT DONE YET unread: it is at offset 0 of faults-waits", "Raise patience (1m"},
		"left":    {"LOST left: "},
		"nowhere": {"LOST nowhere: "},
	}
	for key := range says {
		trial.messages = append(trial.messages, &made{id: key, key: key, of: a.Message})
	}
	require.NoError(t, trial.judge(t.Context()))
	require.Len(t, trial.result.Violations, len(says))
	for _, v := range trial.result.Violations {
		_, rest, _ := strings.Cut(strings.TrimPrefix(v, "NOT DONE YET"), " ")
		key, _, _ := strings.Cut(rest, ":")
		require.NotEmpty(t, says[key], v)
		require.True(t, strings.HasPrefix(v, says[key][0]), v)
		for _, text := range says[key] {
			require.Contains(t, v, text)
		}
	}
}
