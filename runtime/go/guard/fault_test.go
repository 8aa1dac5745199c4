package guard_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The faults of peers that are prevented here. TestFault09, 10, 18 and 20 are beside Run's tests.

// TestFault05PublishBeforeAcknowledge: where a retry or a dead letter goes to a topic, it is confirmed before the
// record is settled, and the delivery before it may be acknowledged.
func TestFault05PublishBeforeAcknowledge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		m     *broker.Message
		err   error
		state idem.State
		topic string
	}{
		{"retry", keyed("k"), errDown, idem.StateFailed, "orders.retry.payments"},
		{"dead letter", keyed("k"), idem.NonRetryable("GONE", errDown), idem.StateDead, "orders.dlq.payments"},
		{"faulty headers", keyed("l", "hold_count", "x"), nil, 0, "orders.dlq.payments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, records)
			d := w.claimed(t, c.m, &guard.Rules{})
			w.Run(t.Context(), d, func(context.Context) error { return c.err })
			ds := []*guard.Delivery{d}
			w.topics.fails = 2
			for range 2 {
				require.ErrorContains(t, w.Settle(t.Context(), ds), "leader not available")
				require.False(t, d.Settled)
				require.Empty(t, w.topics.messages)
				require.NotContains(t, w.store.calls, "settle")
			}
			w.topics.before = func() { require.NotContains(t, w.store.calls, "settle") }
			w.store.fails["settle"] = 1
			err := w.Settle(t.Context(), ds)
			if c.state == 0 {
				require.NoError(t, err, "there is no record to settle")
			} else {
				require.ErrorIs(t, err, errDown)
				require.False(t, d.Settled)
				require.Equal(t, idem.StateProcessing, w.store.record(t, "k").State)
				w.topics.before = func() { t.Error("it is confirmed, and published again") }
				require.NoError(t, w.Settle(t.Context(), ds))
				require.Equal(t, c.state, w.store.record(t, "k").State)
			}
			require.True(t, d.Settled)
			require.Len(t, w.topics.messages, 1)
			require.Equal(t, c.topic, w.topics.messages[0].Topic)
		})
	}
	t.Run("by the message", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, records)
		ds := make([]*guard.Delivery, 5)
		for i := range ds {
			ds[i] = w.claimed(t, keyed(fmt.Sprint("k", i)), &guard.Rules{})
			w.Run(t.Context(), ds[i], func(context.Context) error { return errDown })
		}
		w.topics.fails = 2
		require.Error(t, w.Settle(t.Context(), ds))
		for i, d := range ds {
			require.Equal(t, i >= 2, d.Settled, i)
		}
		require.NoError(t, w.Settle(t.Context(), ds))
		require.Len(t, w.topics.messages, 5)
	})
	t.Run("what is published is not published again under another name", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, records)
		d := w.claimed(t, keyed("k"), &guard.Rules{})
		w.Run(t.Context(), d, func(context.Context) error { return errDown })
		w.topics.before = func() { // the lease is lost meanwhile
			_, err := w.store.Forget(t.Context(), scope, []string{"k"})
			require.NoError(t, err)
		}
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.True(t, d.Settled)
		require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
		require.Len(t, w.topics.messages, 1)
		require.Equal(t, "1", header(t, w.topics.messages[0].Headers, "retry_count"))
	})
	t.Run("what no topic takes", func(t *testing.T) {
		t.Parallel()
		for _, tables := range []bool{true, false} {
			w := newWorld(t, func(s *faulty, p *topics, c *guard.Config) {
				records(s, p, c)
				s.recordsOK, c.DeadLetterTopic = !tables, true
			})
			w.topics.limit = 100
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			w.Run(t.Context(), d, func(context.Context) error { return errDown })
			err := w.Settle(t.Context(), []*guard.Delivery{d})
			require.Empty(t, w.topics.messages)
			require.Equal(t, "TOO_LARGE_TO_RETRY: the database is down", d.Decision.Reason)
			require.Equal(t, tables, d.Settled)
			if tables {
				require.NoError(t, err)
				require.Len(t, w.store.deadLetters(t), 1)
				require.Equal(t, idem.StateDead, w.store.record(t, "k").State)
			} else {
				require.ErrorContains(t, err, "max.message.bytes")
				require.Equal(t, idem.StateProcessing, w.store.record(t, "k").State)
			}
		}
	})
	t.Run("a table that is down", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		d := w.claimed(t, keyed("k"), &guard.Rules{})
		w.Run(t.Context(), d, func(context.Context) error { return errDown })
		w.store.fails["settle"] = 3
		for range 3 {
			require.Error(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.False(t, d.Settled)
		}
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.Len(t, w.store.due(t, time.Second), 1)
	})
	t.Run("one bad row does not hold back the others", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		ds := w.batch(t, 9, &guard.Rules{})
		for _, d := range ds {
			w.Run(t.Context(), d, func(context.Context) error { return errDown })
		}
		w.store.refuses = "k6"
		require.ErrorContains(t, w.Settle(t.Context(), ds), "22021")
		for i, d := range ds {
			require.Equal(t, i != 6, d.Settled, i)
		}
		w.store.refuses = ""
		require.NoError(t, w.Settle(t.Context(), ds))
		require.Len(t, w.store.due(t, time.Second), 9)
	})
	t.Run("another's write is not taken for one's own", func(t *testing.T) {
		t.Parallel()
		for _, result := range []error{nil, errDown} { // of the other
			w := newWorld(t, nil)
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			w.Run(t.Context(), d, func(context.Context) error { return result })
			w.store.fails["settle"], w.store.fails["complete"] = 1, 1
			require.Error(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			w.store.fails["settle"], w.store.fails["complete"] = 0, 0
			w.store.clock.add(time.Minute)
			w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error { return result })
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
		}
	})
	t.Run("a reply that is lost writes nothing twice", func(t *testing.T) {
		t.Parallel()
		for _, result := range []error{nil, errDown, idem.NonRetryable("GONE", errDown)} {
			w := newWorld(t, nil)
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			w.Run(t.Context(), d, func(context.Context) error { return result })
			w.store.loses["settle"], w.store.loses["complete"] = 1, 1
			require.Error(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			before := w.store.record(t, "k")
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.True(t, d.Settled)
			require.NotEqual(t, idem.OutcomeFenced, d.Result.Outcome)
			require.Equal(t, before, w.store.record(t, "k"))
			require.LessOrEqual(t, len(w.store.due(t, time.Hour))+len(w.store.deadLetters(t)), 1)
		}
	})
}

