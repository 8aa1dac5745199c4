package consumer

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// BenchmarkPipeline is a message from fetch to commit, with dedup, retries and dead letters, on the broker and the
// store in memory, with a handler that does nothing.
func BenchmarkPipeline(b *testing.B) {
	idempotent := func(count func()) Handler {
		return Idempotent(func(context.Context, *payment) error { count(); return nil })
	}
	for name, handler := range map[string]func(count func()) Handler{
		"Idempotent": idempotent,
		"Block": func(count func()) Handler {
			return Idempotent(func(context.Context, *payment) error { count(); return nil }, Route{Order: 1})
		},
		"Tx": func(count func()) Handler {
			return Tx(func(context.Context, *memory.Tx, *payment) error { count(); return nil })
		},
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, handler) })
	}
}

func benchmark(b *testing.B, handler func(count func()) Handler) {
	const partitions = 4
	m := broker.NewMemory(broker.MemoryConfig{})
	for _, topic := range []string{"payments", "payments.retry.g"} {
		if err := m.CreateTopic(topic, partitions); err != nil {
			b.Fatal(err)
		}
	}
	publish(b, m, b.N)
	var left atomic.Int64
	left.Store(int64(b.N))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	count := func() {
		if left.Add(-1) == 0 {
			cancel()
		}
	}
	c, err := New(m, memory.New(memory.Config{}), Config{Group: "g", Topics: []string{"payments"}, Log: discard()}, handler(count))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.Run(ctx); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func publish(b *testing.B, m *broker.Memory, n int) {
	b.Helper()
	batch := make([]broker.Message, 0, 1000)
	for i := range n {
		id := strconv.Itoa(i)
		payload, err := proto.Marshal(wrapperspb.String(id))
		if err != nil {
			b.Fatal(err)
		}
		batch = append(batch, broker.Message{Topic: "payments", Key: []byte("b" + id), Value: payload, Headers: idem.Headers{
			{Name: "idempotency_key", Value: []byte("payment:v1:" + id)},
			{Name: "event_id", Value: []byte("0198c2a5-6a80-7000-8000-00000000" + id)},
			{Name: "event_type", Value: []byte("payment")},
			{Name: "biz_key", Value: []byte("b" + id)},
			{Name: "topic", Value: []byte("payments")},
			{Name: "produced_at", Value: []byte("2099-01-01T00:00:00.000Z")},
		}})
		if len(batch) == cap(batch) || i == n-1 {
			if errs := m.Publish(context.Background(), batch); errs != nil {
				b.Fatal(errs)
			}
			batch = make([]broker.Message, 0, 1000)
		}
	}
}

// BenchmarkIdleLatency is the time from a publication to its handler where nothing else is going on.
func BenchmarkIdleLatency(b *testing.B) {
	m := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
	arrived := make(chan time.Time, 1)
	c, err := New(m, memory.New(memory.Config{}), Config{Group: "g", Topics: []string{"payments"}, Log: discard()},
		Idempotent(func(context.Context, *payment) error { arrived <- time.Now(); return nil }))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	took := make([]time.Duration, 0, b.N)
	for i := range b.N {
		key := []byte("payment:v1:" + strconv.Itoa(i))
		message := broker.Message{Topic: "payments", Key: key, Headers: idem.Headers{{Name: "idempotency_key", Value: key}, {Name: "event_type", Value: []byte("payment")}}}
		begun := time.Now()
		if errs := m.Publish(ctx, []broker.Message{message}); errs != nil {
			b.Fatal(errs)
		}
		took = append(took, (<-arrived).Sub(begun))
	}
	b.StopTimer()
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
}
