package guard_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestNewNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	ms := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		want   string
		change func(s *faulty, c *guard.Config)
	}{
		{"Scope", func(_ *faulty, c *guard.Config) { c.Scope = "" }},
		{"Scope", func(_ *faulty, c *guard.Config) { c.Scope = "pay/ments" }},
		{"Lease", func(_ *faulty, c *guard.Config) { c.Lease = -1 }},
		{"HandlerTimeout", func(_ *faulty, c *guard.Config) { c.HandlerTimeout = 1 }},
		{"Retention", func(_ *faulty, c *guard.Config) { c.Retention = time.Second }},
		{"ClockSkew", func(_ *faulty, c *guard.Config) { c.Retention, c.ClockSkew = time.Hour, time.Hour }},
		{"Limits", func(_ *faulty, c *guard.Config) { c.Limits.MaxRetry = ms(101) }},
		{"MissingKey", func(_ *faulty, c *guard.Config) { c.Rules.MissingKey = guard.Derive }},
		{"Policy", func(_ *faulty, c *guard.Config) { c.Rules.Policy.BackoffBase = 86401 }},
		{"Delays", func(s *faulty, _ *guard.Config) { s.recordsOK = true }},
		{"Publisher", func(s *faulty, c *guard.Config) { s.recordsOK, c.Delays = true, delays{} }},
		{"Publisher", func(_ *faulty, c *guard.Config) { c.DeadLetterTopic = true }},
	} {
		s, config := newStore(), guard.Config{Scope: scope}
		c.change(s, &config)
		_, err := guard.New(s, config)
		require.ErrorContains(t, err, c.want)
	}
	_, err := guard.New(nil, guard.Config{Scope: scope})
	require.ErrorContains(t, err, "store")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	twice := func(int32) *int32 { n := int32(2); return &n }(0)
	for _, c := range []struct {
		name    string
		m       *broker.Message
		rules   guard.Rules
		status  guard.Status
		outcome idem.Outcome
		reason  string
		key     string
	}{
		{name: "sound", m: keyed("k"), status: guard.Opened, key: "k"},
		{name: "faulty header", m: keyed("k", "retry_count", "-1"), status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "BAD_HEADERS: idem: retry_count: HEADER_SYNTAX"},
		{name: "header twice", m: keyed("k", "idempotency_key", "l"), status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "HEADER_CONFLICT"},
		{name: "spec of another version", m: keyed("k", "idem_spec", "2"), status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "SPEC_VERSION"},
		{name: "context header that is faulty", m: keyed("k", "produced_at", "yesterday"), status: guard.Opened, key: "k"},
		{name: "other scope", m: keyed("k", "target_scope", "mails"), status: guard.Skipped},
		{name: "own scope", m: keyed("k", "target_scope", scope), status: guard.Opened, key: "k"},
		{name: "other scope without a key", m: message("target_scope", "mails"), status: guard.Skipped},
		{name: "no key", m: message(), status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "MISSING_KEY"},
		{name: "no key, derived", m: message(), rules: guard.Rules{MissingKey: guard.Derive, Derive: func(m *broker.Message) (string, error) { return "k:" + string(m.Value), nil }}, status: guard.Opened, key: "k:payload"},
		{name: "no key, none to derive", m: message(), rules: guard.Rules{MissingKey: guard.Derive, Derive: func(*broker.Message) (string, error) { return "", errors.New("no id") }}, status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "BAD_KEY: no id"},
		{name: "no key, a bad one derived", m: message(), rules: guard.Rules{MissingKey: guard.Derive, Derive: func(*broker.Message) (string, error) { return "a b", nil }}, status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "BAD_KEY: idem: KEY_SYNTAX"},
		{name: "no key, a panic", m: message(), rules: guard.Rules{MissingKey: guard.Derive, Derive: func(*broker.Message) (string, error) { panic("index out of range") }}, status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "BAD_KEY: PANIC: index out of range"},
		{name: "no key, passed through", m: message(), rules: guard.Rules{MissingKey: guard.PassThrough}, status: guard.Opened},
		{name: "too large", m: keyed("k"), rules: guard.Rules{MaxBytes: 6}, status: guard.Ended, outcome: idem.OutcomeMalformed, reason: "MESSAGE_TOO_LARGE: 7 bytes, the limit is 6", key: "k"},
		{name: "just not too large", m: keyed("k"), rules: guard.Rules{MaxBytes: 7}, status: guard.Opened, key: "k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			d := new(guard.Delivery)
			w.Open(d, keyed("earlier", "hold_count", "7", "biz_key", "b"), &guard.Rules{Order: guard.Park}) // of which nothing may be left
			w.Open(d, c.m, &c.rules)
			require.Equal(t, c.status, d.Status)
			require.Equal(t, c.key, d.Key)
			require.Equal(t, c.outcome, d.Result.Outcome)
			require.Contains(t, d.Result.Reason, c.reason)
			require.Zero(t, d.Counts)
			require.False(t, d.Lane.Set())
		})
	}
	w := newWorld(t, func(_ *faulty, _ *topics, c *guard.Config) { c.Limits.MaxRetry = twice })
	d := new(guard.Delivery)
	rules := &guard.Rules{Policy: idem.Policy{MaxRetry: 9, BackoffBase: 7, BackoffMax: 60}, Order: guard.Park}
	w.Open(d, keyed("k", "backoff_max", "90", "retry_count", "1", "hold_count", "3"), rules)
	require.Equal(t, idem.Policy{MaxRetry: 2, BackoffBase: 7, BackoffMax: 90}, d.Policy)
	require.Equal(t, idem.Counts{Retry: 1, Hold: 3}, d.Counts)
	require.Equal(t, store.Lane{Topic: "orders", BizKey: "o-17"}, d.Lane)

	m := keyed("k", "biz_key", "b")
	m.Topic = "orders.retry.payments"
	w.Open(d, m, rules)
	require.Equal(t, store.Lane{Topic: "orders", BizKey: "b"}, d.Lane, "the lane is the origin's")
	m.Topic, m.Headers, m.Key = "orders.retry.mails", m.Headers[:1], []byte{0, 255}
	w.Open(d, m, rules)
	require.Equal(t, store.Lane{Topic: "orders.retry.mails", BizKey: "hash:" + string(idem.AppendHash(nil, idem.Hash("\x00\xff")))}, d.Lane)
	m.Key = nil
	w.Open(d, m, rules)
	require.False(t, d.Lane.Set(), "a message without a biz key is in a lane of its own")
}

