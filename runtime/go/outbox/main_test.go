package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errDown = errors.New("broker is down")
	errDB   = errors.New("database is down")
	quiet   = slog.New(slog.DiscardHandler)
)

// message is the n-th of a key; an empty key is none.
func message(key string, n int) broker.Message {
	m := broker.Message{Topic: "orders", Value: fmt.Appendf(nil, "%s/%d", key, n)}
	if key != "" {
		m.Key = []byte(key)
	}
	return m
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a store and a broker on one clock.
type world struct {
	*clock
	store  *memory.Store
	broker *broker.Memory
	// fault is what goes wrong with a message; nil for nothing.
	fault func(m *broker.Message) broker.PublishFault
}

func newWorld(t testing.TB) *world {
	w := &world{clock: &clock{now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}}
	w.store = memory.New(memory.Config{Now: w.Now})
	w.broker = broker.NewMemory(broker.MemoryConfig{
		Partitions: 3, Clock: w.Now,
		Faults: broker.MemoryFaults{Publish: func(_ context.Context, m *broker.Message) broker.PublishFault {
			if w.fault == nil {
				return broker.PublishFault{}
			}
			return w.fault(m)
		}},
	})
	t.Cleanup(func() { w.broker.Close(); w.store.Close() })
	return w
}

func (w *world) down(is bool) {
	w.fault = nil
	if is {
		w.fault = func(*broker.Message) broker.PublishFault { return broker.PublishFault{Err: errDown} }
	}
}

func (w *world) outbox(t testing.TB, c outbox.Config) *outbox.Outbox {
	t.Helper()
	c.Log, c.Now = quiet, w.Now
	b, err := outbox.New(w.store, w.broker, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) relay(t testing.TB, c outbox.RelayConfig) *outbox.Relay {
	t.Helper()
	c.Log, c.Now = quiet, w.Now
	r, err := outbox.NewRelay(w.store, w.broker, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) stats(t testing.TB) store.OutboxStats {
	t.Helper()
	s, err := w.store.OutboxStats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publish publishes and expects the results.
func publish(t testing.TB, b *outbox.Outbox, messages []broker.Message, want ...outbox.Result) {
	t.Helper()
	got, err := b.Publish(context.Background(), messages...)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("published %v, %v; want %v", got, err, want)
	}
}

func step(t testing.TB, r *outbox.Relay, want int) {
	t.Helper()
	n, err := r.Step(context.Background())
	if err != nil || n != want {
		t.Fatalf("step: %d sent, %v; want %d", n, err, want)
	}
}

// values are what a topic has of each key, in order, without what came again.
func values(b *broker.Memory, topic string) map[string][]string {
	first := map[string][]string{}
	for _, m := range b.Messages(topic) {
		key, value := string(m.Key), string(m.Value)
		if !slices.Contains(first[key], value) {
			first[key] = append(first[key], value)
		}
	}
	return first
}

// expect compares what a topic has of a key.
func expect(t testing.TB, b *broker.Memory, key string, want ...string) {
	t.Helper()
	if got := values(b, "orders")[key]; !slices.Equal(got, want) {
		t.Errorf("key %q: %v, want %v", key, got, want)
	}
}

func of(messages ...broker.Message) []broker.Message { return messages }

// gauges keeps the last value of gauges and the sum of counters.
type gauges struct {
	observe.None
	values map[observe.Metric]float64
	labels map[observe.Metric]observe.Labels
}

func (g *gauges) Measure(m observe.Metric, labels observe.Labels, v float64) {
	if g.values == nil {
		g.values, g.labels = map[observe.Metric]float64{}, map[observe.Metric]observe.Labels{}
	}
	if m == observe.OutboxSent {
		v += g.values[m]
	}
	g.values[m], g.labels[m] = v, labels
}

func header(headers idem.Headers, name string) string {
	for _, h := range headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}
