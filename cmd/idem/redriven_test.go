package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The order that was nearly paid twice: its dead letter is repaired and redriven, and nothing happens again.
func TestARedriveThatIsADuplicateSaysSo(t *testing.T) {
	t.Parallel()
	dsn := operated(t)
	s := opened(t, dsn)
	ctx := t.Context()
	claim := store.Claim{Scope: "payments", Key: "k-1", Owner: "o", Fingerprint: "a-1", MaxAttempts: 9, Lease: time.Minute}
	grants, err := s.Claim(ctx, []store.Claim{claim})
	require.NoError(t, err)
	_, err = s.Settle(ctx, []store.Settlement{{State: idem.StateSuccess, Lease: grants[0].Lease}})
	require.NoError(t, err)
	query(t, dsn, `INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type,
		source_topic, outcome, reason, topic, headers, payload) VALUES (7, 0, 0, 0, 0, 'payments', 'k-1', 'paid', 'orders', 'KEY_REUSED',
		'KEY_REUSED: another', 'orders', '[["idempotency_key","k-1"],["fingerprint","b-2"]]', 'wrong')`)
	repaired := filepath.Join(t.TempDir(), "repaired")
	require.NoError(t, os.WriteFile(repaired, []byte("right"), 0o600))
	_, stderr, code := invoke(t, "dlq", "redrive", "1", "--dsn", dsn, "--payload", repaired, "--reason", "the amount was a float", "--yes")
	require.Equal(t, exitOK, code, stderr)
	trace := func() map[string]any {
		t.Helper()
		stdout, stderr, code := invoke(t, "trace", "k-1", "--dsn", dsn, "-o", "json")
		require.Equal(t, exitOK, code, stderr)
		for _, o := range objects(t, stdout) {
			if o["kind"] == lifeRedriven {
				return o["redrive"].(map[string]any)
			}
		}
		return nil
	}
	assert.Equal(t, "WAITING", trace()["outcome"])

	// The scheduler has published it; its consumer has not got it yet, then it has.
	query(t, dsn, "DELETE FROM msg_retry")
	assert.Equal(t, "DUPLICATE", trace()["outcome"])
	assert.Contains(t, trace()["text"], "no duplicate of its type is counted since")
	claim.RedriveCount, claim.Fingerprint = 1, ""
	grants, err = s.Claim(ctx, []store.Claim{claim})
	require.NoError(t, err)
	require.Equal(t, idem.AdmitDuplicate, grants[0].Kind)
	require.NoError(t, s.Count(ctx, []store.Count{{Scope: "payments", EventType: "paid", Outcome: "DUPLICATE", Action: "ACK", Layer: "store", N: 1}}))
	redrive := trace()
	assert.Equal(t, map[string]any{"store": 1.}, redrive["duplicates_by_layer"])
	assert.Equal(t, true, redrive["payload_replaced"])
	assert.Equal(t, "the amount was a float", redrive["operation"].(map[string]any)["reason"])

	stdout, _, _ := invoke(t, "trace", "k-1", "--dsn", dsn)
	assert.Regexp(t, `dlq redrive by \S+, changed 1, payload replaced: the amount was a float\n`, stdout)
	assert.Contains(t, stdout, "dead letter 1 redriven with another payload\n")
	assert.Regexp(t, `\ndead letter 1, redriven at \S+Z: a duplicate, and nothing happens again: the key had its effect at \S+; duplicates of its type were stopped at store then\n$`, stdout)
	stdout, stderr, code = invoke(t, "dlq", "show", "1", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	assert.Regexp(t, `redriven    \S+Z by \S+ \(operation 1\): the amount was a float\n`, stdout)
	assert.Contains(t, stdout, "repaired    it was redriven with another payload than the one here\n")
	assert.Contains(t, stdout, "since then  a duplicate, and nothing happens again: ")
	stdout, _, _ = invoke(t, "dlq", "show", "1", "--dsn", dsn, "-o", "json")
	assert.Equal(t, "DUPLICATE", objects(t, stdout)[0]["redrive"].(map[string]any)["outcome"])
}

func TestWhatBecameOfARedriveIsWhatTheTablesImply(t *testing.T) {
	t.Parallel()
	redriven := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	letter := store.DeadLetter{ID: 1, Scope: "s", Key: "k", EventID: "e-7", SourceTopic: "orders", SourceOffset: 7, Outcome: idem.OutcomeNonRetryable, RedrivenAt: redriven}
	reused := letter
	reused.Outcome = idem.OutcomeKeyReused
	keyless := letter
	keyless.Key = ""
	other := letter
	other.ID, other.EventID = 2, "e-8"
	record := func(state idem.State, redrives int64, after time.Duration) []*store.Record {
		return []*store.Record{{Scope: "other", UpdatedAt: redriven}, {Scope: "s", Record: idem.Record{State: state, RedriveCount: redrives}, UpdatedAt: redriven.Add(after)}}
	}
	later := letter
	later.ID, later.RedriveCount, later.RedrivenAt, later.Reason, later.CreatedAt = 3, 1, time.Time{}, "BAD: x", redriven.Add(time.Second)
	later.SourceTopic, later.SourceOffset = "orders.retry.s", 0
	for _, c := range []struct {
		name          string
		letter        store.DeadLetter
		replaced      bool
		facts         keyFacts
		outcome, text string
	}{
		{"it waits", letter, false, keyFacts{retries: []store.Retry{{Scope: "s", EventID: "e-7", RedriveCount: 1, Action: idem.ActionRedrive}}}, "WAITING", "msg_retry"},
		{"it failed", letter, false, keyFacts{retries: []store.Retry{{Scope: "s", EventID: "e-7", RedriveCount: 1, Action: idem.ActionRetry, Reason: "DOWN"}}}, "FAILED", "RETRY, DOWN"},
		{"another message waits", letter, false, keyFacts{retries: []store.Retry{{Scope: "s", EventID: "e-8", RedriveCount: 1}}}, "UNKNOWN", "no record tells"},
		{"it ended again, as another row", letter, true, keyFacts{letters: []store.DeadLetter{letter, later}}, "DEAD", "as dead letter 3: BAD"},
		{"there is no record", letter, false, keyFacts{}, "UNKNOWN", "not claimed yet, or the record is older"},
		{"there is no key", keyless, false, keyFacts{}, "UNKNOWN", "no key"},
		{"the effect was there", letter, false, keyFacts{records: record(idem.StateSuccess, 0, -time.Hour)}, "DUPLICATE", "had its effect at 2026-03-01T11:00:00Z"},
		{"an earlier redrive had it", letter, false, keyFacts{records: record(idem.StateSuccess, 1, -time.Hour)}, "DUPLICATE", "nothing happens again"},
		{"another delivery had it since", letter, false, keyFacts{records: record(idem.StateSuccess, 0, time.Hour)}, "DUPLICATE", "at 2026-03-01T13:00:00Z"},
		{"it had its effect", letter, false, keyFacts{records: record(idem.StateSuccess, 1, time.Hour), letters: []store.DeadLetter{letter}}, "EFFECT", "at 2026-03-01T13:00:00Z"},
		{"one of two had it", letter, false, keyFacts{records: record(idem.StateSuccess, 1, time.Hour), letters: []store.DeadLetter{letter, other}}, "UNKNOWN", "one effect"},
		{"its fingerprint is another one", reused, false, keyFacts{records: record(idem.StateSuccess, 0, -time.Hour)}, "UNKNOWN", "KEY_REUSED again"},
		{"its fingerprint was dropped", reused, true, keyFacts{records: record(idem.StateSuccess, 0, -time.Hour)}, "DUPLICATE", "nothing happens again"},
		{"it is not claimed", letter, false, keyFacts{records: record(idem.StateDead, 0, -time.Hour)}, "UNKNOWN", "not claimed yet"},
		{"it is claimed", letter, false, keyFacts{records: record(idem.StateProcessing, 1, time.Second)}, "PROCESSING", "PROCESSING"},
		{"it ended again", letter, false, keyFacts{records: record(idem.StateDead, 1, time.Second)}, "DEAD", "DEAD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outcome, text := c.facts.fate(&c.letter, c.replaced)
			assert.Equal(t, c.outcome, outcome)
			assert.Contains(t, text, c.text)
		})
	}
}