// Handler outcomes, by the table of RETRY-020: what is durable, and what the next headers say.
func TestOutcomesBecomeDurable(t *testing.T) {
	t.Parallel()
	cause := errors.New("no answer")
	for _, c := range []struct {
		name    string
		headers []string
		err     error
		outcome idem.Outcome
		action  idem.Action
		state   idem.State
		delay   time.Duration
		next    map[string]string
		dead    string
		tries   int64
	}{
		{name: "ok", outcome: idem.OutcomeOK, action: idem.ActionAck, state: idem.StateSuccess, tries: 1},
		{name: "unclassified", err: cause, outcome: idem.OutcomeRetryable, action: idem.ActionRetry, state: idem.StateFailed, delay: time.Second, next: map[string]string{"retry_count": "1", "hold_count": "0", "reject_reason": "no answer", "retry_interval": "1000", "next_retry_time": "2025-01-01T04:00:01.000Z", "target_scope": "payments", "topic": "orders"}, tries: 1},
		{name: "third", headers: []string{"retry_count", "3"}, err: cause, outcome: idem.OutcomeRetryable, action: idem.ActionRetry, state: idem.StateFailed, delay: 8 * time.Second, next: map[string]string{"retry_count": "4"}, tries: 1},
		{name: "used up", headers: []string{"retry_count", "5"}, err: cause, outcome: idem.OutcomeRetryable, action: idem.ActionDeadLetter, state: idem.StateDead, dead: "no answer", tries: 1},
		{name: "throttled", err: idem.Throttled(90*time.Second, cause), outcome: idem.OutcomeThrottled, action: idem.ActionRetry, state: idem.StateFailed, delay: 90 * time.Second, next: map[string]string{"retry_count": "1"}, tries: 1},
		{name: "hold", headers: []string{"hold_count", "1"}, err: idem.OutOfOrder(cause), outcome: idem.OutcomeOutOfOrder, action: idem.ActionHold, state: idem.StateFailed, delay: 2 * time.Second, next: map[string]string{"retry_count": "0", "hold_count": "2"}, tries: 0},
		{name: "holds used up", headers: []string{"hold_count", "20"}, err: idem.OutOfOrder(cause), outcome: idem.OutcomeOutOfOrder, action: idem.ActionDeadLetter, state: idem.StateDead, dead: "OUT_OF_ORDER: no answer", tries: 1},
		{name: "not retryable", err: idem.NonRetryable("CARD_EXPIRED", cause), outcome: idem.OutcomeNonRetryable, action: idem.ActionDeadLetter, state: idem.StateDead, dead: "CARD_EXPIRED: no answer", tries: 1},
		{name: "conflict", err: &idem.Failure{Outcome: idem.OutcomeConflict}, outcome: idem.OutcomeConflict, action: idem.ActionDeadLetter, state: idem.StateDead, dead: "CONFLICT", tries: 1},
		{name: "already there", err: &idem.Failure{Outcome: idem.OutcomeDuplicate}, outcome: idem.OutcomeDuplicate, action: idem.ActionAck, state: idem.StateSuccess, tries: 1},
		{name: "probe that failed", err: &idem.Failure{Outcome: idem.OutcomeInProgress}, outcome: idem.OutcomeInProgress, action: idem.ActionDefer, state: idem.StateFailed, next: map[string]string{"retry_count": "0"}, tries: 0},
		// DEDUP-012: the same key may come with a payload that can be read.
		{name: "payload that cannot be read", err: &idem.Failure{Outcome: idem.OutcomeMalformed, Code: "PAYLOAD_INVALID"}, outcome: idem.OutcomeMalformed, action: idem.ActionDeadLetter, state: idem.StateFailed, dead: "PAYLOAD_INVALID", tries: 0},
		{name: "outcome that is none", err: &idem.Failure{Outcome: 99}, outcome: idem.OutcomeRetryable, action: idem.ActionRetry, state: idem.StateFailed, delay: time.Second, next: map[string]string{"retry_count": "1"}, tries: 1},
	} {
		for _, kind := range []string{"tables", "topics", "records alone"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, map[string]func(*faulty, *topics, *guard.Config){
					"topics": func(_ *faulty, p *topics, c *guard.Config) {
						c.DeadLetterTopic, c.Publisher, c.Delays = true, p, delays{p}
					},
					"records alone": records,
				}[kind])
				m := keyed("k", c.headers...)
				d := w.through(t, m, &guard.Rules{}, func(context.Context) error { return c.err })
				require.Equal(t, c.outcome, d.Result.Outcome)
				require.Equal(t, c.action, d.Decision.Action)
				require.True(t, d.Settled)
				require.False(t, d.InPlace)
				r := w.store.record(t, "k")
				require.Equal(t, c.state, r.State)
				require.Equal(t, c.tries, r.Attempts)

				var next, dead []broker.Message
				if kind == "tables" {
					for _, row := range w.store.due(t, c.delay) {
						require.Equal(t, c.delay, row.Due)
						require.Equal(t, m.Offset, row.SourceOffset)
						next = append(next, broker.Message{Topic: row.Topic, Key: row.MessageKey, Value: row.Payload, Headers: row.Headers})
					}
					for _, l := range w.store.deadLetters(t) {
						require.Equal(t, c.dead, l.Reason)
						require.Equal(t, c.outcome, l.Outcome)
						dead = append(dead, broker.Message{Topic: broker.DeadLetterTopic(l.Topic, scope), Key: l.MessageKey, Value: l.Payload, Headers: l.Headers})
					}
				} else {
					for _, p := range w.topics.messages {
						if p.Topic == "orders.dlq.payments" {
							dead = append(dead, p)
						} else {
							next = append(next, p)
						}
					}
				}
				wantNext, wantDead := 0, 0
				if c.next != nil {
					wantNext = 1
				}
				if c.dead != "" {
					wantDead = 1
				}
				require.Len(t, next, wantNext)
				require.Len(t, dead, wantDead)
				for _, n := range next {
					require.Equal(t, "orders.retry.payments", n.Topic)
					require.Equal(t, m.Key, n.Key)
					require.Equal(t, m.Value, n.Value)
					for name, value := range c.next {
						require.Equal(t, value, header(t, n.Headers, name), name)
					}
				}
				for _, n := range dead {
					require.Equal(t, "orders.dlq.payments", n.Topic)
					require.Equal(t, m.Key, n.Key, "the key chooses the partition")
					require.Equal(t, m.Value, n.Value)
					require.Equal(t, c.dead, header(t, n.Headers, "reject_reason"))
				}
				if c.next != nil { // the record waits for just that delivery (DEDUP-011)
					var e idem.Envelope
					require.NoError(t, e.Parse(idem.Kafka, next[0].Headers))
					require.Equal(t, e.Position(), r.Position)
				}
				require.Len(t, w.told.deliveries, 1)
				o := w.told.deliveries[0]
				require.Equal(t, []any{c.outcome, c.action, c.delay, "k", "payments.failed", m.Offset}, []any{o.Outcome, o.Action, o.Delay, o.Key, o.EventType, o.Offset})
			})
		}
	}
}

func TestDuplicateHasTheResultOfTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k")
	first := w.through(t, m, &guard.Rules{}, func(ctx context.Context) error {
		require.Equal(t, "k", guard.KeyOf(ctx))
		guard.Keep(ctx, []byte("receipt 5"))
		return nil
	})
	require.True(t, first.Completed)
	second := w.through(t, m, &guard.Rules{}, func(context.Context) error { panic("a second effect") })
	require.Equal(t, idem.OutcomeDuplicate, second.Result.Outcome)
	require.Equal(t, "receipt 5", string(second.Value))
	require.True(t, second.Settled)
}

func TestClaimNeverTouchesARecordThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	const one, two = "aaaaaaaa-0000000000000001", "aaaaaaaa-0000000000000002"
	old := time.Date(2024, 12, 18, 4, 4, 59, 0, time.UTC).Format(time.RFC3339) // fourteen days and no tolerance ago
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, w *world)
		m       *broker.Message
		outcome idem.Outcome
		action  idem.Action
		reason  string
	}{
		{name: "in progress", prepare: func(t *testing.T, w *world) { w.claimed(t, keyed("k"), &guard.Rules{}) }, m: keyed("k"), outcome: idem.OutcomeInProgress, action: idem.ActionDefer},
		{name: "key reused", prepare: func(t *testing.T, w *world) {
			w.through(t, keyed("k", "fingerprint", one), &guard.Rules{}, nothing)
		}, m: keyed("k", "fingerprint", two), outcome: idem.OutcomeKeyReused, action: idem.ActionDeadLetter, reason: one},
		{name: "too old", m: keyed("k", "produced_at", old), outcome: idem.OutcomeTooOld, action: idem.ActionDeadLetter, reason: "336h"},
		{name: "stale", prepare: func(t *testing.T, w *world) {
			w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error { return errDown })
		}, m: keyed("k"), outcome: idem.OutcomeStale, action: idem.ActionAck},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			if c.prepare != nil {
				c.prepare(t, w)
			}
			before := w.store.record(t, "k")
			d := w.through(t, c.m, &guard.Rules{}, func(context.Context) error { panic("it must not run") })
			require.Equal(t, c.outcome, d.Result.Outcome)
			require.Equal(t, c.action, d.Decision.Action)
			require.Contains(t, w.told.deliveries[len(w.told.deliveries)-1].Reason, c.reason)
			require.Equal(t, before, w.store.record(t, "k"))
			if c.action == idem.ActionDeadLetter {
				require.Len(t, w.store.deadLetters(t), 1)
			}
		})
	}
}

