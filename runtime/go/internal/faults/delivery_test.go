//go:build unix

package faults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// TestChecklistDuplicateDelivery: a message that comes twice in one batch, in another partition, once it is done, and
// all of it once more to a group that shares the scope, has one effect.
func TestChecklistDuplicateDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const keys = 60
	var all []broker.Message
	for i := range keys {
		m := w.message(fmt.Sprint("k", i), "")
		elsewhere := m
		elsewhere.Key = []byte(fmt.Sprint("another", i))
		all = append(all, m, m, elsewhere)
	}
	stop1 := w.start(w.store, w.config(), consumer.Tx(w.noted))
	stop2 := w.start(storeOf(t, w.connect(w.Database)), w.config(), consumer.Tx(w.noted))
	w.until(func() string { // so that copies are under way at once, in two processes
		// The first one may have had all partitions, of the topic and its retry topic, before the second came.
		log := w.log.all()
		if n := strings.Count(log, "in the group") - strings.Count(log, "in the group\" partitions=6"); n < 2 {
			return fmt.Sprintf("%d members of 2 share the partitions", n)
		}
		return ""
	})
	w.send(all...)
	w.untilDone(keys)
	w.send(all[:30]...)
	w.until(func() string {
		if n := w.seen.outcomes(idem.OutcomeDuplicate); n < 2*keys+30 {
			return fmt.Sprintf("%d duplicates of %d", n, 2*keys+30)
		}
		return ""
	})
	stop1()
	stop2()

	again := w.config()
	again.Group, again.Scope = w.Group+"-again", w.Group
	stop := w.start(w.store, again, consumer.Tx(w.noted))
	w.until(func() string {
		if n := w.seen.outcomes(idem.OutcomeDuplicate); n < 5*keys+60 {
			return fmt.Sprintf("%d duplicates of %d", n, 5*keys+60)
		}
		return ""
	})
	stop()
	require.Equal(t, keys, w.seen.outcomes(idem.OutcomeOK))
	w.judge()
}

// TestChecklistCrashBetweenBusinessCommitAndOffsetCommit: a process is killed whose transactions are committed, and its
// offsets are not. The next process gets all of it again, as duplicates.
func TestChecklistCrashBetweenBusinessCommitAndOffsetCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	const keys = 50
	var all []broker.Message
	for i := range keys {
		all = append(all, w.message(fmt.Sprint("k", i), ""))
	}
	p := w.spawn(childConfig{CommitInterval: time.Hour})
	w.send(all...)
	for i := range keys {
		p.untilSaid("ended", fmt.Sprint("k", i), "OK")
	}
	require.Len(t, w.effects(), keys)
	require.Zero(t, w.committed(), "the crash would be later than meant")
	p.kill()

	w.start(w.store, w.config(), consumer.Tx(simply))
	w.judge()
	require.Equal(t, keys, w.seen.outcomes(idem.OutcomeDuplicate), "all of it came again")
	require.Zero(t, w.seen.outcomes(idem.OutcomeOK))
	require.Equal(t, keys, w.count(`SELECT count(*) FROM effect WHERE worker = 'child'`))
}

