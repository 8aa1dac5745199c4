package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	scope  = "payments"
	origin = "orders"
	target = "orders.retry.payments"
)

var (
	errDown = errors.New("broker is down")
	quiet   = slog.New(slog.DiscardHandler)
)

// row is a delivery to come of the n-th message.
func row(n int, due time.Duration) store.Retry {
	return store.Retry{
		Scope: scope, Key: fmt.Sprintf("key-%d", n), SourceTopic: origin, SourceOffset: int64(n), RetryCount: 1,
		Action: idem.ActionRetry, Topic: target, MessageKey: fmt.Appendf(nil, "biz-%d", n%7), BizKey: fmt.Sprintf("biz-%d", n%7),
		Headers: idem.Headers{
			{Name: "idempotency_key", Value: fmt.Appendf(nil, "key-%d", n)}, {Name: "x-null"}, {Name: "x-raw", Value: []byte{0, 0xff}},
			{Name: "idempotency_key", Value: fmt.Appendf(nil, "key-%d", n)},
		},
		Payload: fmt.Appendf(nil, "payload-%d", n), Due: due, Status: store.RetryPending,
	}
}

// put writes rows, without a claim, as a guard does for a message that another holds.
func put(t testing.TB, s store.Store, rows ...store.Retry) {
	t.Helper()
	settlements := make([]store.Settlement, len(rows))
	for i := range rows {
		settlements[i] = store.Settlement{State: idem.StateFailed, Retry: &rows[i]}
	}
	answers, err := s.Settle(context.Background(), settlements)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if a != store.SettledWritten {
			t.Fatalf("row %d: %v", i, a)
		}
	}
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC)} }

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

func newWorld(t testing.TB, partitions int32) *world {
	w := &world{clock: newClock()}
	w.store = memory.New(memory.Config{Now: w.Now})
	w.broker = broker.NewMemory(broker.MemoryConfig{
		Partitions: partitions, Clock: w.Now,
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

// down has every publication fail.
func (w *world) down(is bool) {
	w.fault = nil
	if is {
		w.fault = func(*broker.Message) broker.PublishFault { return broker.PublishFault{Err: errDown} }
	}
}

// published is how often each key is in a topic.
func published(b *broker.Memory, topic string) map[string]int {
	n := map[string]int{}
	for _, m := range b.Messages(topic) {
		n[string(m.Headers[0].Value)]++
	}
	return n
}

// gauge keeps the last value of gauges and the sum of counters.
type gauge struct {
	observe.None
	mu     sync.Mutex
	values map[observe.Metric]float64
	labels map[observe.Metric]observe.Labels
}

func (g *gauge) Measure(m observe.Metric, labels observe.Labels, v float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.values == nil {
		g.values, g.labels = map[observe.Metric]float64{}, map[observe.Metric]observe.Labels{}
	}
	if m == observe.RetriesPublished {
		v += g.values[m]
	}
	g.values[m], g.labels[m] = v, labels
}
