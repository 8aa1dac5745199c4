package guard_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const benchBatch = 200

func benchMessages(from int) []broker.Message {
	messages := make([]broker.Message, benchBatch)
	for i := range messages {
		messages[i] = broker.Message{
			Topic: "orders", Offset: int64(from + i), Key: []byte("order-8317"), Value: []byte("payload"),
			Headers: idem.Headers{
				{Name: "idempotency_key", Value: fmt.Appendf(nil, "payment:%d:v1", from+i)},
				{Name: "event_id", Value: []byte("0190b6a5-7c1e-7bd1-9e3a-2f1c7a9d0c11")},
				{Name: "event_type", Value: []byte("payments.failed")},
				{Name: "biz_key", Value: []byte("order-8317")},
				{Name: "topic", Value: []byte("orders")},
				{Name: "idem_spec", Value: []byte("1")},
			},
		}
	}
	return messages
}

func benchGuard(b testing.TB) (*guard.Guard, *memory.Store) {
	s := memory.New(memory.Config{})
	g, err := guard.New(s, guard.Config{Scope: scope, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(b, err)
	return g, s
}

// BenchmarkPipeline takes batches of new keys through Open, Claim, Run or RunTx, and Settle.
func BenchmarkPipeline(b *testing.B) {
	for _, mode := range []string{"Idempotent", "Tx"} {
		b.Run(mode, func(b *testing.B) {
			rules := &guard.Rules{}
			if mode == "Tx" {
				rules.Mode = guard.Tx
			}
			ds := make([]*guard.Delivery, benchBatch)
			for i := range ds {
				ds[i] = new(guard.Delivery)
			}
			ctx := context.Background()
			var g *guard.Guard
			var s *memory.Store
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				if n%200000 == 0 {
					g, s = benchGuard(b)
				}
				messages := benchMessages(n)
				n += benchBatch
				b.StartTimer()
				for i, d := range ds {
					g.Open(d, &messages[i], rules)
				}
				if err := g.Claim(ctx, ds); err != nil {
					b.Fatal(err)
				}
				for _, d := range ds {
					if rules.Mode == guard.Tx {
						guard.RunTx(ctx, g, s, d, func(context.Context, *memory.Tx) error { return nil })
					} else {
						g.Run(ctx, d, nothing)
					}
				}
				if err := g.Settle(ctx, ds); err != nil || !ds[0].Settled || !ds[benchBatch-1].Completed {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchBatch), "ns/message")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	g, _ := benchGuard(b)
	messages, d, rules := benchMessages(0), new(guard.Delivery), &guard.Rules{}
	b.ReportAllocs()
	for b.Loop() {
		g.Open(d, &messages[0], rules)
	}
}

// A delivery that is used again needs no memory beyond the envelope's texts.
func TestOpenAllocatesTheEnvelopeAlone(t *testing.T) {
	g, _ := benchGuard(t)
	messages, d, rules := benchMessages(0), new(guard.Delivery), &guard.Rules{Order: guard.Park}
	g.Open(d, &messages[0], rules)
	var e idem.Envelope
	envelope := testing.AllocsPerRun(100, func() { require.NoError(t, e.Parse(idem.Kafka, messages[0].Headers)) })
	require.Equal(t, envelope, testing.AllocsPerRun(100, func() { g.Open(d, &messages[0], rules) }))
}
