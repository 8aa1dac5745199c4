package checklist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// TestDelaysAreComparedWithTheBackoff: a retry that is early is a fault, and one that is much too late.
func TestDelaysAreComparedWithTheBackoff(t *testing.T) {
	m := &made{id: "f1", key: "orders:f1", policy: idem.DefaultPolicy()}
	m.policy.MaxRetry = 2
	delays, err := delaysOf(m)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		late  [2]time.Duration
		calls int
		says  []string
	}{
		"as computed":  {[2]time.Duration{0, 30 * time.Millisecond}, 3, nil},
		"early":        {[2]time.Duration{-time.Second, 0}, 3, []string{"DELAY orders:f1: retry 1 came after"}},
		"late":         {[2]time.Duration{0, 6 * time.Second}, 3, []string{"more than 5s later"}},
		"one too few":  {[2]time.Duration{}, 2, []string{"TRIES orders:f1: 2 calls, and with max_retry 2 there have to be 3"}},
		"not at all":   {[2]time.Duration{}, 0, []string{"TRIES orders:f1: 0 calls"}},
		"none of time": {[2]time.Duration{-delays[0], -delays[1]}, 3, []string{"retry 1 came after 0s", "retry 2 came after 0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Now()
			d := &downstream{}
			for n := range c.calls {
				if n > 0 {
					at = at.Add(delays[n-1] + c.late[n-1])
				}
				d.calls = append(d.calls, &call{id: "f1", begin: at, end: at, status: 503})
			}
			trial := &trial{bench: &bench{adapter: &Adapter{Late: Duration{5 * time.Second}}, down: d}, result: &Result{}}
			trial.judgeDelays(m, "503")
			require.Len(t, trial.result.Violations, len(c.says), "%q", trial.result.Violations)
			for i, text := range c.says {
				require.Contains(t, trial.result.Violations[i], text)
			}
		})
	}
}

// TestViolationsAreBrief: the first few of a kind, and how many more.
func TestViolationsAreBrief(t *testing.T) {
	require.Equal(t, []string{"LOST a:1: x", "NOT QUIET it did", "LOST b: x", "LOST c: x", "LOST 2 more"},
		brief([]string{"LOST a:1: x", "NOT QUIET it did", "LOST b: x", "LOST c: x", "LOST d: x", "LOST e: x"}))
}

// TestLedgersOfServices: an object of counts, or a list of effects.
func TestLedgersOfServices(t *testing.T) {
	counts, err := ledger([]byte(`{"a":2,"b":1}`), "")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 2, "b": 1}, counts)
	counts, err = ledger([]byte(`[{"order":"a"},{"order":"b"},{"order":"a"}]`), "order")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 2, "b": 1}, counts)
	_, err = ledger([]byte(`<html>`), "")
	require.Error(t, err)
}
