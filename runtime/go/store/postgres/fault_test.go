package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// The first worker of a rescued message must not complete the second attempt: 0 rows, and its business work is
// rolled back.
func TestFault09CompletionOfARescuedClaimIsRolledBack(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "CREATE TABLE effect (name text)")
	short := claimOf("a", "zombie")
	short.Lease = time.Millisecond
	zombie := claim(t, s, short)[0].Lease
	var rescued store.Lease
	err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if err := insertEffect(ctx, tx, "paid by the zombie"); err != nil {
			return err
		}
		for rescued.Fence == 0 { // until its lease is over
			if g := claim(t, s, claimOf("a", "rescuer"))[0]; g.Kind == idem.AdmitProceed {
				rescued = g.Lease
			}
		}
		return s.CompleteTx(ctx, tx, store.Completion{Lease: zombie})
	})
	if !errors.Is(err, store.ErrFenced) {
		t.Errorf("the zombie's transaction: %v, want ErrFenced", err)
	}
	if n := value[int](t, pool, "SELECT count(*) FROM effect"); n != 0 {
		t.Errorf("%d effects of the zombie", n)
	}
	done, err := s.Complete(t.Context(), []store.Completion{{Lease: zombie}, {Lease: rescued}})
	if err != nil || done[0] || !done[1] {
		t.Errorf("Complete(zombie, rescuer) = %v, %v", done, err)
	}
}

// A key is unique however long ago it was seen, and in whichever partition it lies.
func TestFault14AKeyIsUniqueAcrossTimeAndPartitions(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{Partitions: 8})
	claims := make([]store.Claim, 100)
	for i := range claims {
		claims[i] = claimOf(fmt.Sprintf("k-%d", i), "first")
	}
	completions := make([]store.Completion, len(claims))
	for i, g := range claim(t, s, claims...) {
		completions[i].Lease = g.Lease
	}
	if _, err := s.Complete(t.Context(), completions); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, pool, "SELECT count(DISTINCT tableoid) FROM idem_record"); n != 8 {
		t.Errorf("100 keys lie in %d partitions, want 8", n)
	}
	run(t, pool, "UPDATE idem_record SET created_at = created_at - interval '13 days', updated_at = updated_at - interval '13 days'")
	for i := range claims {
		claims[i].Owner = "second"
	}
	for i, g := range claim(t, s, claims...) {
		if g.Kind != idem.AdmitDuplicate {
			t.Errorf("key %d, 13 days later: %s, want DUPLICATE", i, g.Kind)
		}
	}
	if n := value[int](t, pool, "SELECT count(*) FROM idem_record"); n != len(claims) {
		t.Errorf("%d records of %d keys", n, len(claims))
	}
}

func retryOf(key string, offset int64, due time.Duration) *store.Retry {
	return &store.Retry{
		Scope: "payments", Key: key, SourceTopic: "orders", SourceOffset: offset, RetryCount: 1, Action: idem.ActionRetry,
		Topic: "orders.retry.payments", Payload: []byte(key), Due: due,
	}
}

func settleRetries(t testing.TB, s store.Store, retries ...*store.Retry) {
	t.Helper()
	settlements := make([]store.Settlement, len(retries))
	for i, r := range retries {
		settlements[i].Retry = r
	}
	if settled, err := s.Settle(t.Context(), settlements); err != nil || slices.Contains(settled, store.SettledFenced) {
		t.Fatal(settled, err)
	}
}

