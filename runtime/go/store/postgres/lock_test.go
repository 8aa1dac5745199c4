package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// DEDUP-030
func TestAKeyThatIsLockedIsInProgressAndTheOthersProceed(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{Wait: 777 * time.Millisecond})
	lease := proceed(t, s, "b", "w")
	if _, err := s.Settle(t.Context(), []store.Settlement{{Lease: lease, State: idem.StateFailed, RetryCount: 1, Retry: retryOf("b", 1, 0)}}); err != nil {
		t.Fatal(err)
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM idem_record WHERE key = 'b' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	next := claimOf("b", "v")
	next.RetryCount = 1
	grants := claim(t, s, claimOf("a", "v"), next, claimOf("c", "v"))
	if got := fmt.Sprint(kinds(grants)); got != "[PROCEED IN_PROGRESS PROCEED]" || grants[1].WaitMs != 777 {
		t.Errorf("%s, wait %d ms", got, grants[1].WaitMs)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := claim(t, s, next)[0]; g.Kind != idem.AdmitProceed || g.Fence != 2 || g.Attempts != 2 {
		t.Errorf("once it is let go: %+v", g.Admission)
	}
}

// A key whose first claim is not committed yet cannot be passed over: the batch is halved until it is alone.
func TestALockTimeoutHalvesTheBatchAndCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{LockTimeout: 20 * time.Millisecond})
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		VALUES ('payments', 'k-05', 1, 1, now(), now(), now() + interval '1 day')`)
	if err != nil {
		t.Fatal(err)
	}
	claims := make([]store.Claim, 16)
	for i := range claims {
		claims[i] = claimOf(fmt.Sprintf("k-%02d", i), "w")
	}
	for i, g := range claim(t, s, claims...) {
		switch {
		case i == 5 && g.Kind != idem.AdmitInProgress:
			t.Errorf("the key that is locked: %s", g.Kind)
		case i != 5 && (g.Kind != idem.AdmitProceed || g.Attempts != 1 || g.Fence != 1):
			t.Errorf("%s: %+v", claims[i].Key, g.Admission)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l := proceed(t, s, "k-05", "w"); l.Fence != 1 {
		t.Errorf("once it is let go it has fence %d", l.Fence)
	}
	if n := value[int](t, pool, "SELECT max(attempts) FROM idem_record"); n != 1 {
		t.Errorf("a claim cost %d attempts", n)
	}
}

// Batches with the same keys, claims, completions, failures and lanes of many workers at once end, and no error
// reaches a caller.
func TestBatchesOfManyWorkersDoNotDeadlock(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for round := range 25 {
				batchOf(ctx, t, s, random, worker, round)
			}
		})
	}
	all.Wait()
	if n := value[int](t, pool, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); n > 3 {
		t.Errorf("%d deadlocks were broken by the server", n)
	}
}

func batchOf(ctx context.Context, t *testing.T, s *postgres.Store, random *rand.Rand, worker, round int) {
	claims := make([]store.Claim, 40)
	for i := range claims {
		n := random.IntN(120)
		claims[i] = claimOf(fmt.Sprintf("k-%d", n), fmt.Sprintf("w%d-%d-%d", worker, round, i))
		claims[i].MaxAttempts, claims[i].RedriveCount = 1<<30, int32(random.IntN(1+round))
		if n%3 == 0 {
			claims[i].Previous = fmt.Sprintf("k-%d", (n+60)%120)
		}
		if n%4 == 0 {
			claims[i].Lane = store.Lane{Topic: "orders", BizKey: fmt.Sprint(n % 8)}
		}
	}
	grants, err := s.Claim(ctx, claims)
	if err != nil {
		t.Errorf("claim: %v", err)
		return
	}
	var completions []store.Completion
	var settlements []store.Settlement
	for i, g := range grants {
		c := &claims[i]
		if g.Kind != idem.AdmitProceed {
			continue
		}
		if random.IntN(2) == 0 {
			completions = append(completions, store.Completion{Lease: g.Lease, Lane: c.Lane, Head: g.Head})
			continue
		}
		x := store.Settlement{Lease: g.Lease, State: idem.StateFailed, RedriveCount: c.RedriveCount, RetryCount: c.RetryCount + 1, Lane: c.Lane}
		x.Retry = retryOf(c.Key, int64(random.IntN(5)), 0)
		x.Retry.RedriveCount = c.RedriveCount
		settlements = append(settlements, x)
	}
	random.Shuffle(len(completions), func(i, j int) { completions[i], completions[j] = completions[j], completions[i] })
	if _, err := s.Complete(ctx, completions); err != nil {
		t.Errorf("complete: %v", err)
	}
	if _, err := s.Settle(ctx, settlements); err != nil {
		t.Errorf("settle: %v", err)
	}
	rows, err := s.ClaimDue(ctx, fmt.Sprintf("s%d-%d", worker, round), 20, time.Second)
	if err != nil {
		t.Errorf("claim due: %v", err)
	}
	var marks []store.Mark
	for i := range rows {
		marks = append(marks, store.MarkOf(&rows[i]))
	}
	if _, err := s.MarkPublished(ctx, marks); err != nil {
		t.Errorf("mark: %v", err)
	}
	if _, err := s.SweepLanes(ctx, 5); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if _, err := s.Clean(ctx, 10); err != nil {
		t.Errorf("clean: %v", err)
	}
}

// trips counts the round trips of the store.
type trips struct{ n int }

func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n++
	return ctx
}
func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n++
	return ctx
}
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	_, pool := open(t, postgres.Config{})
	config := pool.Config()
	var count trips
	config.ConnConfig.Tracer = &count
	s := newStore(t, config)
	var lease store.Lease
	for _, c := range []struct {
		name string
		want int
		do   func()
	}{
		{"claim of new keys", 2, func() { lease = claim(t, s, claimOf("a", "w"), claimOf("b", "w"))[0].Lease }},
		{"claim of keys that were there", 2, func() { claim(t, s, claimOf("a", "w"), claimOf("c", "w")) }},
		{"complete", 1, func() {
			if done, err := s.Complete(t.Context(), []store.Completion{{Lease: lease}}); err != nil || !done[0] {
				t.Error(done, err)
			}
		}},
		{"settle", 2, func() { settleRetries(t, s, retryOf("d", 1, 0)) }},
		{"a handler's transaction with one statement and its completion", 2, func() { // BEGIN with the settings and the statement, the completion with COMMIT
			lease := claim(t, s, claimOf("e", "w"))[0].Lease
			count.n = 0
			err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "SELECT $1::int", 1); err != nil {
					return err
				}
				return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
			})
			if err != nil {
				t.Error(err)
			}
		}},
	} {
		count.n = 0
		c.do()
		if count.n != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, count.n, c.want)
		}
	}
}

func TestAHandlersTransactionEndsWithItsTime(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Config{HandlerTimeout: 90 * time.Second})
	setting := func(ctx context.Context, name string) (value string) {
		err := s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			return tx.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
		})
		if err != nil {
			t.Error(err)
		}
		return value
	}
	for _, name := range []string{"idle_in_transaction_session_timeout", "statement_timeout"} {
		if got := setting(t.Context(), name); got != "90s" {
			t.Errorf("%s = %s, want 90s", name, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if got := setting(ctx, name); len(got) < 8 || got[:4] != "3599" { // in milliseconds
			t.Errorf("%s = %s with a deadline in an hour", name, got)
		}
	}
}
