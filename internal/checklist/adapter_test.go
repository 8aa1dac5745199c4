package checklist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `
name: small
service: {command: [./small]}
kafka: {brokers: "127.0.0.1:9092"}
group: small
message:
  topic: t
  file: payload.bin
  headers: {idempotency_key: "k:{id}"}
  effect: {url: "http://127.0.0.1:1/ledger"}
`

func adapterOf(t *testing.T, text string) (*Adapter, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return ReadAdapter(file)
}

// TestAdapterThatIsWrong names what is wrong, and what would be right.
func TestAdapterThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ more, says string }{
		"a field that nobody knows":     {"gruop: small\n", "gruop"},
		"a fault that nobody knows":     {"skip: {redis: no Redis}\n", "there is no fault redis; idem faults --list"},
		"a fault that is nearly one":    {"skip: {redis-dwon: no Redis}\n", "small.yaml:11: skip.redis-dwon: there is no fault redis-dwon; idem faults --list shows them; did you mean redis-down?"},
		"a topic that is nearly one":    {"\n# a comment\ntopics: {tt: 1}\n", "small.yaml:7: message.topic: t is not among topics: add it there if the service reads it"},
		"a topic of a later message":    {"topics: {t: 1, refunds: 1}\norder:\n  - {topic: t, file: f, headers: {idempotency_key: k}, effect: {url: u}}\n  - {topic: refundz, file: f, headers: {idempotency_key: k}, effect: {url: u}}\n", "small.yaml:14: order[1].topic: refundz is not among topics: add it there if the service reads it; did you mean refunds?"},
		"a skip without a reason":       {"skip: {redis-down: ' '}\n", "no reason"},
		"a variable that is not set":    {"language: ${IDEM_NOT_SET}\n", "the variable IDEM_NOT_SET is not set"},
		"dead letters in two places":    {"dead_letters: {table: t, topic: t}\n", "a table or a topic"},
		"a table without a database":    {"dead_letters: {table: t}\n", "postgres.url"},
		"a standby without a command":   {"postgres: {url: u, standby: {url: u}}\n", "postgres.standby needs kill and promote"},
		"no duration":                   {"lease: 10\n", `"10" is no duration`},
		"ids that are all the same":     {"id: order\n", "{n}"},
		"an order without an effect":    {"order: [{topic: t, file: f, headers: {idempotency_key: k}}]\n", "order[0]: effect is one of sql, url and downstream"},
		"a message of no kind":          {"broadcast: {topic: t, effect: {url: u}}\n", "broadcast: it is of a type"},
		"beside without a command":      {"beside: [{ready: x}]\n", "beside: one has no command"},
		"an order of nothing":           {"order: [null]\n", "order[0] is empty"},
		"a status that is none":         {"downstream: {status: 5}\n", "downstream.status 5"},
		"a topic without partitions":    {"topics: {t: -1}\n", "topics.t: -1 partitions"},
		"an effect that nobody answers": {"broadcast: {topic: t, file: f, headers: {idempotency_key: k}, effect: {downstream: true}}\n", "downstream: {status: 200}"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := adapterOf(t, small+c.more)
			var wrong *AdapterError
			require.ErrorAs(t, err, &wrong)
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := adapterOf(t, strings.Replace(small, "name: small", "name: ../small", 1))
	require.ErrorContains(t, err, "it is no path")
	_, err = adapterOf(t, "")
	require.ErrorContains(t, err, "it is empty")
	_, err = ReadAdapter("no-such.yaml")
	require.ErrorContains(t, err, "no-such.yaml: no such file")
}

// TestFaultsThatDoNotApplyHaveAReason: none is left out silently.
func TestFaultsThatDoNotApplyHaveAReason(t *testing.T) {
	a, err := adapterOf(t, small+"skip: {reversed-order: nothing has an order}\n")
	require.NoError(t, err)
	b := &bench{adapter: a}
	reasons := map[string]string{}
	for i := range faults {
		if reason := b.skips(&faults[i], false); reason != "" {
			reasons[faults[i].Name] = reason
		}
	}
	require.Equal(t, "nothing has an order", reasons["reversed-order"])
	require.Contains(t, reasons["zombie-worker"], "cannot be held")
	require.Contains(t, reasons["broadcast"], "no broadcast")
	require.NotContains(t, reasons, "duplicate-delivery")
	require.Len(t, reasons, len(faults)-2) // duplicates, and the crash
}

// TestStandbyOfAVariableThatIsNotSet is none: the failover alone is skipped.
func TestStandbyOfAVariableThatIsNotSet(t *testing.T) {
	a, err := adapterOf(t, small+"downstream: {status: 200}\npostgres: {url: u, standby: {url: '${IDEM_NOT_SET:-}', kill: k, promote: p}}\n")
	require.NoError(t, err)
	b := &bench{adapter: a}
	for i := range faults {
		if faults[i].Name == "database-failover" {
			require.Contains(t, b.skips(&faults[i], false), "no postgres.standby, or its url is empty")
		}
	}
}

// TestVariablesAreTexts: what a variable holds never becomes structure.
func TestVariablesAreTexts(t *testing.T) {
	t.Setenv("IDEM_TEST_LANGUAGE", "Go\nname: other")
	a, err := adapterOf(t, small+"language: ${IDEM_TEST_LANGUAGE}\nid: ${IDEM_NOT_SET:-o{n}}\n")
	require.NoError(t, err)
	require.Equal(t, "Go\nname: other", a.Language)
	require.Equal(t, "small", a.Name)
}
