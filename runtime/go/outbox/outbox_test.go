package outbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const (
	neither   = outbox.Neither
	confirmed = outbox.Confirmed
	stored    = outbox.Stored
)

func TestPublishIsConfirmedOrStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.outbox(t, outbox.Config{})
	publish(t, b, of(message("a", 1), message("b", 1), message("", 1)), confirmed, confirmed, confirmed)
	if s := w.stats(t); s.Pending != 0 {
		t.Errorf("%d rows of what is confirmed", s.Pending)
	}
	w.down(true)
	publish(t, b, of(message("a", 2), message("", 2)), stored, stored)
	w.down(false)
	expect(t, w.broker, "a", "a/1")
	step(t, w.relay(t, outbox.RelayConfig{}), 2)
	expect(t, w.broker, "a", "a/1", "a/2")
	expect(t, w.broker, "", "/1", "/2")
	publish(t, b, nil)
}

func TestFault04_partsThatFailAreStoredByIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		switch string(m.Value) {
		case "a/1":
			f.Err = errDown
		case "c/1":
			f.Err, f.Delivered = broker.ErrReplyLost, true
		}
		return f
	}
	b := w.outbox(t, outbox.Config{})
	publish(t, b, of(message("a", 1), message("b", 1), message("a", 2), message("c", 1), message("b", 2)),
		stored, confirmed, stored, stored, confirmed)
	w.fault = nil
	step(t, w.relay(t, outbox.RelayConfig{}), 3)
	expect(t, w.broker, "a", "a/1", "a/2")
	expect(t, w.broker, "b", "b/1", "b/2")
	expect(t, w.broker, "c", "c/1")
}

// unruly confirms a message behind one of its key that has failed, which a publisher must not.
type unruly struct{ broker.Publisher }

func (u unruly) Publish(ctx context.Context, messages []broker.Message) []error {
	errs := make([]error, len(messages))
	errs[0] = errDown
	for i := 1; i < len(messages); i++ {
		u.Publisher.Publish(ctx, messages[i:i+1])
	}
	return errs
}

func TestWhatIsBehindAFailedMessageOfItsKeyIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, err := outbox.New(w.store, unruly{w.broker}, outbox.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, of(message("a", 1), message("b", 1), message("a", 2), message("", 1)), stored, confirmed, stored, confirmed)
}

func TestAKeyWithStoredMessagesIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, other := w.outbox(t, outbox.Config{}), w.outbox(t, outbox.Config{}) // as of another process
	w.down(true)
	publish(t, b, of(message("a", 1)), stored)
	w.down(false)
	elsewhere := message("a", 1)
	elsewhere.Topic = "refunds" // the same key in another topic is another key
	publish(t, other, of(message("a", 2), message("b", 1), message("", 1), elsewhere), stored, confirmed, confirmed, confirmed)
	step(t, w.relay(t, outbox.RelayConfig{}), 2)
	publish(t, other, of(message("a", 3)), confirmed)
	expect(t, w.broker, "a", "a/1", "a/2", "a/3")
}

func TestAKeyWithAFailedMessageIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, r := w.outbox(t, outbox.Config{}), w.relay(t, outbox.RelayConfig{Delays: []time.Duration{}, Revive: -1})
	w.down(true)
	publish(t, b, of(message("a", 1)), stored)
	step(t, r, 0)
	w.down(false)
	if s := w.stats(t); s.Failed != 1 {
		t.Fatalf("%+v: not failed", s)
	}
	publish(t, b, of(message("a", 2)), stored)
	step(t, r, 0)
	if n, err := r.RetryFailed(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("%d retried, %v", n, err)
	}
	step(t, r, 2)
	expect(t, w.broker, "a", "a/1", "a/2")
}

// The caller's time may be over by the publication that failed.
func TestWhatIsNotConfirmedIsStoredAlsoWhenTheContextIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fault = func(*broker.Message) broker.PublishFault { return broker.PublishFault{Delay: time.Hour} }
		b := w.outbox(t, outbox.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		got, err := b.Publish(ctx, message("a", 1))
		if err != nil || !slices.Equal(got, []outbox.Result{stored}) || time.Since(begin) != time.Second {
			t.Errorf("%v, %v after %v", got, err, time.Since(begin))
		}
		begin = time.Now()
		publish(t, b, of(message("b", 1)), stored)
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("stored after %v, want the default of Timeout", took)
		}
	})
}

