package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// audited are counts of the present hour and of one nine days ago.
const audited = `INSERT INTO idem_audit (hour, scope, event_type, outcome, action, layer, count)
	SELECT date_trunc('hour', now() - ago, 'UTC'), scope, event_type, outcome, action, layer, count FROM (VALUES
		(interval '0', 'payments', 'order.created', 'OK', 'ACK', '', 1000),
		(interval '0', 'payments', 'order.created', 'DUPLICATE', 'ACK', 'store', 7),
		(interval '3 hours', 'payments', 'order.created', 'DUPLICATE', 'ACK', 'redis', 90),
		(interval '0', 'payments', 'order.created', 'DUPLICATE', 'ACK', 'handler', 5),
		(interval '0', 'payments', 'order.created', 'STALE', 'ACK', 'store', 3),
		(interval '0', 'payments', 'order.created', 'KEY_REUSED', 'DEAD_LETTER', 'store', 2),
		(interval '0', 'payments', 'refund', 'SUPERSEDED', 'ACK', 'state', 1),
		(interval '0', 'payments', 'refund', 'RETRYABLE', 'RETRY', '', 11),
		(interval '0', 'mail', 'refund', 'RETRYABLE', 'DEAD_LETTER', '', 1),
		(interval '9 days', 'mail', 'refund', 'DUPLICATE', 'ACK', 'store', 10000)
	) v (ago, scope, event_type, outcome, action, layer, count)`

func TestWhatWasStoppedAndWhere(t *testing.T) {
	t.Parallel()
	dsn := operated(t, audited)
	for args, want := range map[string]string{
		"": `EVENT TYPE     DONE  STOPPED  AT REDIS  AT STORE  AT STATE  AT HANDLER  SAVED  KEYS REUSED  RETRIES  DEAD LETTERS
order.created  1000  105      90        10        0         5           100    2            0        2
refund         0     1        0         0         1         0           1      0            11       1
all            1000  106      90        10        1         5           101    2            11       3
`,
		"--by scope": `SCOPE     DONE  STOPPED  AT REDIS  AT STORE  AT STATE  AT HANDLER  SAVED  KEYS REUSED  RETRIES  DEAD LETTERS
mail      0     0        0         0         0         0           0      0            0        1
payments  1000  106      90        10        1         5           101    2            11       2
all       1000  106      90        10        1         5           101    2            11       3
`,
		"--by layer --scope payments": `LAYER    DUPLICATES  STALE  SUPERSEDED  KEYS REUSED
handler  5           0      0           0
redis    90          0      0           0
state    0           0      1           0
store    7           3      0           2
all      102         3      1           2
`,
		"--scope mail --since 10d --until 8d": `EVENT TYPE  DONE  STOPPED  AT STORE  SAVED  KEYS REUSED  RETRIES  DEAD LETTERS
refund      0     10000    10000     10000  0            0        0
`,
	} {
		stdout, stderr, code := invoke(t, append([]string{"audit", "--dsn", dsn}, strings.Fields(args)...)...)
		require.Equal(t, exitOK, code, stderr)
		time, table, _ := strings.Cut(stdout, "\n")
		assert.Regexp(t, `^from 20..-..-.. ..:00 to 20..-..-.. ..:.. UTC: hours are counted as a whole$`, time, args)
		assert.Equal(t, want, table, args)
	}
	stdout, stderr, code := invoke(t, "audit", "--dsn", dsn, "--scope", "none")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "nothing was counted since ")
}

func TestAuditForPrograms(t *testing.T) {
	t.Parallel()
	dsn := operated(t, audited)
	stdout, stderr, code := invoke(t, "audit", "--dsn", dsn, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	all := objects(t, stdout)
	require.Len(t, all, 2)
	for name, want := range map[string]any{
		"event_type": "order.created", "done": 1000., "duplicates": 102., "stale": 3., "superseded": 0., "keys_reused": 2., "effects_saved": 100.,
		"retries": 0., "holds": 0., "deferrals": 0., "dead_letters": 2., "stopped_by": map[string]any{"redis": 90., "store": 10., "handler": 5.},
	} {
		assert.Equal(t, want, all[0][name], name)
	}
	stdout, _, _ = invoke(t, "audit", "--dsn", dsn, "--output", "json", "--by", "hour", "--since", "10d")
	var hours []string
	for _, o := range objects(t, stdout) {
		hours = append(hours, o["hour"].(string))
	}
	now := time.Now()
	var want []string
	for _, ago := range []time.Duration{9 * 24 * time.Hour, 3 * time.Hour, 0} {
		want = append(want, store.Hour(now.Add(-ago)).Format(time.RFC3339))
	}
	assert.Equal(t, want, hours)
}

func TestAuditOfAContextAddsItsStores(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mail.db")
	s, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Count(t.Context(), []store.Count{{Scope: "mail", EventType: "refund", Outcome: "DUPLICATE", Action: "ACK", Layer: "store", N: 4}}))
	require.NoError(t, s.Close())
	userConfig(t, fmt.Sprintf("contexts: {prod: {stores: {mail: \"sqlite:%s\", payments: %q}}}", file, operated(t, audited)))
	stdout, stderr, code := invoke(t, "audit", "--context", "prod", "--by", "layer", "--since", "1h")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "STORE     LAYER")
	assert.Contains(t, stdout, "mail      store    4")
	assert.Contains(t, stdout, "payments  store    7")
}

// The hours are those that begin in the time that was asked for, as far as they have passed.
func TestAuditSaysOfWhichTimeItIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 30, 40, 0, time.UTC)
	for _, c := range []struct{ since, until, want string }{
		{"5m", "", "from 2026-03-08 12:00 to 2026-03-08 12:30 UTC"},
		{"31m", "", "from 2026-03-08 11:00 to 2026-03-08 12:30 UTC"},
		{"3h", "2h", "from 2026-03-08 09:00 to 2026-03-08 11:00 UTC"},
		{"2026-03-08T02:00:00+01:00", "2026-03-08T02:00:00Z", "from 2026-03-08 01:00 to 2026-03-08 02:00 UTC"},
		{"1h", "2026-03-09T00:00:00Z", "from 2026-03-08 11:00 to 2026-03-08 12:30 UTC"},
	} {
		flags := auditFlags{since: c.since, until: c.until, by: byType}
		filter, err := flags.filter(now, false)
		require.NoError(t, err)
		assert.Equal(t, c.want+": hours are counted as a whole", covered(filter, now), c.since+" "+c.until)
	}
}

func TestBarsShowWhenDuplicatesWereStopped(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 30, 0, 0, time.UTC)
	flags := auditFlags{since: "7d", by: byType}
	filter, err := flags.filter(now, true)
	require.NoError(t, err)
	assert.Equal(t, 8*time.Hour, filter.By, "169 hours in at most 24 bars")
	assert.Equal(t, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), filter.Since)
	sheet := auditSheet{by: byType, filter: filter, bars: true}
	sheet.add("", []store.Count{
		{Hour: filter.Since, EventType: "a", Outcome: "DUPLICATE", Layer: "store", N: 2},
		{Hour: filter.Since.Add(21 * 8 * time.Hour), EventType: "a", Outcome: "DUPLICATE", Layer: "store", N: 8},
		{Hour: filter.Since, EventType: "a", Outcome: "OK", N: 100},
	})
	var out bytes.Buffer
	sheet.table(&out)
	assert.Contains(t, out.String(), "COURSE")
	assert.Contains(t, out.String(), "▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█")
}

func TestAuditSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, stderr, code := invoke(t, "audit", "--dsn", operated(t, "DROP TABLE idem_audit"))
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "idem migrate")
}