// Any number of schedulers publish a row once a claim.
func TestFault15SchedulersAtOnceShareTheRows(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Config{})
	const n = 300
	retries := make([]*store.Retry, n)
	for i := range retries {
		retries[i] = retryOf(fmt.Sprintf("k-%d", i), int64(i), 0)
	}
	settleRetries(t, s, retries...)
	var mu sync.Mutex
	published := make(map[int64]int)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for {
				rows, err := s.ClaimDue(t.Context(), fmt.Sprintf("scheduler-%d", worker), 7, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if len(rows) == 0 {
					return
				}
				marks := make([]store.Mark, len(rows))
				mu.Lock()
				for i := range rows {
					published[rows[i].ID]++
					marks[i] = store.MarkOf(&rows[i])
				}
				mu.Unlock()
				if removed, err := s.MarkPublished(t.Context(), marks); err != nil || slices.Contains(removed, false) {
					t.Errorf("MarkPublished = %v, %v", removed, err)
				}
			}
		})
	}
	all.Wait()
	// A scheduler that finds every due row locked stops early; the rest is the next one's.
	if rows, err := s.ClaimDue(t.Context(), "last", n, time.Minute); err != nil {
		t.Fatal(err)
	} else {
		for i := range rows {
			published[rows[i].ID]++
		}
	}
	if len(published) != n {
		t.Errorf("%d of %d rows were published", len(published), n)
	}
	for id, times := range published {
		if times != 1 {
			t.Errorf("row %d was published %d times", id, times)
		}
	}
}

// A row that is committed after one with a higher id is not missed: there is no cursor.
func TestFault15ARowThatIsCommittedLateIsClaimed(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), `INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count,
		scope, idempotency_key, source_topic, status, action, topic, headers)
		VALUES (clock_timestamp(), 1, 0, 0, 1, 0, 'payments', 'late', 'orders', 'PENDING', 'RETRY', 'orders.retry.payments', '[]')`)
	if err != nil {
		t.Fatal(err)
	}
	settleRetries(t, s, retryOf("early", 2, 0))
	for _, want := range []string{"early", "late"} {
		rows, err := s.ClaimDue(t.Context(), "scheduler", 10, time.Minute)
		if err != nil || len(rows) != 1 || rows[0].Key != want {
			t.Fatalf("ClaimDue = %+v, %v, want %s alone", rows, err, want)
		}
		if want == "early" {
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Rows that cannot be claimed hide none of those behind them, and one with headers that nobody can read stops no
// other.
func TestFault15RowsThatCannotBeClaimedHideNoOthers(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	retries := make([]*store.Retry, 50)
	for i := range retries {
		retries[i] = retryOf(fmt.Sprintf("k-%02d", i), int64(i), 0)
	}
	settleRetries(t, s, retries...)
	run(t, pool, "UPDATE msg_retry SET headers = 'no JSON' WHERE idempotency_key = 'k-40'")
	claimed, err := s.ClaimDue(t.Context(), "another", 40, time.Minute)
	if err != nil || len(claimed) != 40 {
		t.Fatal(len(claimed), err)
	}
	rows, err := s.ClaimDue(t.Context(), "scheduler", 10, time.Minute)
	if err != nil || len(rows) != 10 || rows[0].Key != "k-40" || string(rows[0].Payload) != "k-40" {
		t.Fatalf("ClaimDue = %d rows, %v", len(rows), err)
	}
}

// The time zone of the server, of the database and of the session stalls nothing.
func TestFault15TimeZonesDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"America/St_Johns", "Pacific/Kiritimati"} {
		s, pool := openURL(t, withParameter(realtest.Postgres(t), "timezone", zone), postgres.Config{})
		if got := value[string](t, pool, "SHOW timezone"); got != zone {
			t.Fatalf("the session's time zone is %s", got)
		}
		settleRetries(t, s, retryOf("now", 1, 0), retryOf("in an hour", 2, time.Hour))
		rows, err := s.ClaimDue(t.Context(), "scheduler", 10, time.Minute)
		if err != nil || len(rows) != 1 || rows[0].Key != "now" {
			t.Errorf("%s: ClaimDue = %+v, %v", zone, rows, err)
		}
		g := claim(t, s, claimOf("a", "w"))[0]
		left := time.Until(time.UnixMilli(g.LeaseUntilMs))
		if left < 50*time.Second || left > 70*time.Second {
			t.Errorf("%s: a lease of a minute ends in %v", zone, left)
		}
	}
}