func TestAnOutageDoesNotHoldUpEveryCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		slow := time.Hour
		w.fault = func(*broker.Message) broker.PublishFault { return broker.PublishFault{Delay: slow} }
		b := w.outbox(t, outbox.Config{})
		took := func(key string, want outbox.Result) time.Duration {
			begin := time.Now()
			publish(t, b, of(message(key, 1)), want)
			return time.Since(begin)
		}
		var got []time.Duration
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			got = append(got, took(key, stored))
		}
		want := []time.Duration{5 * time.Second, time.Second / 2, time.Second / 2, 5 * time.Second, time.Second / 2}
		if !slices.Equal(got, want) {
			t.Errorf("calls took %v, want %v", got, want)
		}
		slow = 2 * time.Second // a broker that is slow, and has its time again
		time.Sleep(time.Second)
		if d := took("f", confirmed); d != 2*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// broken is a store of which some methods fail.
type broken struct {
	store.Outbox
	stored, store bool
}

func (b *broken) Stored(ctx context.Context, topic string, keys [][]byte) ([]bool, error) {
	if b.stored {
		return nil, errDB
	}
	return b.Outbox.Stored(ctx, topic, keys)
}

func (b *broken) Store(ctx context.Context, messages []store.Outgoing) error {
	if b.store {
		return errDB
	}
	return b.Outbox.Store(ctx, messages)
}

func TestNeitherIsAnErrorAndSaysWhichMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &broken{Outbox: w.store}
	for _, c := range []struct {
		name                            string
		brokerDown, lookDown, storeDown bool
		unordered                       bool
		withKey, withoutKey             outbox.Result
		words                           string
	}{
		{"all is well", false, false, false, false, confirmed, confirmed, ""},
		{"broker down", true, false, false, false, stored, stored, ""},
		{"the look fails", false, true, false, false, stored, confirmed, ""},
		{"database down", false, true, true, false, neither, confirmed, "Config.Unordered"},
		{"database down, order does not matter", false, true, true, true, confirmed, confirmed, ""},
		{"all is down", true, true, true, false, neither, neither, "neither confirmed nor stored"},
		{"all is down, order does not matter", true, true, true, true, neither, neither, "neither confirmed nor stored"},
	} {
		w.down(c.brokerDown)
		s.stored, s.store = c.lookDown, c.storeDown
		b, err := outbox.New(s, w.broker, outbox.Config{Log: quiet, Unordered: c.unordered})
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Publish(t.Context(), message(c.name, 1), message("", 1))
		if !slices.Equal(got, []outbox.Result{c.withKey, c.withoutKey}) {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.words == "" && err != nil || c.words != "" && (err == nil || !errors.Is(err, errDB) || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.words)
		}
	}
}

func TestPublishTxIsThereWithTheTransactionAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, r := w.outbox(t, outbox.Config{}), w.relay(t, outbox.RelayConfig{})
	rollback := errors.New("no funds")
	err := w.store.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
		if err := outbox.PublishTx(ctx, b, w.store, tx, message("a", 0)); err != nil {
			return err
		}
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
	step(t, r, 0)
	err = w.store.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
		return outbox.PublishTx(ctx, b, w.store, tx, message("a", 1), message("a", 2))
	})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, of(message("a", 3)), stored)
	step(t, r, 3)
	expect(t, w.broker, "a", "a/1", "a/2", "a/3")
	if err := outbox.PublishTx(t.Context(), b, w.store, nil, broker.Message{}); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("a message without a topic: %v", err)
	}
}

func TestMessagesGetTheirEventIDOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.outbox(t, outbox.Config{})
	m := message("a", 1)
	m.Headers = make(idem.Headers, 0, 20)
	m.Headers = append(m.Headers,
		idem.Header{Name: "idempotency_key", Value: []byte("k")}, idem.Header{Name: "event_type", Value: []byte("paid")},
		idem.Header{Name: "biz_key", Value: []byte("a")}, idem.Header{Name: "occurred_at", Value: []byte("2026-07-01T11:00:00Z")},
		idem.Header{Name: "x-other", Value: []byte("1")})
	w.fault = func(*broker.Message) broker.PublishFault { // there, and stored
		return broker.PublishFault{Err: broker.ErrReplyLost, Delivered: true}
	}
	publish(t, b, of(m), stored)
	w.fault = nil
	step(t, w.relay(t, outbox.RelayConfig{}), 1)
	messages := w.broker.Messages("orders")
	if len(messages) != 2 || len(m.Headers) != 5 {
		t.Fatalf("%d messages; the caller's has %d headers", len(messages), len(m.Headers))
	}
	var names []string
	for _, h := range messages[0].Headers {
		names = append(names, h.Name)
	}
	want := []string{"idempotency_key", "event_id", "event_type", "biz_key", "topic", "produced_at", "occurred_at", "x-other"}
	if !slices.Equal(names, want) {
		t.Errorf("headers %v, want %v", names, want)
	}
	e, err := idem.ParseHeaders(idem.Kafka, messages[0].Headers)
	if err != nil || e.Topic != "orders" || e.ProducedAt != "2026-07-01T12:00:00.000Z" || len(e.Warnings.List()) != 0 {
		t.Errorf("%+v %v", e, err)
	}
	if id, err := uuid.Parse(e.EventID); err != nil || id.Version() != 7 {
		t.Errorf("event_id %q", e.EventID)
	}
	if a, b := header(messages[0].Headers, "event_id"), header(messages[1].Headers, "event_id"); a != b {
		t.Errorf("event_id %q and %q of one message", a, b)
	}
}

func TestHeadersThatAreThereStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.outbox(t, outbox.Config{})
	for _, c := range []struct {
		name     string
		in, want string
	}{
		{"not of idem", "x-a=1", "x-a=1"},
		{"complete", "idempotency_key=k,event_id=e,topic=o,produced_at=p", "idempotency_key=k,event_id=e,topic=o,produced_at=p"},
		{"the event_id", "idempotency_key=k,event_id=e,x-a=1", "idempotency_key=k,event_id=e,topic=orders,produced_at=2026-07-01T12:00:00.000Z,x-a=1"},
		{"unknown ones first", "x-a=1,idempotency_key=k,event_id=e,topic=o", "x-a=1,idempotency_key=k,event_id=e,topic=o,produced_at=2026-07-01T12:00:00.000Z"},
	} {
		m := message(c.name, 1)
		m.Headers = headersOf(c.in)
		publish(t, b, of(m), confirmed)
		for _, got := range w.broker.Messages("orders") {
			if string(got.Key) != c.name {
				continue
			}
			want := headersOf(c.want)
			if c.name == "unknown ones first" {
				if header(got.Headers, "produced_at") == "" || header(got.Headers, "event_id") != "e" || header(got.Headers, "topic") != "o" {
					t.Errorf("%s: %v", c.name, got.Headers)
				}
				continue
			}
			if !slices.EqualFunc(got.Headers, want, func(a, b idem.Header) bool { return a.Name == b.Name && string(a.Value) == string(b.Value) }) {
				t.Errorf("%s: %v, want %v", c.name, got.Headers, want)
			}
		}
	}
}

func headersOf(text string) (headers idem.Headers) {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		headers = append(headers, idem.Header{Name: name, Value: []byte(value)})
	}
	return headers
}

func TestPublishRefusesWhatCanNeverBePublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.outbox(t, outbox.Config{MaxBytes: 5})
	for word, m := range map[string]broker.Message{
		"no name":            {},
		"byte 1":             {Topic: "a b"},
		"more than MaxBytes": {Topic: "orders", Value: []byte("123456")},
	} {
		got, err := b.Publish(t.Context(), broker.Message{Topic: "orders"}, m)
		if err == nil || !strings.Contains(err.Error(), word) || !slices.Equal(got, []outbox.Result{neither, neither}) {
			t.Errorf("%v, %v; want %q", got, err, word)
		}
	}
	if n := len(w.broker.Messages("orders")); n != 0 || w.stats(t).Pending != 0 {
		t.Errorf("%d published of calls that were refused", n)
	}
}

func TestNewChecksItsConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := outbox.New(nil, w.broker, outbox.Config{}); err == nil {
		t.Error("no store is accepted")
	}
	if _, err := outbox.New(w.store, nil, outbox.Config{}); err == nil {
		t.Error("no publisher is accepted")
	}
	if _, err := outbox.New(w.store, w.broker, outbox.Config{Timeout: -1}); err == nil || !strings.Contains(err.Error(), "Timeout") {
		t.Error(err)
	}
	if _, err := outbox.NewRelay(nil, w.broker, outbox.RelayConfig{}); err == nil {
		t.Error("no store is accepted")
	}
	if _, err := outbox.NewRelay(w.store, nil, outbox.RelayConfig{}); err == nil {
		t.Error("no publisher is accepted")
	}
	for word, c := range map[string]outbox.RelayConfig{
		"Lease at least 40s": {Lease: 39 * time.Second},
		"Batch":              {Batch: -1},
		"Poll":               {Poll: -1},
		"Delays":             {Delays: []time.Duration{-1}},
		"circle":             {Alias: map[string]string{"a": "a"}},
	} {
		if _, err := outbox.NewRelay(w.store, w.broker, c); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v, want %q", err, word)
		}
	}
	for r, word := range map[outbox.Result]string{neither: "neither", confirmed: "confirmed", stored: "stored"} {
		if r.String() != word {
			t.Errorf("%q, want %q", r, word)
		}
	}
}
