package schemas_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint/config"
)

// shortMachine has one state in which a transition to B can come too early.
const shortMachine = ` enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "A"} transition: {from: "A" to: "B"}}; S_UNSPECIFIED = 0; S_A = 1; S_B = 2; } `

const (
	toA = ` transition: {state_machine: "t.v1.S" from: "" to: "A"} `
	toB = ` transition: {state_machine: "t.v1.S" from: "A" to: "B"} `
)

func TestRetries(t *testing.T) {
	t.Parallel()
	const (
		below     = "IDEM_RETRY_CAP_BELOW_BASE"
		unstated  = "IDEM_RETRY_CAP_UNSTATED"
		descends  = "IDEM_RETRY_SCHEDULE_DESCENDS"
		unreached = "IDEM_RETRY_SCHEDULE_UNREACHED"
		unused    = "IDEM_RETRY_UNUSED"
		jitter    = "IDEM_RETRY_JITTER_ZERO"
		dedup     = "IDEM_RETRY_OUTLIVES_DEDUP"
		topic     = "IDEM_RETRY_OUTLIVES_TOPIC"
		short     = "IDEM_DEDUP_RETENTION_SHORT"
		hold      = "IDEM_HOLD_NONE"
	)
	retry := func(text string) string { return message("retry: {"+text+"}", "") }
	kept := func(d time.Duration) config.Facts {
		return config.Facts{Default: config.Fact{DedupRetention: &d, TopicRetention: &d}}
	}
	retention := func(dedup, topic time.Duration) config.Facts {
		return config.Facts{Default: config.Fact{DedupRetention: &dedup, TopicRetention: &topic}}
	}
	consumers := func(n int64) config.Facts { return config.Facts{Default: config.Fact{Consumers: &n}} }
	runAll(t, []given{
		{name: "stated", rule: below, proto: retry("backoff_base_seconds: 11 backoff_max_seconds: 10"), want: []string{"its cap of 10 s, and never its base of 11 s"}},
		{name: "default", rule: below, proto: retry("backoff_base_seconds: 301"), want: []string{"its cap of 300 s, the default, and never its base of 301 s"}},
		{name: "equal, which is a constant delay", rule: below, proto: retry("backoff_base_seconds: 10 backoff_max_seconds: 10")},
		{name: "a schedule is in place of both", rule: below, proto: retry("backoff_schedule_ms: [1]")},
		{name: "no policy", rule: below, proto: message("", "")},

		{name: "grows over it", rule: unstated, proto: retry("max_retry: 10 backoff_base_seconds: 1"), want: []string{"the 10 delays of t.v1.M grow to a cap that nobody wrote, the default of 300 s"}},
		{name: "just below", rule: unstated, proto: retry("max_retry: 9 backoff_base_seconds: 1")},
		{name: "many retries of a large base", rule: unstated, proto: retry("max_retry: 100 backoff_base_seconds: 300"), want: []string{"the 100 delays"}},
		{name: "stated, all default, a schedule, no retry", rule: unstated, proto: retry("max_retry: 100 backoff_base_seconds: 1 backoff_max_seconds: 300")},
		{name: "all default", rule: unstated, proto: retry("backoff_jitter_ms: 5")},
		{name: "no retry", rule: unstated, proto: retry("max_retry: 0 backoff_base_seconds: 9")},
		{name: "cap below base", rule: unstated, proto: retry("max_retry: 9 backoff_base_seconds: 900")},

		{name: "goes down once", rule: descends, proto: retry("backoff_schedule_ms: [1, 3, 2, 1]"), want: []string{"go down from 3 ms to 2 ms at entry 3"}},
		{name: "stays", rule: descends, proto: retry("backoff_schedule_ms: [1, 1, 2]")},

		{name: "longer by one", rule: unreached, proto: retry("max_retry: 2 backoff_schedule_ms: [1, 2, 3]"), want: []string{"3 delays in its schedule, and is given up after 2"}},
		{name: "default of retries", rule: unreached, proto: retry("backoff_schedule_ms: [1, 2, 3, 4, 5, 6]"), want: []string{"given up after 5"}},
		{name: "as long, or shorter", rule: unreached, proto: retry("max_retry: 3 backoff_schedule_ms: [1, 2, 3]")},
		{name: "holds reach it", rule: unreached, proto: message("retry: {max_retry: 2 backoff_schedule_ms: [1, 2, 3]}"+toB, "") + shortMachine},
		{name: "no retry", rule: unreached, proto: retry("max_retry: 0 backoff_schedule_ms: [1, 2, 3]")},

		{name: "base", rule: unused, proto: retry("max_retry: 0 backoff_base_seconds: 10"), want: []string{"max_retry: 0"}},
		{name: "schedule", rule: unused, proto: retry("max_retry: 0 backoff_schedule_ms: [1, 2]"), want: []string{"max_retry: 0"}},
		{name: "the least of everything", rule: unused, proto: retry("max_retry: 0 max_hold: 0 backoff_base_seconds: 1 backoff_jitter_ms: 0 backoff_max_seconds: 1")},
		{name: "holds use it", rule: unused, proto: message("retry: {max_retry: 0 backoff_base_seconds: 10}"+toB, "") + shortMachine},
		{name: "a retry", rule: unused, proto: retry("max_retry: 1 backoff_base_seconds: 10")},

		{name: "two consumers", rule: jitter, facts: consumers(2), proto: retry("backoff_jitter_ms: 0"), want: []string{"its 2 consumers"}},
		{name: "one consumer", rule: jitter, facts: consumers(1), proto: retry("backoff_jitter_ms: 0")},
		{name: "not declared", rule: jitter, proto: retry("backoff_jitter_ms: 0")},
		{name: "default, or no retry", rule: jitter, facts: consumers(2), proto: retry("max_retry: 3")},
		{name: "no retry", rule: jitter, facts: consumers(2), proto: retry("max_retry: 0 backoff_jitter_ms: 0")},

		// 1 + 2 + 4 + 8 + 16 s and 5 jitters of 1 s.
		{name: "default policy, as long", rule: dedup, facts: kept(36 * time.Second), proto: message("", ""), want: []string{"up to 36s together (5 retries), and its dedup record is kept for 36s"}},
		{name: "default policy, longer", rule: dedup, facts: kept(36001 * time.Millisecond), proto: message("", "")},
		// 10 + 30 + 30 s and 3 jitters of half a second.
		{name: "schedule whose last entry repeats", rule: dedup, facts: kept(71500 * time.Millisecond), proto: retry("max_retry: 3 backoff_jitter_ms: 500 backoff_schedule_ms: [10000, 30000]"), want: []string{"1m11.5s"}},
		{name: "schedule, kept for longer", rule: dedup, facts: kept(71501 * time.Millisecond), proto: retry("max_retry: 3 backoff_jitter_ms: 500 backoff_schedule_ms: [10000, 30000]")},
		// 2 retries and 3 holds: 1 + 2 and 1 + 2 + 4 s.
		{name: "holds of a transition", rule: dedup, facts: kept(10 * time.Second), proto: message("retry: {max_retry: 2 max_hold: 3 backoff_jitter_ms: 0}"+toB, "") + shortMachine, want: []string{"10s together (2 retries and 3 holds)"}},
		{name: "no holds", rule: dedup, facts: kept(10 * time.Second), proto: retry("max_retry: 2 backoff_jitter_ms: 0")},
		{name: "holds that are stated", rule: dedup, facts: kept(10 * time.Second), proto: retry("max_retry: 2 max_hold: 3 backoff_jitter_ms: 0"), want: []string{"3 holds"}},
		{name: "the most of everything", rule: dedup, facts: kept(365 * 24 * time.Hour), proto: retry("max_retry: 100 max_hold: 100 backoff_base_seconds: 86400 backoff_jitter_ms: 3600000 backoff_max_seconds: 604800"), want: []string{"kept for 365d"}},
		{name: "out of bounds", rule: dedup, facts: kept(time.Second), proto: retry("max_retry: 101")},
		{name: "not declared", rule: dedup, proto: retry("max_retry: 100")},
		{name: "topic", rule: topic, facts: kept(36 * time.Second), proto: message("", ""), want: []string{"its topic keeps it for 36s"}},
		{name: "topic not declared", rule: topic, facts: config.Facts{Default: config.Fact{DedupRetention: ptr(time.Second)}}, proto: message("", "")},

		{name: "as long as the topic's", rule: short, facts: retention(time.Hour, time.Hour), proto: message("", ""), want: []string{"the default facts, which hold for t.m and all events without their own, say that dedup records are kept for 1h and topics keep messages for 1h"}},
		{name: "longer than the topic's", rule: short, facts: retention(time.Hour+1, time.Hour), proto: message("", "")},
		{name: "one of two declared", rule: short, facts: config.Facts{Default: config.Fact{DedupRetention: ptr(time.Second)}}, proto: message("", "")},
		{name: "once for the default", rule: short, facts: retention(time.Hour, 2*time.Hour),
			proto: message("", "") + `message N { option (idem.v1.message).idempotency_key = "t.n:v1:{id}"; string id = 1; }`, want: []string{"which hold for t.m and all"}},
		{name: "for each event type of its own", rule: short,
			facts: config.Facts{Default: config.Fact{DedupRetention: ptr(time.Hour), TopicRetention: ptr(time.Minute)}, Events: map[string]config.Fact{"t.n": {TopicRetention: ptr(time.Hour)}}},
			proto: message("", "") + `message N { option (idem.v1.message).idempotency_key = "t.n:v1:{id}"; string id = 1; }`, want: []string{"of t.n are"}},
		{name: "each event type with the same facts", rule: short,
			facts: config.Facts{Events: map[string]config.Fact{
				"t.m": {DedupRetention: ptr(time.Hour), TopicRetention: ptr(time.Hour)},
				"t.n": {DedupRetention: ptr(time.Hour), TopicRetention: ptr(time.Hour)},
			}},
			proto: message("", "") + `message N { option (idem.v1.message).idempotency_key = "t.n:v1:{id}"; string id = 1; }`, want: []string{"the facts say that dedup records of t.m are", "of t.n are"}},

		{name: "can be early", rule: hold, proto: message("retry: {max_hold: 0}"+toB, "") + shortMachine, want: []string{`in state ""`}},
		{name: "early in the state before", rule: hold, proto: machineOf(">A", "A>B", "B>C") + message(`retry: {max_hold: 0} transition: {state_machine: "t.v1.S" from: "B" to: "C"}`, ""), want: []string{`in state "A"`}},
		{name: "a creation is never early", rule: hold, proto: message("retry: {max_hold: 0}"+toA, "") + shortMachine},
		{name: "one hold, or no transition", rule: hold, proto: message("retry: {max_hold: 1}"+toB, "") + shortMachine},
		{name: "no transition", rule: hold, proto: retry("max_hold: 0")},
	})
}

func TestScheduleThatGoesDownIsSortedByAnEdit(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"backoff_schedule_ms: [30, 1, 2]":                                       "backoff_schedule_ms: [1, 2, 30]",
		"max_retry: 7 backoff_schedule_ms: [\n  60000,\n  10000\n] max_hold: 5": "max_retry: 7 backoff_schedule_ms: [\n  10000,\n  60000\n] max_hold: 5",
		"backoff_schedule_ms: [2, /* then */ 1]":                                "",
		"backoff_schedule_ms: 2 backoff_schedule_ms: 1":                         "",
	} {
		text := head + message("retry: {"+before+"}", "")
		found := findings(t, "IDEM_RETRY_SCHEDULE_DESCENDS", gentest.Sources{"t.proto": text}, config.Facts{})
		require.Len(t, found, 1, before)
		if after == "" {
			require.Empty(t, found[0].Edits, before)
			continue
		}
		require.Len(t, found[0].Edits, 1, before)
		e := found[0].Edits[0]
		require.Equal(t, head+message("retry: {"+after+"}", ""), text[:e.Start]+e.Text+text[e.End:])
	}
}