// TestFault06MarkedOnlyWhenHandled: the first error must not lose the message, and distinct messages are never
// dropped for a hash.
func TestFault06MarkedOnlyWhenHandled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	runs := 0
	m := keyed("k")
	w.through(t, m, &guard.Rules{}, func(context.Context) error { runs++; return errDown })
	next := published(w.store.due(t, time.Second)[0])
	d := w.through(t, next, &guard.Rules{}, func(context.Context) error { runs++; return nil })
	require.Equal(t, []any{2, idem.OutcomeOK}, []any{runs, d.Result.Outcome})
	// A process that dies after its claim: the same delivery runs again, once the lease is over.
	w.claimed(t, keyed("l"), &guard.Rules{})
	w.store.clock.add(time.Minute)
	require.Equal(t, idem.OutcomeOK, w.through(t, keyed("l"), &guard.Rules{}, nothing).Result.Outcome)
	// Two texts of one XXH64: a key is compared as a whole. (Fixed by their bytes: equal but for the last.)
	for _, key := range []string{"payment:1:v1:a", "payment:1:v1:b", "payment:1:v1", "PAYMENT:1:v1"} {
		require.Equal(t, idem.OutcomeOK, w.through(t, keyed(key), &guard.Rules{}, nothing).Result.Outcome)
	}
}