// TestChecklistDecimalDriftThroughJSON: a gateway that reads amounts into float64 and writes them again sends a
// message on. What it sends has the key of the message, and is a duplicate or refused by a name; no second effect.
func TestChecklistDecimalDriftThroughJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	format := payload.Options{Format: payload.JSON}
	at := time.Now().Truncate(time.Millisecond)
	w.start(w.store, w.config(), consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *refundsv1.RefundAsked) error {
		return effect(ctx, tx, m.GetAmount())
	}, consumer.Route{Format: payload.JSON, MissingKey: guard.Derive}))

	through := func(amount string) string { // the gateway
		f, err := strconv.ParseFloat(amount, 64)
		require.NoError(t, err)
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	made := func(order, amount string) (broker.Message, error) {
		return payload.Message(w.Topic, &refundsv1.RefundAsked{OrderId: order, Amount: amount, Currency: "USD", AskedAt: timestamppb.New(at)}, format)
	}
	for _, c := range []struct {
		order, amount string
		drifted       string // by hand, so that the gateway is one that drifts
		outcome       idem.Outcome
	}{
		{"zeros", "100.00", "100", idem.OutcomeDuplicate},
		{"exponent", "1000000000000000000000", "1e+21", idem.OutcomeDuplicate},
		{"tenth", "0.10", "0.1", idem.OutcomeDuplicate},
		{"beyond 2^53", "9007199254740993", "9.007199254740992e+15", idem.OutcomeKeyReused},
		{"cents beyond", "90071992547409931.27", "9.007199254740994e+16", idem.OutcomeKeyReused},
	} {
		require.Equal(t, c.drifted, through(c.amount))
		m, err := made(c.order, c.amount)
		require.NoError(t, err)
		w.send(m)
		key := header(m.Headers, "idempotency_key")
		w.until(func() string {
			if len(w.seen.of(key)) == 0 {
				return "the original has not ended"
			}
			return ""
		})
		require.Equal(t, idem.OutcomeOK, w.seen.of(key)[0].Outcome, c.order)
		drifted, err := made(c.order, c.drifted)
		require.NoError(t, err, c.order)
		require.Equal(t, key, header(drifted.Headers, "idempotency_key"), c.order)
		passed, stripped := drifted, drifted
		passed.Headers = m.Headers // a gateway that passes headers through
		stripped.Headers = pairs("event_type", header(m.Headers, "event_type"))
		w.send(drifted, passed, stripped)
		w.until(func() string {
			if n := len(w.seen.of(key)); n < 4 {
				return fmt.Sprintf("%s: %d deliveries of 4 have ended", c.order, n)
			}
			return ""
		})
		counts := map[idem.Outcome]int{}
		for _, d := range w.seen.of(key)[1:] {
			counts[d.Outcome]++
		}
		if c.outcome == idem.OutcomeDuplicate {
			require.Equal(t, map[idem.Outcome]int{idem.OutcomeDuplicate: 3}, counts, c.order)
		} else {
			require.Equal(t, map[idem.Outcome]int{idem.OutcomeDuplicate: 2, c.outcome: 1}, counts, c.order)
		}
	}
	// A sum in float64 has no two places any more: its producer is told.
	a, b := 0.1, 0.2
	_, err := made("sum", strconv.FormatFloat(a+b, 'g', -1, 64))
	require.ErrorContains(t, err, "amount")
	require.Equal(t, idem.CodeDecimalScale, idem.CodeOf(err))
	// An amount that is a number in JSON is no text: refused, by name.
	number, err := made("number", "17.10")
	require.NoError(t, err)
	number.Value = []byte(`{"orderId":"number","amount":17.1,"currency":"USD"}`)
	w.send(number)
	w.judge()
	letters := map[string]string{}
	for _, l := range w.letters() {
		letters[l.Key] = l.Outcome.String()
	}
	require.Equal(t, "MALFORMED", letters[header(number.Headers, "idempotency_key")])
	require.Len(t, w.effects(), 5)
	require.Zero(t, w.count(`SELECT count(*) FROM effect WHERE worker LIKE '%e+%'`), "the originals' amounts are the effects'")
}

// TestChecklistPoisonBytes: bytes that are no message, and headers that are none, end as dead letters that have them as
// they were; those around them are done.
func TestChecklistPoisonBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	bytes := map[string][]byte{
		"truncated":     {0x0a, 0xff, 0xff, 0x7f},
		"wrong-type":    {0x08, 0x01, 0xff},
		"invalid-UTF-8": {0x0a, 0x02, 0xc3, 0x28},
		"a-group":       {0x0b, 0x0b, 0x0b, 0x0b},
		"zeros":         make([]byte, 300),
	}
	faulty := map[string][]string{
		"an-odd-count":    {"retry_count", "1\x00"},
		"a-negative-one":  {"retry_count", "-1"},
		"two-keys":        {"idempotency_key", "another"},
		"no-UTF-8":        {"biz_key", "fine", "fingerprint", "\xff\xfe"},
		"a-huge-schedule": {"backoff_schedule", "1,2,x"},
	}
	w.start(w.store, w.config(), consumer.Tx(simply))
	good := 0
	between := func() broker.Message {
		good++
		return w.message(fmt.Sprint("good", good), "")
	}
	for name, value := range bytes {
		m := w.message(name, "")
		m.Value = value
		w.send(between(), m, between())
	}
	for name, extra := range faulty {
		m := w.message(name, "", extra...)
		require.Nil(t, w.kafka.Publish(t.Context(), []broker.Message{m})) // whose key it is, nobody can say
		w.send(between())
	}
	w.judge()
	require.Len(t, w.effects(), good)
	letters := w.letters()
	require.Len(t, letters, len(bytes)+len(faulty))
	reasons := map[string]int{}
	for _, l := range letters {
		require.Equal(t, idem.OutcomeMalformed, l.Outcome, l.Reason)
		if value, ok := bytes[l.Key]; ok {
			require.Equal(t, value, l.Payload, l.Key)
			require.Regexp(t, "^PAYLOAD_INVALID: ", l.Reason)
			reasons["payload"]++
			continue
		}
		reasons["headers"]++
		require.NotContains(t, l.Reason, "PAYLOAD_INVALID")
	}
	require.Equal(t, map[string]int{"payload": len(bytes), "headers": len(faulty)}, reasons)
}