func TestTooOldIsAskedOfAProducersClockWithTolerance(t *testing.T) {
	t.Parallel()
	// Now is 2025-01-01T04:00:00Z, the retention 14 days, the tolerance 5 minutes.
	for producedAt, old := range map[string]bool{
		"2024-12-18T04:04:59Z": true, "2024-12-18T04:05:00Z": false, "2025-01-01T04:00:00Z": false, "2030-01-01T00:00:00Z": false,
	} {
		w := newWorld(t, nil)
		w.claimed(t, keyed("k", "produced_at", producedAt), &guard.Rules{})
		require.Equal(t, old, w.store.claims[0].Old, producedAt)
	}
	w := newWorld(t, nil)
	m := keyed("k")
	m.Time = time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC)
	w.claimed(t, m, &guard.Rules{})
	require.True(t, w.store.claims[0].Old, "without produced_at the broker's time counts")
	w = newWorld(t, nil)
	w.claimed(t, keyed("k"), &guard.Rules{})
	require.False(t, w.store.claims[0].Old, "nobody knows")
}

// DEDUP-006
func TestAKeyThatCrashesEndsAndRunsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Policy: idem.Policy{MaxRetry: 1, BackoffBase: 1, BackoffMax: 1}} // five attempts
	for n := 1; n <= 5; n++ {
		d := w.claimed(t, keyed("k"), rules)
		require.Equal(t, guard.Ready, d.Status, n)
		require.Equal(t, n >= 2, d.Alone, "attempt %d", n)
		w.store.clock.add(time.Minute) // the process dies
	}
	d := w.through(t, keyed("k"), rules, func(context.Context) error { panic("it must not run") })
	require.Equal(t, idem.OutcomeCrashLoop, d.Result.Outcome)
	require.Equal(t, idem.StateDead, w.store.record(t, "k").State)
	require.Contains(t, w.store.deadLetters(t)[0].Reason, "CRASH_LOOP: 5 attempts")
	d = w.through(t, keyed("k"), rules, nothing)
	require.Equal(t, idem.OutcomeStale, d.Result.Outcome)

	w = newWorld(t, nil)
	for range 3 { // failures that are told are no crashes
		w.through(t, keyed("k", "retry_count", "1"), &guard.Rules{Order: guard.Block}, func(context.Context) error { return errDown })
		m := published(w.store.due(t, time.Hour)[0])
		d = w.claimed(t, m, &guard.Rules{})
		require.Equal(t, int64(2), d.Grant.Attempts)
		require.False(t, d.Alone)
		w = newWorld(t, nil)
	}
	w.claimed(t, keyed("k"), &guard.Rules{})
	w.store.clock.add(time.Minute)
	d = w.claimed(t, keyed("k", "redrive_count", "1"), &guard.Rules{})
	require.Equal(t, []any{true, int64(1), false}, []any{d.Grant.Recovered, d.Grant.Attempts, d.Alone}, "a new life begins anew")
}

