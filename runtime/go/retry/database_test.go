package retry_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// table is a database with msg_retry.
type table interface {
	store.Store
	store.Retries
}

func sqliteTable(t testing.TB) table {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "idem.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func postgresTable(t testing.TB) table {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), realtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Replicas that race on a database, the one that is fault 15's: each row is published, once where nothing
// fails, and never before it is due.
func TestFault15_replicasOnDatabases(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); replicasOn(t, sqliteTable(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); replicasOn(t, postgresTable(t)) })
}

func replicasOn(t *testing.T, s table) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(21, 22))
	unsure := map[string]bool{} // their publication failed, and may be there
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 3, Faults: broker.MemoryFaults{
		Publish: func(_ context.Context, m *broker.Message) (f broker.PublishFault) {
			mu.Lock()
			defer mu.Unlock()
			switch random.IntN(8) {
			case 0:
				f.Err = errDown
			case 1:
				f.Err, f.Delivered = broker.ErrReplyLost, true
				unsure[string(m.Headers[0].Value)] = true
			}
			return f
		},
	}})
	defer b.Close()
	const rows = 300
	begin := time.Now()
	dues := make(map[string]time.Duration, rows)
	for n := range rows {
		due := time.Duration(n%10) * 100 * time.Millisecond
		r := row(n, due)
		dues[r.Key] = due
		put(t, s, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var replicas sync.WaitGroup
	for range 4 {
		c, err := retry.NewScheduler(s, b, retry.Config{Batch: 11, Poll: 20 * time.Millisecond, MaxDelay: 50 * time.Millisecond, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		replicas.Go(func() { _ = c.Run(ctx) })
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		counts, err := s.CountRetries(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if counts.Pending == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d rows left", counts.Pending)
		}
	}
	cancel()
	replicas.Wait()
	for _, m := range b.Messages(target) {
		key := string(m.Headers[0].Value)
		if early := dues[key] - m.Time.Sub(begin); early > 5*time.Millisecond { // the store's clock may differ a little
			t.Errorf("%s came %v early", key, early)
		}
	}
	got := published(b, target)
	if len(got) != rows {
		t.Errorf("%d of %d published", len(got), rows)
	}
	for key, n := range got {
		if n != 1 && !unsure[key] {
			t.Errorf("%s published %d times", key, n)
		}
	}
}
