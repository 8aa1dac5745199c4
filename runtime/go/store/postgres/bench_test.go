package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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

// BenchmarkTx is one transaction a message, 32 at once: an update of the business table and the completion. The claims
// are made before, in batches. "hand" is the same in pgx alone, with a table that has neither partitions nor settings.
func BenchmarkTx(b *testing.B) {
	const workers = 32
	begin := func(b *testing.B) (*postgres.Store, *pgxpool.Pool) {
		_, pool := open(b, postgres.Config{})
		config := pool.Config()
		config.MaxConns = workers
		pool, err := pgxpool.NewWithConfig(b.Context(), config)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(pool.Close)
		s, err := postgres.New(pool, postgres.Config{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, pool, "CREATE TABLE account (id int PRIMARY KEY, balance int) WITH (fillfactor = 50)")
		run(b, pool, "INSERT INTO account SELECT i, 0 FROM generate_series(0, 9999) i")
		run(b, pool, "CREATE TABLE hand (scope text, key text COLLATE \"C\", state smallint, fence bigint, owner text, PRIMARY KEY (scope, key)) WITH (fillfactor = 50)")
		run(b, pool, "INSERT INTO hand SELECT 'payments', 'key-' || i, 1, 1, 'owner-of-the-claim-000' FROM generate_series(0, $1) i", b.N)
		return s, pool
	}
	each := func(b *testing.B, do func(i int) error) {
		var next atomic.Int64
		var all sync.WaitGroup
		b.ResetTimer()
		for range workers {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
					if err := do(int(i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	}
	update := func(ctx context.Context, tx pgx.Tx, i int) error {
		_, err := tx.Exec(ctx, "UPDATE account SET balance = balance + 1 WHERE id = $1", i%10000)
		return err
	}
	b.Run("hand", func(b *testing.B) {
		_, pool := begin(b)
		each(b, func(i int) error {
			return pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
				if err := update(b.Context(), tx, i); err != nil {
					return err
				}
				_, err := tx.Exec(b.Context(), "UPDATE hand SET state = 2 WHERE scope = $1 AND key = $2 AND fence = $3 AND owner = $4 AND state = 1",
					"payments", fmt.Sprintf("key-%d", i), 1, "owner-of-the-claim-000")
				return err
			})
		})
	})
	b.Run("InTx", func(b *testing.B) {
		s, _ := begin(b)
		leases := make([]store.Lease, 0, b.N)
		claims := make([]store.Claim, batch)
		for len(leases) < b.N {
			fill(claims, len(leases))
			for _, g := range claim(b, s, claims...) {
				leases = append(leases, g.Lease)
			}
		}
		each(b, func(i int) error {
			return s.InTx(b.Context(), func(ctx context.Context, tx pgx.Tx) error {
				if err := update(ctx, tx, i); err != nil {
					return err
				}
				return s.CompleteTx(ctx, tx, store.Completion{Lease: leases[i]})
			})
		})
	})
}