// KEY-030: both or neither.
func TestDualKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.through(t, keyed("new", "idempotency_key_previous", "old"), &guard.Rules{}, nothing)
	for _, key := range []string{"old", "new"} {
		require.Equal(t, idem.StateSuccess, w.store.record(t, key).State)
		require.Equal(t, idem.OutcomeDuplicate, w.through(t, keyed(key), &guard.Rules{}, nothing).Result.Outcome)
	}
	// One that succeeded before the migration is a duplicate by either key.
	w.through(t, keyed("old2"), &guard.Rules{}, nothing)
	d := w.through(t, keyed("new2", "idempotency_key_previous", "old2"), &guard.Rules{}, nothing)
	require.Equal(t, idem.OutcomeDuplicate, d.Result.Outcome)
	require.Equal(t, idem.OutcomeDuplicate, w.through(t, keyed("new2"), &guard.Rules{}, nothing).Result.Outcome)
	// A failure is one of both, and so is its way to the end.
	w.through(t, keyed("new3", "idempotency_key_previous", "old3"), &guard.Rules{}, func(context.Context) error { return errDown })
	for _, key := range []string{"old3", "new3"} {
		require.Equal(t, idem.StateFailed, w.store.record(t, key).State)
	}
	next := published(w.store.due(t, time.Second)[0])
	require.Equal(t, "old3", header(t, next.Headers, "idempotency_key_previous"))
	w.through(t, next, &guard.Rules{}, func(context.Context) error { return idem.NonRetryable("GONE", errDown) })
	for _, key := range []string{"old3", "new3"} {
		require.Equal(t, idem.StateDead, w.store.record(t, key).State)
	}
	// In progress by the old key alone: neither is claimed.
	w.claimed(t, keyed("old4"), &guard.Rules{})
	d = w.through(t, keyed("new4", "idempotency_key_previous", "old4"), &guard.Rules{}, nothing)
	require.Equal(t, idem.OutcomeInProgress, d.Result.Outcome)
	require.Nil(t, w.store.record(t, "new4"))
}

// RETRY-032, KEY-022.
func TestMessagesWithoutAKeyPassThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{MissingKey: guard.PassThrough, Order: guard.Park}
	m := message("event_type", "legacy")
	m.Partition, m.Offset = 2, 40
	d := w.through(t, m, rules, func(ctx context.Context) error {
		require.Empty(t, guard.KeyOf(ctx))
		return errDown
	})
	policy := idem.DefaultPolicy()
	want, err := idem.Backoff("orders/2/40", 0, &policy, 0)
	require.NoError(t, err)
	require.Equal(t, want, d.Decision.Delay)
	require.Empty(t, w.store.claims)
	rows := w.store.due(t, 2*time.Second)
	require.Len(t, rows, 1)
	require.Empty(t, rows[0].Key)
	require.False(t, rows[0].Lane.Set(), "without a claim there is no head")
	last := published(rows[0])
	last.Headers = append(last.Headers, idem.Header{Name: "max_retry", Value: []byte("1")})
	w.through(t, last, rules, func(context.Context) error { return errDown })
	require.Len(t, w.store.deadLetters(t), 1)
	require.True(t, w.through(t, message(), rules, nothing).Settled)
	require.Empty(t, w.store.claims)
}

