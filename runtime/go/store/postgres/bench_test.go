package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

const batch = 500

// BenchmarkBareClaim is what a claim of 500 new keys has to do at least: one INSERT of the keys, in a transaction
// of its own. It is the limit that BenchmarkClaim is measured against.
func BenchmarkBareClaim(b *testing.B) {
	_, pool := open(b, postgres.Config{})
	run(b, pool, "CREATE TABLE bare (scope text, key text COLLATE \"C\", state smallint, fence bigint, owner text, lease_until timestamptz, PRIMARY KEY (scope, key))")
	keys := make([]string, batch)
	n := 0
	for b.Loop() {
		for i := range keys {
			keys[i] = fmt.Sprintf("payments.payment_success:v1:p-%09d", n)
			n++
		}
		rows, _ := pool.Query(b.Context(), `INSERT INTO bare SELECT 'payments', k, 1, 1, 'owner-of-the-claim-000', clock_timestamp() + interval '30 s'
			FROM unnest($1::text[]) k ORDER BY k ON CONFLICT DO NOTHING RETURNING key`, keys)
		if made, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(made) != batch {
			b.Fatal(len(made), err)
		}
	}
	perKey(b)
}

func BenchmarkClaim(b *testing.B) {
	s, _ := open(b, postgres.Config{})
	claims, n := make([]store.Claim, batch), 0
	for b.Loop() {
		n = fill(claims, n)
		if _, err := s.Claim(b.Context(), claims); err != nil {
			b.Fatal(err)
		}
	}
	perKey(b)
}

// BenchmarkClaimComplete reports, too, what the tables grow by: -benchtime 2000x for a million keys.
func BenchmarkClaimComplete(b *testing.B) {
	for name, keyOf := range map[string]func(int) string{
		"counted": func(n int) string { return fmt.Sprintf("payments.payment_success:v1:p-%09d", n) },
		"random":  func(int) string { return "payments.payment_success:v1:" + uuid.NewString() },
	} {
		b.Run(name, func(b *testing.B) {
			s, pool := open(b, postgres.Config{})
			claims, completions, n := make([]store.Claim, batch), make([]store.Completion, batch), 0
			for b.Loop() {
				for i := range claims {
					claims[i] = claimOf(keyOf(n), "owner-of-the-claim-000")
					claims[i].Fingerprint = "0f1e2d3c-0123456789abcdef"
					n++
				}
				grants, err := s.Claim(b.Context(), claims)
				if err != nil {
					b.Fatal(err)
				}
				for i := range grants {
					completions[i].Lease = grants[i].Lease
				}
				if _, err := s.Complete(b.Context(), completions); err != nil {
					b.Fatal(err)
				}
			}
			perKey(b)
			size := func(what, relations string) {
				bytes := value[float64](b, pool, "SELECT sum(pg_relation_size(oid))::float8 FROM pg_class WHERE relname LIKE $1", relations)
				b.ReportMetric(bytes/float64(n), what)
			}
			size("table-B/key", `idem\_record\__`)
			size("pkey-B/key", `idem\_record\__\_pkey`)
			size("expires-B/key", `idem\_record\__\_expires\_at\_idx`)
			pool.Reset() // a backend tells what it has counted when it ends
			time.Sleep(time.Second)
			b.ReportMetric(value[float64](b, pool, "SELECT coalesce(100.0 * sum(n_tup_hot_upd) / nullif(sum(n_tup_upd), 0), 0)::float8 FROM pg_stat_user_tables WHERE relname LIKE 'idem\\_record\\__'"), "%HOT")
		})
	}
}

// BenchmarkClean removes records that have expired, 1000 at a time.
func BenchmarkClean(b *testing.B) {
	s, pool := open(b, postgres.Config{})
	const most = 200000
	run(b, pool, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		SELECT 'payments', 'key-' || i, 2, 1, now(), now(), now() - (i / 20000) * interval '79 minutes' FROM generate_series(1, $1) i`, most)
	run(b, pool, "ANALYZE idem_record")
	n := 0
	for b.Loop() {
		if n == most {
			b.Fatalf("all of the %d records are gone: say -benchtime 200x, or less", most)
		}
		cleaned, err := s.Clean(b.Context(), 1000)
		if err != nil {
			b.Fatal(err)
		}
		n += cleaned
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "keys/s")
}

// BenchmarkClaimAgain claims keys that were completed: all of them are duplicates.
func BenchmarkClaimAgain(b *testing.B) {
	s, _ := open(b, postgres.Config{})
	claims, completions := make([]store.Claim, batch), make([]store.Completion, batch)
	fill(claims, 0)
	for i, g := range claim(b, s, claims...) {
		completions[i].Lease = g.Lease
	}
	if _, err := s.Complete(b.Context(), completions); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Claim(b.Context(), claims); err != nil {
			b.Fatal(err)
		}
	}
	perKey(b)
}

func fill(claims []store.Claim, n int) int {
	for i := range claims {
		claims[i] = claimOf(fmt.Sprintf("payments.payment_success:v1:p-%09d", n), "owner-of-the-claim-000")
		claims[i].Fingerprint = "0f1e2d3c-0123456789abcdef"
		n++
	}
	return n
}

func perKey(b *testing.B) {
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "keys/s")
}