func TestTheOperationOfARedrive(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	operation := func(id int64, command, target string, ended time.Duration) store.LoggedOperation {
		o := store.LoggedOperation{ID: id, Operation: store.Operation{Command: command, Target: target}, BegunAt: at.Add(-time.Minute)}
		if ended != 0 {
			o.EndedAt = at.Add(ended)
		}
		return o
	}
	for _, c := range []struct {
		name string
		log  []store.LoggedOperation
		want int64
	}{
		{"by its id", []store.LoggedOperation{operation(3, "dlq redrive", "scope=s", time.Minute), operation(2, "dlq redrive", "ids 16 17", time.Minute)}, 2},
		{"interrupted", []store.LoggedOperation{operation(2, "dlq redrive", "ids 17", 0)}, 2},
		{"by a filter", []store.LoggedOperation{operation(2, "dlq redrive", "scope=s", time.Minute)}, 2},
		{"over before", []store.LoggedOperation{operation(2, "dlq redrive", "ids 17", -time.Second)}, 0},
		{"of others", []store.LoggedOperation{operation(2, "dlq redrive", "ids 1 7", time.Minute), operation(1, "dlq drop", "ids 17", time.Minute)}, 0},
		{"of a topic", []store.LoggedOperation{operation(2, "dlq redrive", "topic t.dlq.s all name=x", time.Minute)}, 0},
		{"of which nobody knows the end", []store.LoggedOperation{operation(2, "dlq redrive", "scope=s", 0)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := (&keyFacts{operations: c.log}).redriveOf(&store.DeadLetter{ID: 17, RedrivenAt: at})
			if c.want == 0 {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, c.want, o.ID)
		})
	}
}