// HDR-016
func TestFaultyHeadersAreDeadLetteredAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k", "retry_count", "007", "event_id", "a\x00b", "biz_key", "one", "biz_key", "two")
	m.Value = nil
	w.through(t, m, &guard.Rules{}, func(context.Context) error { panic("it must not run") })
	letters := w.store.deadLetters(t)
	require.Len(t, letters, 1)
	l := letters[0]
	require.Equal(t, idem.OutcomeMalformed, l.Outcome)
	require.Equal(t, []string{"k", "payments.failed", "orders"}, []string{l.Key, l.EventType, l.Topic})
	require.Empty(t, l.EventID, "a NUL is in no column")
	require.Empty(t, l.BizKey, "nobody knows which")
	require.Equal(t, "a\x00b", header(t, l.Headers, "event_id"))
	require.Equal(t, "007", header(t, l.Headers, "retry_count"))
	require.Nil(t, l.Payload)
	require.Nil(t, w.store.record(t, "k"))
	require.Contains(t, w.log.String(), "idempotency_key=k ")

	// A NUL in a sound context header is in no column either, and the header keeps it.
	w.through(t, keyed("k", "event_id", "a\x00b"), &guard.Rules{}, func(context.Context) error { return errDown })
	row := w.store.due(t, time.Second)[0]
	require.Empty(t, row.EventID)
	require.Equal(t, "a\x00b", header(t, row.Headers, "event_id"))
}

func TestLeases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules guard.Rules
		lease time.Duration
	}{
		{guard.Rules{}, 30 * time.Second},
		{guard.Rules{HandlerTimeout: time.Hour}, 30 * time.Second},
		{guard.Rules{Mode: guard.Tx}, 40 * time.Second},
		{guard.Rules{Mode: guard.Guarded, HandlerTimeout: time.Minute}, 70 * time.Second},
	} {
		w := newWorld(t, nil)
		w.claimed(t, keyed("k"), &c.rules)
		require.Equal(t, c.lease, w.store.claims[0].Lease)
	}
}

// CONS-010, DEDUP-011: the record stays at the position of the delivery that is held, with the counts that it has
// come to.
func TestHeldInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Order: guard.Block}
	m := keyed("k")
	d := w.claimed(t, m, rules)
	for n := int32(1); n <= 5; n++ {
		w.Run(t.Context(), d, func(context.Context) error { return errDown })
		d.HoldInPlace = true
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.True(t, d.Settled)
		require.True(t, d.InPlace)
		require.Equal(t, int64(1000<<(n-1)), d.Decision.Delay.Ms())
		r := w.store.record(t, "k")
		require.Equal(t, []any{idem.StateFailed, int64(0), n}, []any{r.State, r.Position, r.RetryCount})
		if n == 3 { // the process dies; another gets the same delivery
			d = new(guard.Delivery)
			w.Open(d, m, rules)
		} else {
			d.Again()
		}
		require.NoError(t, w.Claim(t.Context(), []*guard.Delivery{d}))
		require.Equal(t, guard.Ready, d.Status)
		require.Equal(t, n, d.Counts.Retry)
	}
	w.Run(t.Context(), d, func(context.Context) error { return errDown })
	d.HoldInPlace = true
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.False(t, d.InPlace)
	require.Equal(t, idem.ActionDeadLetter, d.Decision.Action)
	require.Empty(t, w.store.due(t, time.Hour))
	require.Equal(t, int32(5), w.store.deadLetters(t)[0].RetryCount)

	// One that has no key has its counts in the window alone.
	d = w.claimed(t, message("backoff_jitter", "0"), &guard.Rules{MissingKey: guard.PassThrough})
	for n := range int32(3) {
		w.Run(t.Context(), d, func(context.Context) error { return errDown })
		d.HoldInPlace = true
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.Equal(t, int64(1000<<n), d.Decision.Delay.Ms())
		d.Again()
		require.NoError(t, w.Claim(t.Context(), []*guard.Delivery{d}))
	}
	// A HOLD steps aside all the same (CONS-011).
	d = w.claimed(t, keyed("l"), rules)
	w.Run(t.Context(), d, func(context.Context) error { return idem.OutOfOrder(errDown) })
	d.HoldInPlace = true
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.False(t, d.InPlace)
	require.Len(t, w.store.due(t, time.Hour), 1)
	// One that is in progress elsewhere is held too, and nothing is written.
	w = newWorld(t, nil)
	w.claimed(t, keyed("m"), rules)
	d = w.claimed(t, keyed("m"), rules)
	d.HoldInPlace = true
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.True(t, d.InPlace)
	require.Empty(t, w.store.due(t, time.Hour))
}

func TestGiveBackLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k", "retry_count", "1")
	d := w.claimed(t, m, &guard.Rules{})
	pass := w.claimed(t, message(), &guard.Rules{MissingKey: guard.PassThrough})
	ds := []*guard.Delivery{d, pass}
	require.NoError(t, w.GiveBack(t.Context(), ds))
	r := w.store.record(t, "k")
	require.Equal(t, []any{idem.StateFailed, int64(0), int64(1)}, []any{r.State, r.Attempts, r.Position})
	require.Empty(t, w.store.due(t, time.Hour))
	require.NoError(t, w.Claim(t.Context(), ds))
	require.Equal(t, []guard.Status{guard.Ready, guard.Ready}, []guard.Status{d.Status, pass.Status})
	require.Equal(t, int64(1), d.Grant.Attempts)
	require.False(t, d.Settled)

	// The counts of one that was held in place stay, and so does its position.
	_, err := w.store.Settle(t.Context(), []store.Settlement{{
		Lease: d.Grant.Lease, State: idem.StateFailed, RetryCount: 1, Kept: idem.Counts{Retry: 3, Hold: 2},
	}})
	require.NoError(t, err)
	d.Again()
	require.NoError(t, w.Claim(t.Context(), ds[:1]))
	require.Equal(t, idem.Counts{Retry: 3, Hold: 2}, d.Counts)
	require.NoError(t, w.GiveBack(t.Context(), ds[:1]))
	r = w.store.record(t, "k")
	require.Equal(t, []any{int64(1), int32(3), int32(2)}, []any{r.Position, r.RetryCount, r.HoldCount})
}

func TestParkedLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Order: guard.Park}
	fail := func(context.Context) error { return errDown }
	w.through(t, keyed("one"), rules, fail)
	parked := func(key string) {
		d := w.through(t, keyed(key), rules, func(context.Context) error { panic("it must not run") })
		require.Equal(t, guard.Parked, d.Status)
		require.True(t, d.Settled)
		require.Nil(t, w.store.record(t, key))
	}
	parked("two")
	parked("three")
	require.Equal(t, guard.Ready, w.claimed(t, message("idempotency_key", "elsewhere", "biz_key", "o-18"), rules).Status)
	counts, err := w.store.CountRetries(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, []int64{counts.Pending, counts.Parked})

	order := []string{}
	handle := func(key string, err error) func(context.Context) error {
		return func(context.Context) error { order = append(order, key); return err }
	}
	rows := w.store.due(t, time.Second)
	require.Len(t, rows, 1)
	w.through(t, published(rows[0]), rules, handle("one", nil)) // by OK
	done, err := w.store.MarkPublished(t.Context(), []store.Mark{store.MarkOf(&rows[0])})
	require.NoError(t, err)
	require.True(t, done[0])
	rows = w.store.due(t, 0)
	require.Len(t, rows, 1)
	w.through(t, published(rows[0]), rules, handle("two", idem.NonRetryable("GONE", errDown))) // by dead letter
	_, err = w.store.MarkPublished(t.Context(), []store.Mark{store.MarkOf(&rows[0])})
	require.NoError(t, err)
	rows = w.store.due(t, 0)
	require.Len(t, rows, 1)
	w.through(t, published(rows[0]), rules, handle("three", nil))
	require.Equal(t, []string{"one", "two", "three"}, order)
	require.Equal(t, guard.Ready, w.claimed(t, keyed("four"), rules).Status, "the lane is gone")
}

func TestALaneThatIsFreeByNowIsClaimedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Order: guard.Park}
	w.through(t, keyed("one"), rules, func(context.Context) error { return errDown })
	d := w.claimed(t, keyed("two"), rules)
	require.Equal(t, guard.Parked, d.Status)
	w.through(t, published(w.store.due(t, time.Second)[0]), rules, nothing)
	ds := []*guard.Delivery{d}
	require.NoError(t, w.Settle(t.Context(), ds))
	require.Equal(t, guard.Opened, d.Status)
	require.False(t, d.Settled)
	require.NoError(t, w.Claim(t.Context(), ds))
	require.Equal(t, guard.Ready, d.Status)
}