// TestFault07DelaysStayWhatTheyAre: no overflow, no truncation, and counts beyond a byte.
func TestFault07DelaysStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.OneOf(rapid.Int32Range(0, 99), rapid.SampledFrom([]int32{62, 63, 64, 99})).Draw(rt, "count")
		base := rapid.Int32Range(1, 86400).Draw(rt, "base")
		most := rapid.Int32Range(1, 604800).Draw(rt, "most")
		w := newWorld(t, nil)
		d := w.through(t, keyed("k", "retry_count", strconv.Itoa(int(count)), "max_retry", "100", "backoff_base", strconv.Itoa(int(base)), "backoff_max", strconv.Itoa(int(most))),
			&guard.Rules{}, func(context.Context) error { return errDown })
		// The same in floating point, which is exact up to 2^53.
		want := math.Min(float64(base)*math.Pow(2, float64(count)), float64(most)) * 1000
		require.Equal(t, want, float64(d.Decision.Delay.Ms()))
		rows := w.store.due(t, time.Duration(d.Decision.Delay.Ms())*time.Millisecond)
		require.Len(t, rows, 1)
		require.Equal(t, strconv.Itoa(int(count)+1), header(t, rows[0].Headers, "retry_count"))
		require.Equal(t, strconv.FormatFloat(want, 'f', -1, 64), header(t, rows[0].Headers, "retry_interval"))
	})
	w := newWorld(t, nil)
	d := w.through(t, keyed("k", "retry_count", "2147483647", "hold_count", "2147483647"), &guard.Rules{}, func(context.Context) error { return errDown })
	require.Equal(t, idem.ActionDeadLetter, d.Decision.Action)
	require.Equal(t, "2147483647", header(t, w.store.deadLetters(t)[0].Headers, "retry_count"))
	require.Equal(t, int64(2)*math.MaxInt32, w.store.record(t, "k").Position)
}

// TestFault08HeadersDoNotGrow: a message has the same size after many retries.
func TestFault08HeadersDoNotGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k", "traceparent", "00-1", "traceparent", "00-2", "x", "1", "x", "1", "max_retry", "100", "max_hold", "100", "backoff_schedule", "1000")
	fail := func(context.Context) error { return errDown }
	first := 0
	for n := range 99 {
		w.through(t, m, &guard.Rules{}, fail)
		rows := w.store.due(t, 8*24*time.Hour)
		require.Len(t, rows, 1)
		marked, err := w.store.MarkPublished(t.Context(), []store.Mark{store.MarkOf(&rows[0])})
		require.NoError(t, err)
		require.True(t, marked[0])
		m = published(rows[0])
		require.Equal(t, strconv.Itoa(n+1), header(t, m.Headers, "retry_count"))
		require.Equal(t, "00-2", header(t, m.Headers, "traceparent"))
		if n == 0 {
			first = len(m.Headers)
		}
		require.Len(t, m.Headers, first)
		require.Equal(t, "orders.retry.payments", m.Topic)
		if n%2 == 1 {
			fail = func(context.Context) error { return errDown }
		} else {
			fail = func(context.Context) error { return idem.Throttled(0, errDown) }
		}
	}
}

// TestFault12KeyWithAnotherPayload: it is rejected, and identical retries pass, also after a completion.
func TestFault12KeyWithAnotherPayload(t *testing.T) {
	t.Parallel()
	const one, two, edited = "aaaaaaaa-0000000000000001", "aaaaaaaa-0000000000000002", "bbbbbbbb-0000000000000002"
	w := newWorld(t, nil)
	w.through(t, keyed("k", "fingerprint", one), &guard.Rules{}, func(context.Context) error { return errDown })
	require.Equal(t, idem.OutcomeKeyReused, w.through(t, keyed("k", "fingerprint", two), &guard.Rules{}, nothing).Result.Outcome)
	d := w.through(t, published(w.store.due(t, time.Second)[0]), &guard.Rules{}, nothing)
	require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
	for fingerprint, want := range map[string]idem.Outcome{one: idem.OutcomeDuplicate, two: idem.OutcomeKeyReused, edited: idem.OutcomeDuplicate} {
		d := w.through(t, keyed("k", "fingerprint", fingerprint), &guard.Rules{}, func(context.Context) error { panic("it must not run") })
		require.Equal(t, want, d.Result.Outcome)
	}
	require.Equal(t, idem.OutcomeDuplicate, w.through(t, keyed("k"), &guard.Rules{}, nothing).Result.Outcome)
	for _, l := range w.store.deadLetters(t) {
		require.Equal(t, "KEY_REUSED: its fingerprint is "+two+", and the key was used with "+one, l.Reason)
	}
	require.Equal(t, idem.StateSuccess, w.store.record(t, "k").State)
}

