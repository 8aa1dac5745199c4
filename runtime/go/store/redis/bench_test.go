package redis

import (
	"fmt"
	"testing"

	"github.com/idem-spec/idem/runtime/go/store"
)

// BenchmarkClaimComplete claims and completes new keys on a real server, batch by batch.
func BenchmarkClaimComplete(b *testing.B) {
	for _, batch := range []int{1, 500} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			s := New(real(b), Config{})
			claims := make([]store.Claim, batch)
			completions := make([]store.Completion, batch)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for i := range claims {
					n++
					claims[i] = claimOf(fmt.Sprint("payments.paid:v1:", n), "w1")
				}
				grants, err := s.Claim(b.Context(), claims)
				if err != nil {
					b.Fatal(err)
				}
				for i := range grants {
					completions[i] = store.Completion{Lease: grants[i].Lease}
				}
				if done, err := s.Complete(b.Context(), completions); err != nil || !done[batch-1] {
					b.Fatal(done, err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
