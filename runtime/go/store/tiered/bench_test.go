package tiered_test

import (
	"fmt"
	"path/filepath"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

// BenchmarkClaimComplete claims and completes new keys, and claims duplicates, over a real Redis and SQLite.
func BenchmarkClaimComplete(b *testing.B) {
	const batch = 500
	options, err := goredis.ParseURL(realtest.Redis(b))
	if err != nil {
		b.Fatal(err)
	}
	truth, err := sqlite.Open(filepath.Join(b.TempDir(), "idem.db"), sqlite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	s := tiered.New(redis.New(goredis.NewClient(options), redis.Config{}).Hints(), truth, patient)
	defer s.Close()
	claims := make([]store.Claim, batch)
	n := 0
	claimBatch := func(b *testing.B) []store.Grant {
		grants, err := s.Claim(b.Context(), claims)
		if err != nil {
			b.Fatal(err)
		}
		return grants
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		completions := make([]store.Completion, batch)
		start := n
		for b.Loop() {
			for i := range claims {
				n++
				claims[i] = claimOf(fmt.Sprint("payments.paid:v1:", n), "w1")
			}
			for i, g := range claimBatch(b) {
				completions[i] = store.Completion{Lease: g.Lease}
			}
			if done, err := s.Complete(b.Context(), completions); err != nil || !done[batch-1] {
				b.Fatal(done, err)
			}
		}
		b.ReportMetric(float64(n-start)/b.Elapsed().Seconds(), "keys/s")
	})
	b.Run("duplicate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			claimBatch(b)
		}
		b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "keys/s")
	})
}