// TestFault11ClaimsOwnLostReplyIsNotInItsWay: a claim whose reply was lost is sent again by the same owner.
func TestFault11ClaimsOwnLostReplyIsNotInItsWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ds := make([]*guard.Delivery, 40)
	for i := range ds {
		ds[i] = new(guard.Delivery)
		w.Open(ds[i], keyed(fmt.Sprint("k", i)), &guard.Rules{})
	}
	w.store.loses["claim"] = 1
	require.Error(t, w.Claim(t.Context(), ds[:30]))
	require.NoError(t, w.Claim(t.Context(), ds)) // with ten more
	owners := map[string]string{}
	for i, c := range w.store.claims {
		if earlier, ok := owners[c.Key]; ok {
			require.Equal(t, earlier, c.Owner)
		}
		owners[c.Key] = c.Owner
		require.GreaterOrEqual(t, len(c.Owner), 16, i)
	}
	distinct := map[string]bool{}
	for i, d := range ds {
		require.Equal(t, guard.Ready, d.Status, i)
		require.Equal(t, []any{int64(1), int64(1), false}, []any{d.Grant.Attempts, d.Grant.Fence, d.Grant.Recovered})
		distinct[d.Grant.Lease.Owner] = true
	}
	require.Len(t, distinct, 40)
	// A later claim of the same delivery has an owner of its own.
	require.NoError(t, w.GiveBack(t.Context(), ds[:1]))
	require.NoError(t, w.Claim(t.Context(), ds[:1]))
	require.NotEqual(t, owners["k0"], ds[0].Grant.Lease.Owner)
}

// TestFault19RetryAfter: 0 does not loop hot, a negative one does not either, and large ones stay exact.
func TestFault19RetryAfter(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int64{
		0: 1000, -time.Hour: 1000, time.Millisecond: 1000, 1500 * time.Millisecond: 1500, 7*24*time.Hour - time.Millisecond: 604799999,
		1 << 62: 604800000, math.MinInt64: 1000,
	} {
		w := newWorld(t, nil)
		d := w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error { return idem.Throttled(after, errDown) })
		require.Equal(t, want, d.Decision.Delay.Ms(), after)
		require.Equal(t, want, d.Decision.Delay.BaseMs)
		require.Len(t, w.store.due(t, time.Duration(want)*time.Millisecond), 1)
	}
	// Identifiers over 2^53 come through as they are.
	w := newWorld(t, nil)
	m := keyed("payment:9007199254740993", "backoff_schedule", "604800000")
	m.Offset = 1<<53 + 1
	w.through(t, m, &guard.Rules{}, func(context.Context) error { return errDown })
	row := w.store.due(t, 7*24*time.Hour)[0]
	require.Equal(t, int64(9007199254740993), row.SourceOffset)
	require.Equal(t, "payment:9007199254740993", header(t, row.Headers, "idempotency_key"))
}

// TestFault20PoisonBytesEndAsDeadLetters: whatever bytes a message has, it ends, and nothing panics or spins.
func TestFault20PoisonBytesEndAsDeadLetters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, nil)
		m := message()
		ids := idem.HeaderIDs()
		for range rapid.IntRange(0, 12).Draw(rt, "headers") {
			name := ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "id")].String()
			if rapid.Bool().Draw(rt, "unknown") {
				name = rapid.String().Draw(rt, "name")
			}
			value := rapid.SliceOf(rapid.Byte()).Draw(rt, "value")
			if rapid.Bool().Draw(rt, "digits") {
				value = []byte(strconv.Itoa(int(rapid.Int32().Draw(rt, "number"))))
			}
			m.Headers = append(m.Headers, idem.Header{Name: name, Value: value})
		}
		m.Value = rapid.SliceOf(rapid.Byte()).Draw(rt, "payload")
		d := new(guard.Delivery)
		w.Open(d, m, &guard.Rules{Order: guard.Park})
		ds := []*guard.Delivery{d}
		require.NoError(t, w.Claim(context.Background(), ds))
		w.Run(context.Background(), d, func(context.Context) error { return &idem.Failure{Outcome: idem.OutcomeMalformed} })
		require.NoError(t, w.Settle(context.Background(), ds))
		require.True(t, d.Settled)
		letters, err := w.store.ListDeadLetters(context.Background(), store.DeadLetterFilter{}, 0, 10)
		require.NoError(t, err)
		if d.Status == guard.Skipped || d.Result.Outcome == idem.OutcomeTooOld {
			return
		}
		require.Equal(t, idem.ActionDeadLetter, d.Decision.Action)
		require.Len(t, letters, 1)
		require.Equal(t, m.Value, letters[0].Payload)
	})
}
