package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// BenchmarkClaimComplete claims and completes 500 new keys an operation.
func BenchmarkClaimComplete(b *testing.B) {
	const batch = 500
	s := memory.New(memory.Config{})
	claims := make([]store.Claim, batch)
	completions := make([]store.Completion, batch)
	ctx := b.Context()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		b.StopTimer()
		if n%100000 == 0 { // a table that does not grow without end
			s = memory.New(memory.Config{})
		}
		for i := range claims {
			n++
			claims[i] = store.Claim{Scope: "payments", Key: fmt.Sprintf("payment:%d", n), Owner: "w1", MaxAttempts: idem.MaxAttempts(5), Lease: 30 * time.Second}
		}
		b.StartTimer()
		grants, err := s.Claim(ctx, claims)
		if err != nil {
			b.Fatal(err)
		}
		for i := range grants {
			completions[i] = store.Completion{Lease: grants[i].Lease}
		}
		done, err := s.Complete(ctx, completions)
		if err != nil || !done[0] || !done[batch-1] {
			b.Fatal(err, done)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/key")
}