func TestMessagesWithAnotherPayloadSaySo(t *testing.T) {
	t.Parallel()
	message := func(sha, scope string, redrives int64) lifeEvent {
		return lifeEvent{What: "m", Message: &messageJSON{PayloadSHA256: sha, TargetScope: scope, RedriveCount: redrives}}
	}
	l := lifeOf{events: []lifeEvent{
		message("a", "", 0), message("b", "", 0), message("a", "", 0),
		{DeadLetter: &letterJSON{Scope: "s", PayloadSHA256: "b"}},
		message("b", "s", 1), message("a", "s", 1), message("c", "s", 2), message("a", "other", 1),
	}}
	l.comparePayloads()
	var said []string
	for _, e := range l.events {
		said = append(said, e.What)
	}
	assert.Equal(t, []string{"m", "m, another payload than the first message's", "m", "", "m, another payload than the first message's",
		"m, another payload than the dead letter's", "m, another payload than the dead letter's and the first message's", "m"}, said)
}

func TestARedriveFromATopicIsInTheLifeOfItsKey(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	message := func(topic string, offset, redrives int64) lifeEvent {
		return lifeEvent{At: at, What: "m", Message: &messageJSON{Topic: topic, Partition: 3, Offset: offset, TargetScope: "s", RedriveCount: redrives}}
	}
	operation := func(target string, ended time.Time) topicRedrive {
		return topicRedrive{"shop", store.LoggedOperation{
			Operation: store.Operation{Command: "dlq redrive", Target: target, Operator: "ana@ops", Reason: "r"}, BegunAt: at.Add(-time.Second), EndedAt: ended,
		}}
	}
	success := func(redrives int64) *store.Record {
		return &store.Record{Scope: "s", Record: idem.Record{State: idem.StateSuccess, RedriveCount: redrives}, UpdatedAt: at.Add(-time.Hour)}
	}
	over := at.Add(time.Second)
	dead, retry := message("orders.dlq.s", 42, 0), message("orders.retry.s", 7, 1)
	for _, c := range []struct {
		name      string
		record    *store.Record
		operation topicRedrive
		more      []lifeEvent
		duplicate bool
		logged    bool
	}{
		{name: "a duplicate, by its place", record: success(0), operation: operation("topic orders.dlq.s ids 3/4 3/42 name=x", over), duplicate: true, logged: true},
		{name: "by a filter", record: success(0), operation: operation("topic orders.dlq.s reject-reason=BAD name=x", over), duplicate: true, logged: true},
		{name: "of another topic", record: success(0), operation: operation("topic other.dlq.s ids 3/42 name=x", over), duplicate: true},
		{name: "over before", record: success(0), operation: operation("topic orders.dlq.s all name=x", at.Add(-time.Millisecond)), duplicate: true},
		{name: "it had the effect", record: success(1), operation: operation("topic orders.dlq.s all name=x", over), logged: true},
		{name: "it ended again", record: success(0), more: []lifeEvent{message("orders.dlq.s", 43, 1)}},
		{name: "the table tells", record: success(0), more: []lifeEvent{{DeadLetter: &letterJSON{Scope: "s"}}}},
		{name: "there is no record"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			again := *retry.Message
			l := lifeOf{events: append([]lifeEvent{{At: at, What: "m", Message: &again}, dead}, c.more...), redrives: []topicRedrive{c.operation}, records: map[string]*store.Record{"s": c.record}}
			events := len(l.events)
			l.addTopicRedrives()
			assert.Equal(t, c.duplicate, l.events[0].Message.Duplicate)
			assert.Equal(t, c.duplicate, l.events[0].What == "m, a duplicate: the key had its effect at 2026-03-01T11:00:00Z")
			if assert.Equal(t, c.logged, len(l.events) > events) && c.logged {
				assert.Equal(t, "dlq redrive by ana@ops, changed 0: r", l.events[events].What)
			}
		})
	}
}
