package retry_test

import (
	"context"
	"testing"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// nowhere confirms everything.
type nowhere struct{}

func (nowhere) Publish(context.Context, []broker.Message) []error { return nil }

// BenchmarkSchedulerRound is one round of 200 rows, without what the store and the broker cost.
func BenchmarkSchedulerRound(b *testing.B) {
	const batch = 200
	rows := make([]store.Retry, batch)
	for i := range rows {
		rows[i] = row(i, 0)
	}
	r := &fakeRetries{}
	s, err := retry.NewScheduler(r, nowhere{}, retry.Config{Batch: batch, Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.rows = rows
		step(b, s, batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/row")
}

// BenchmarkSchedulerMemory is a round of 200 rows on the store and the broker in memory.
func BenchmarkSchedulerMemory(b *testing.B) {
	const batch = 200
	w := newWorld(b, 4)
	s := scheduler(b, w, retry.Config{Batch: batch})
	rows := make([]store.Retry, batch)
	for i := range rows {
		rows[i] = row(i, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		put(b, w.store, rows...)
		step(b, s, batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/row")
}