// CONS-014.
func TestTheHeadLeavesItsLane(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		change func(*faulty, *topics, *guard.Config)
	}{
		"by HOLD":                        {err: idem.OutOfOrder(errDown)},
		"by a dead letter of the table":  {err: idem.NonRetryable("GONE", errDown)},
		"by a dead letter of a topic":    {err: idem.NonRetryable("GONE", errDown), change: func(_ *faulty, p *topics, c *guard.Config) { c.DeadLetterTopic, c.Publisher = true, p }},
		"by a payload that is MALFORMED": {err: &idem.Failure{Outcome: idem.OutcomeMalformed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.change)
			rules := &guard.Rules{Order: guard.Park}
			w.through(t, keyed("one"), rules, func(context.Context) error { return errDown })
			w.through(t, keyed("two"), rules, nothing)
			rows := w.store.due(t, time.Second)
			require.Len(t, rows, 1)
			w.through(t, published(rows[0]), rules, func(context.Context) error { return c.err })
			_, err := w.store.MarkPublished(t.Context(), []store.Mark{store.MarkOf(&rows[0])})
			require.NoError(t, err)
			rows = w.store.due(t, 0)
			require.Len(t, rows, 1)
			require.Equal(t, "two", rows[0].Key)
		})
	}
}

// CONS-014: the head leaves by DUPLICATE too.
func TestADuplicateThatHeadsALaneLeavesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Order: guard.Park}
	first := w.claimed(t, keyed("one"), rules)
	w.through(t, keyed("one"), rules, nothing) // a copy is in progress, and heads the lane
	require.Equal(t, guard.Parked, w.through(t, keyed("two"), rules, nothing).Status)
	w.Run(t.Context(), first, nothing)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{first}))
	rows := w.store.due(t, time.Minute)
	require.Len(t, rows, 1)
	d := w.through(t, published(rows[0]), rules, nothing)
	require.Equal(t, idem.OutcomeDuplicate, d.Result.Outcome)
	_, err := w.store.MarkPublished(t.Context(), []store.Mark{store.MarkOf(&rows[0])})
	require.NoError(t, err)
	rows = w.store.due(t, 0)
	require.Len(t, rows, 1)
	require.Equal(t, "two", rows[0].Key)
}

func TestSkippedAreAcknowledgedWithoutAClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	d := w.through(t, keyed("k", "target_scope", "mails"), &guard.Rules{}, nothing)
	require.True(t, d.Settled)
	require.Equal(t, idem.ActionAck, d.Decision.Action)
	require.Empty(t, w.store.calls)
	require.True(t, w.told.deliveries[0].Skipped)
}

func TestWhatTheLogSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k")
	m.Partition, m.Offset, m.Value = 4, 77, []byte("card 4111")
	w.through(t, m, &guard.Rules{}, func(context.Context) error { return idem.NonRetryable("CARD_EXPIRED", errDown) })
	line := w.log.String()
	for _, part := range []string{
		"level=ERROR", "message dead-lettered", "idempotency_key=k", "event_type=payments.failed", "scope=payments", "topic=orders",
		"partition=4", "offset=77", "outcome=NON_RETRYABLE", "action=DEAD_LETTER", `reason="CARD_EXPIRED: the database is down"`,
	} {
		require.Contains(t, line, part)
	}
	require.NotContains(t, line, "4111")
	w.through(t, keyed("l"), &guard.Rules{}, func(context.Context) error { return errDown })
	require.Contains(t, w.log.String(), "delay=1s")
}

func TestAnErrorOfTheStoreSaysOnceWhatWasAsked(t *testing.T) {
	t.Parallel()
	for _, result := range []error{nil, errors.New("refused")} {
		w := newWorld(t, nil)
		claimed, late := new(guard.Delivery), new(guard.Delivery)
		w.Open(claimed, keyed("k"), &guard.Rules{})
		w.Open(late, keyed("l"), &guard.Rules{})
		require.NoError(t, w.Claim(t.Context(), []*guard.Delivery{claimed}))
		w.Run(t.Context(), claimed, func(context.Context) error { return result })
		require.NoError(t, w.store.Close())
		for what, err := range map[string]error{
			"claim 1 keys":                        w.Claim(t.Context(), []*guard.Delivery{late}),
			"complete 1 keys|settle 1 deliveries": w.Settle(t.Context(), []*guard.Delivery{claimed}),
		} {
			require.ErrorIs(t, err, memory.ErrClosed)
			require.Len(t, regexp.MustCompile(what).FindAllString(err.Error(), -1), 1, err)
		}
	}
}

func TestStoreErrorsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.store.fails["claim"] = 1
	d := new(guard.Delivery)
	w.Open(d, keyed("k"), &guard.Rules{})
	err := w.Claim(t.Context(), []*guard.Delivery{d})
	require.ErrorIs(t, err, errDown)
	require.Equal(t, guard.Opened, d.Status)
	require.Equal(t, 1.0, w.told.measured[observe.StoreErrors])
}