func withParameter(url, name, value string) string {
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	return url + separator + name + "=" + value
}

// A database whose transactions are REPEATABLE READ or SERIALIZABLE by default gives a second inserter no error:
// every transaction of the store says READ COMMITTED.
func TestFault18SecondInsertersUnderEveryDefaultIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		url := withParameter(realtest.Postgres(t), "default_transaction_isolation", strings.ReplaceAll(level, " ", "%20"))
		s, pool := openURL(t, url, postgres.Config{})
		if got := value[string](t, pool, "SHOW transaction_isolation"); got != level {
			t.Fatalf("the session's default is %s", got)
		}
		proceeds := make(map[string]int)
		var mu sync.Mutex
		var all sync.WaitGroup
		for worker := range 6 {
			all.Go(func() {
				claims := make([]store.Claim, 100)
				for i := range claims {
					claims[i] = claimOf(fmt.Sprintf("k-%d", (i*7+worker)%100), fmt.Sprint(worker))
				}
				grants, err := s.Claim(t.Context(), claims)
				if err != nil {
					t.Errorf("%s: %v", level, err)
				}
				mu.Lock()
				defer mu.Unlock()
				for i, g := range grants {
					if g.Kind == idem.AdmitProceed {
						proceeds[claims[i].Key]++
					}
				}
			})
		}
		all.Wait()
		if len(proceeds) != 100 {
			t.Errorf("%s: %d of 100 keys proceeded", level, len(proceeds))
		}
		for key, n := range proceeds {
			if n != 1 {
				t.Errorf("%s: %s proceeded %d times", level, key, n)
			}
		}
		err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			var isolation string
			err := tx.QueryRow(ctx, "SHOW transaction_isolation").Scan(&isolation)
			if isolation != "read committed" {
				t.Errorf("%s: a handler's transaction is %s", level, isolation)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A COMMIT whose reply is lost: the error says that nothing is known, and the record, read by its fence, says it.
func TestFault18TheRecordKnowsOfACommitWhoseReplyWasLost(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	direct, pool := openURL(t, url, postgres.Config{})
	run(t, pool, "CREATE TABLE effect (name text)")
	p := newProxy(t, url)
	s, _ := openURL(t, p.url, postgres.Config{})
	lease := proceed(t, s, "a", "w")
	p.loseAnswer("COMMIT\x00")
	err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		return errors.Join(insertEffect(ctx, tx, "paid"), s.CompleteTx(ctx, tx, store.Completion{Lease: lease, Result: []byte("r")}))
	})
	if err == nil || !strings.HasPrefix(err.Error(), "commit: ") {
		t.Fatalf("the commit's reply was lost, and the error is %v", err)
	}
	records, err := direct.Records(t.Context(), "payments", []string{"a"})
	if err != nil || records[0].State != idem.StateSuccess || records[0].Fence != lease.Fence {
		t.Errorf("Records = %+v, %v, want SUCCESS under fence %d", records[0], err, lease.Fence)
	}
	if n := value[int](t, pool, "SELECT count(*) FROM effect"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	// The same for a claim: the same owner asks again, and has it; under the fence that it had.
	p.loseAnswer("COMMIT\x00")
	if grants, err := s.Claim(t.Context(), []store.Claim{claimOf("b", "w")}); err == nil {
		t.Fatalf("the claim's commit was lost, and it answers %v", kinds(grants))
	}
	if again := proceed(t, s, "b", "w"); again.Fence != 1 {
		t.Errorf("the claim asked for again has fence %d, want 1", again.Fence)
	}
	if g := claim(t, s, claimOf("b", "another"))[0]; g.Kind != idem.AdmitInProgress {
		t.Errorf("another owner: %s, want IN_PROGRESS", g.Kind)
	}
}
