package retry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

func delayTopics(t testing.TB, p broker.Publisher, c retry.DelayConfig) *retry.DelayTopics {
	t.Helper()
	c.Scope, c.Origins = scope, []string{origin}
	d, err := retry.NewDelayTopics(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADeliveryWaitsInTheLongestBucketWithinItsDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		due   time.Duration
		topic string
	}{
		{-time.Second, target},
		{0, target},
		{time.Millisecond, "orders.delay-1.payments"},
		{9999 * time.Millisecond, "orders.delay-1.payments"},
		{10 * time.Second, "orders.delay-10.payments"},
		{time.Minute, "orders.delay-60.payments"},
		{599 * time.Second, "orders.delay-60.payments"},
		{10 * time.Minute, "orders.delay-600.payments"},
		{7 * 24 * time.Hour, "orders.delay-3600.payments"},
	} {
		w := newWorld(t, 2)
		d := delayTopics(t, w.broker, retry.DelayConfig{})
		r := row(1, c.due)
		if errs := d.PublishRetries(t.Context(), []store.Retry{r}); errs != nil {
			t.Fatal(errs)
		}
		messages := w.broker.Messages(c.topic)
		if len(messages) != 1 {
			t.Errorf("%v: not in %s", c.due, c.topic)
			continue
		}
		if m := messages[0]; string(m.Value) != string(r.Payload) || string(m.Key) != string(r.MessageKey) || len(m.Headers) != len(r.Headers) {
			t.Errorf("published %+v", m)
		}
	}
}

// The guard acknowledges a delivery only where its row is confirmed: each row has its own answer.
func TestFault05_whatIsNotConfirmedIsSaidOfEachRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		if string(m.Headers[0].Value) == "key-2" {
			f.Err = errDown
		}
		return f
	}
	d := delayTopics(t, w.broker, retry.DelayConfig{})
	other, parked := row(4, 0), row(5, 0)
	other.Topic = "refunds.retry.payments"
	parked.Park = true
	errs := d.PublishRetries(t.Context(), []store.Retry{row(1, time.Second), row(2, time.Second), row(3, time.Second), other, parked})
	if len(errs) != 5 || errs[0] != nil || !errors.Is(errs[1], errDown) || errs[2] != nil ||
		!strings.Contains(fmt.Sprint(errs[3]), "add its origin") || !errors.Is(errs[4], retry.ErrParkNeedsTable) {
		t.Errorf("%v", errs)
	}
	if n := len(w.broker.Messages("orders.delay-1.payments")); n != 2 {
		t.Errorf("%d published", n)
	}
	if errs := d.PublishRetries(t.Context(), nil); errs != nil {
		t.Errorf("no rows: %v", errs)
	}
}

func TestDelayTopicsAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	long := strings.Repeat("o", 249-len(".delay-3600.s"))
	for _, c := range []struct {
		name   string
		config retry.DelayConfig
		word   string
	}{
		{"the longest name that fits", retry.DelayConfig{Scope: "s", Origins: []string{long}}, ""},
		{"a name too long", retry.DelayConfig{Scope: "s", Origins: []string{long + "o"}}, "250 bytes, more than 249"},
		{"a retry topic too long", retry.DelayConfig{Scope: "s", Origins: []string{strings.Repeat("o", 242)}, Buckets: []time.Duration{time.Second}}, "more than 249"},
		{"no scope", retry.DelayConfig{Origins: []string{"o"}}, "Scope"},
		{"no origins", retry.DelayConfig{Scope: "s"}, "Origins"},
		{"no whole seconds", retry.DelayConfig{Scope: "s", Origins: []string{"o"}, Buckets: []time.Duration{1500 * time.Millisecond}}, "1.5s"},
		{"a bucket of nothing", retry.DelayConfig{Scope: "s", Origins: []string{"o"}, Buckets: []time.Duration{0}}, "Buckets"},
		{"a circle", retry.DelayConfig{Scope: "s", Origins: []string{"o"}, Alias: map[string]string{"o": "o"}}, "circle"},
	} {
		_, err := retry.NewDelayTopics(w.broker, c.config)
		if c.word == "" && err != nil || c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.word)
		}
	}
}

func TestTopicsToCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	d := delayTopics(t, w.broker, retry.DelayConfig{Buckets: []time.Duration{time.Minute, time.Second, time.Minute}})
	if got, want := d.Topics(), []string{"orders.delay-1.payments", "orders.delay-60.payments"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	f, err := retry.NewForwarder(broker.NewMemory(broker.MemoryConfig{}), d, retry.ForwarderConfig{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(context.Background()); !errors.Is(err, broker.ErrUnknownTopic) || !strings.Contains(err.Error(), "orders.delay-1.payments") {
		t.Errorf("missing topics: %v", err)
	}
}

var _ guard.Delayer = (*retry.DelayTopics)(nil)
