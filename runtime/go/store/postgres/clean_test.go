package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// readSlices counts the slices that a cleaner has read.
type readSlices struct{ n int }

func (s *readSlices) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *readSlices) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	if strings.HasPrefix(q.SQL, "-- clean: ") {
		s.n++
	}
}
func (s *readSlices) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
func (s *readSlices) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (s *readSlices) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// cleaner is a store on a clock that only its test moves, with what it reads.
func cleaner(t *testing.T) (s *postgres.Store, pool *pgxpool.Pool, read *readSlices, advance func(time.Duration)) {
	t.Helper()
	url, set := warp(t)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	read = new(readSlices)
	config.ConnConfig.Tracer = read
	s = newStore(t, config)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, pool = openURL(t, url, postgres.Config{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	set(t, now)
	return s, pool, read, func(d time.Duration) {
		now = now.Add(d)
		set(t, now)
	}
}

func wantCleaned(t *testing.T, s store.Store, want int) {
	t.Helper()
	if n, err := s.Clean(t.Context(), 100); n != want || err != nil {
		t.Fatalf("cleaned %d, %v, want %d", n, err, want)
	}
}

// A slice that was read once is read again when its first record has expired.
func TestCleaningReadsNothingBeforeItsTime(t *testing.T) {
	t.Parallel()
	s, _, read, advance := cleaner(t)
	proceed(t, s, "first", "w")
	advance(time.Hour)
	proceed(t, s, "second", "w")
	for i, step := range []struct {
		after         time.Duration
		cleaned, read int
	}{
		{0, 0, 1},
		{0, 0, 1},
		{store.DefaultRetention - time.Hour - time.Millisecond, 0, 1},
		{2 * time.Millisecond, 1, 2},
		{time.Hour - 2*time.Millisecond, 0, 2},
		{2 * time.Millisecond, 1, 3},
	} {
		advance(step.after)
		wantCleaned(t, s, step.cleaned)
		if read.n != step.read {
			t.Fatalf("step %d: %d slices read, want %d", i, read.n, step.read)
		}
	}
}

// A record that another transaction has locked is not waited for, and is not forgotten.
func TestCleaningComesBackForARecordThatIsLocked(t *testing.T) {
	t.Parallel()
	s, pool, _, advance := cleaner(t)
	for i := range 3 {
		proceed(t, s, fmt.Sprint("k", i), "w")
	}
	run(t, pool, "UPDATE idem_record SET state = 2")
	advance(store.DefaultRetention + time.Second)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // it has ended
	if _, err := tx.Exec(t.Context(), "SELECT FROM idem_record WHERE key = 'k1' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	wantCleaned(t, s, 2)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	advance(store.DefaultRetention / 8)
	wantCleaned(t, s, 1)
}

// Records that have moved to other pages are found there.
func TestCleaningForgetsWhatItKnowsOfATableThatIsWrittenAnew(t *testing.T) {
	t.Parallel()
	s, pool, _, advance := cleaner(t)
	run(t, pool, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		SELECT 'payments', 'old-' || i, 2, 1, clock_timestamp(), clock_timestamp(), clock_timestamp() - interval '1 s' FROM generate_series(1, 50000) i`)
	run(t, pool, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		SELECT 'payments', 'new-' || i, 2, 1, clock_timestamp(), clock_timestamp(), clock_timestamp() + interval '1 h' FROM generate_series(1, 50) i`)
	cleaned := 0
	for n := 1; n > 0; cleaned += n {
		var err error
		if n, err = s.Clean(t.Context(), 100000); err != nil {
			t.Fatal(err)
		}
	}
	if cleaned != 50000 {
		t.Fatalf("cleaned %d", cleaned)
	}
	run(t, pool, "VACUUM FULL idem_record")
	advance(time.Hour + time.Second)
	wantCleaned(t, s, 50)
}

// Cleaners of several processes take each record once, and neither waits for the other nor fails.
func TestCleanersShareTheWork(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	_, pool := openURL(t, url, postgres.Config{})
	run(t, pool, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		SELECT 'payments', 'key-' || i, 1 + i % 4, 1, now(), now(), now() - interval '1 s' FROM generate_series(1, 10000) i`)
	var all sync.WaitGroup
	var mu sync.Mutex
	cleaned := 0
	for range 3 {
		s, _ := openURL(t, url, postgres.Config{})
		all.Go(func() {
			for range 200 {
				n, err := s.Clean(t.Context(), 100)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				cleaned += n
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if left := value[int](t, pool, "SELECT count(*) FROM idem_record WHERE state <> 3 OR fence <> 2"); cleaned != 10000 || left != 0 {
		t.Errorf("cleaned %d of 10000, %d left", cleaned, left)
	}
}
