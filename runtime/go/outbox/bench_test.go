package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
)

// nowhere confirms everything.
type nowhere struct{}

func (nowhere) Publish(context.Context, []broker.Message) []error { return nil }

// rows is a store that always has the same ones.
type rows struct {
	store.Outbox
	all []store.Outgoing
}

func (r *rows) ClaimOutgoing(context.Context, string, int, time.Duration) ([]store.Outgoing, error) {
	return r.all, nil
}

func (*rows) Sent(context.Context, string, []int64) error { return nil }

func (*rows) Stored(_ context.Context, _ string, keys [][]byte) ([]bool, error) {
	return make([]bool, len(keys)), nil
}

// BenchmarkRelayRound is one round of 200 rows of 50 keys, without what the store and the broker cost.
func BenchmarkRelayRound(b *testing.B) {
	const batch = 200
	r := new(rows)
	for i := range batch {
		r.all = append(r.all, store.Outgoing{ID: int64(i), Topic: "orders", MessageKey: fmt.Appendf(nil, "key-%d", i%50)})
	}
	relay, err := outbox.NewRelay(r, nowhere{}, outbox.RelayConfig{Log: quiet, Revive: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		step(b, relay, batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/row")
}

// BenchmarkPublish is one message that is confirmed, without what the store and the broker cost.
func BenchmarkPublish(b *testing.B) {
	box, err := outbox.New(new(rows), nowhere{}, outbox.Config{Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	m := message("a", 1)
	m.Headers = idem.Headers{{Name: "idempotency_key", Value: []byte("k")}}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if results, err := box.Publish(ctx, m); err != nil || results[0] != confirmed {
			b.Fatal(results, err)
		}
	}
}
