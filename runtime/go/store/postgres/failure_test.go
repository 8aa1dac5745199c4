package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// The server ends a handler's transaction, as a failover does: nothing of it is there, and the next one works.
func TestAServerThatEndsATransactionTakesAllOfItBack(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "CREATE TABLE effect (name text)")
	lease := proceed(t, s, "a", "w")
	pay := func(kill bool) error {
		return s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			if err := errors.Join(insertEffect(ctx, tx, "paid"), s.CompleteTx(ctx, tx, store.Completion{Lease: lease})); err != nil {
				return err
			}
			if kill {
				run(t, pool, "SELECT pg_terminate_backend($1)", int(tx.Conn().PgConn().PID()))
			}
			return nil
		})
	}
	err := pay(true)
	if err == nil {
		t.Fatal("the transaction was killed, and InTx says nothing")
	}
	if r := idem.ResultOf(err); r.Outcome != idem.OutcomeRetryable {
		t.Errorf("%v is %s, want RETRYABLE", err, r.Outcome)
	}
	if n := value[int](t, pool, "SELECT count(*) FROM effect"); n != 0 {
		t.Errorf("%d effects of a transaction that was killed", n)
	}
	if err := pay(false); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if n := value[int](t, pool, "SELECT count(*) FROM effect"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// While the server is away each call says so, and once it is back the same store goes on.
func TestAServerThatIsAwayAndBack(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	for name, open := range map[string]func(url string) store.Store{
		"pgx":          func(url string) store.Store { s, _ := openURL(t, url, postgres.Config{}); return s },
		"database/sql": func(url string) store.Store { s, _ := openSQL(t, url, postgres.Config{}); return s },
	} {
		p := newProxy(t, url)
		s := open(p.url)
		lease := proceed(t, s, "a-"+name, "w")
		p.setDown(true)
		if _, err := s.Complete(t.Context(), []store.Completion{{Lease: lease}}); err == nil || !strings.HasPrefix(err.Error(), "complete 1 keys: ") {
			t.Errorf("%s: while it is away: %v", name, err)
		}
		if err := s.Check(t.Context()); err == nil {
			t.Errorf("%s: Check found a server that is away", name)
		}
		p.setDown(false)
		var done []bool
		var err error
		for range 20 { // connections of the pool that were cut are found out one by one
			if done, err = s.Complete(t.Context(), []store.Completion{{Lease: lease}}); err == nil {
				break
			}
		}
		if err != nil || !done[0] {
			t.Errorf("%s: once it is back: %v, %v", name, done, err)
		}
	}
}

func TestAServerThatTakesNoWritesIsNamed(t *testing.T) {
	t.Parallel()
	dsn := realtest.Postgres(t)
	openURL(t, dsn, postgres.Config{})
	standby := withParameter(dsn, "default_transaction_read_only", "on")
	s, _ := bare(t, standby)
	_, claims := s.Claim(t.Context(), []store.Claim{claimOf("a", "w")})
	for name, err := range map[string]error{"Claim": claims, "Check": s.Check(t.Context()), "Store": s.Store(t.Context(), []store.Outgoing{{Topic: "t"}})} {
		if !errors.Is(err, postgres.ErrReadOnly) || !strings.Contains(err.Error(), "target_session_attrs=read-write") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A way to send statements that cannot work is refused before any claim fails, and what works instead is named. All
// others work.
func TestTheModeOfStatementsIsChecked(t *testing.T) {
	t.Parallel()
	dsn := realtest.Postgres(t)
	with := func(mode string) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("default_query_exec_mode", mode)
		u.RawQuery = q.Encode()
		return u.String()
	}
	if _, err := postgres.Open(t.Context(), with("simple_protocol"), postgres.Config{}); err == nil || !strings.Contains(err.Error(), "use exec") {
		t.Errorf("simple_protocol: %v", err)
	}
	bySQL, _ := openSQL(t, with("simple_protocol"), postgres.Config{})
	if err := bySQL.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "use exec") {
		t.Errorf("simple_protocol, by database/sql: %v", err)
	}
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec"} {
		s, _ := openURL(t, with(mode), postgres.Config{})
		lease := proceed(t, s, mode, "w")
		err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT $1::text", "a"); err != nil {
				return err
			}
			return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
		})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestErrorsNameTheWayOut(t *testing.T) {
	t.Parallel()
	dsn := realtest.Postgres(t)
	s, pool := bare(t, dsn)
	if _, err := s.Claim(t.Context(), []store.Claim{claimOf("a", "w")}); !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "idem migrate up") {
		t.Errorf("without tables: %v", err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/no_such_database"
	s, _ = bare(t, u.String())
	if err := s.Check(t.Context()); errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "there is no such database: create it") {
		t.Errorf("without a database: %v", err)
	}
	if err := mustMigrate(t, dsn); err != nil {
		t.Fatal(err)
	}
	role := fmt.Sprintf("idem_nobody_%d", time.Now().UnixNano())
	run(t, pool, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		_, _ = pool.Exec(context.Background(), "DROP ROLE "+role)
	})
	u, _ = url.Parse(dsn)
	u.User = url.UserPassword(role, "hunter2")
	s, _ = bare(t, u.String())
	_, err = s.Claim(t.Context(), []store.Claim{claimOf("a", "w")})
	if !errors.Is(err, postgres.ErrDenied) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("without a grant: %v", err)
	}
}

func mustMigrate(t *testing.T, dsn string) error {
	s, _ := bare(t, dsn)
	return s.Migrate(t.Context())
}

func TestConfigErrorsNameTheField(t *testing.T) {
	t.Parallel()
	_, pool := bare(t, realtest.Postgres(t))
	for want, config := range map[string]postgres.Config{
		"postgres.Config.Retention is -1h0m0s":                                  {Retention: -time.Hour},
		"postgres.Config.IdleTimeout is 1ns":                                    {IdleTimeout: 1},
		"postgres.Config.Wait is 1µs":                                           {Wait: time.Microsecond},
		"postgres.Config.LockTimeout is 1m0s: it has to be less than Statement": {LockTimeout: time.Minute},
	} {
		if _, err := postgres.New(pool, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := postgres.New(nil, postgres.Config{}); err == nil || !strings.Contains(err.Error(), "pgxpool.New") {
		t.Errorf("a nil pool: %v", err)
	}
	if _, err := postgres.NewSQL(nil, postgres.Config{}); err == nil || !strings.Contains(err.Error(), `sql.Open("pgx", dsn)`) {
		t.Errorf("a nil database: %v", err)
	}
}

// What a broken message has in its headers does not keep its dead letter from being written.
func TestADeadLetterIsWrittenWhateverItsTexts(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	long := strings.Repeat("é", 5000)
	d := &store.DeadLetter{
		Scope: "payments", Key: long, EventType: "a\x00b\xff" + long, BizKey: "\xff\x00", EventID: long, SourceTopic: "orders", SourceOffset: 1,
		Outcome: idem.OutcomeMalformed, Reason: "MALFORMED: \xff\x00", Topic: "orders",
		Headers: idem.Headers{{Name: "event_type", Value: []byte("a\x00b\xff" + long)}}, MessageKey: []byte{0}, Payload: []byte{0xff, 0},
	}
	settled, err := s.Settle(t.Context(), []store.Settlement{{DeadLetter: d}})
	if err != nil || settled[0] != store.SettledWritten {
		t.Fatal(settled, err)
	}
	letters, err := s.ListDeadLetters(t.Context(), store.DeadLetterFilter{Outcome: "MALFORMED"}, 0, 10)
	if err != nil || len(letters) != 1 {
		t.Fatal(letters, err)
	}
	got := letters[0]
	if string(got.Headers[0].Value) != string(d.Headers[0].Value) || string(got.Payload) != "\xff\x00" || string(got.MessageKey) != "\x00" {
		t.Error("headers, key or payload are not the bytes that were")
	}
	if want := "a\uFFFDb\uFFFDé"; !strings.HasPrefix(got.EventType, want) || got.Reason != "MALFORMED: \uFFFD\uFFFD" {
		t.Errorf("event type %.20q, reason %q", got.EventType, got.Reason)
	}
	if n := value[int](t, pool, "SELECT max(octet_length(event_type)) FROM dead_letter"); n > 1024 {
		t.Errorf("an event type of %d bytes", n)
	}
}

// Claims and completions write no index: each update stays on its page.
func TestUpdatesOfRecordsStayHOT(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	for round := range 10 {
		claims, completions := make([]store.Claim, 500), make([]store.Completion, 500)
		for i := range claims {
			claims[i] = claimOf(fmt.Sprintf("payments.payment_success:v1:p-%d-%d", round, i), "owner-of-the-claim-000")
			claims[i].Fingerprint = "0f1e2d3c-0123456789abcdef"
		}
		for i, g := range claim(t, s, claims...) {
			completions[i].Lease = g.Lease
		}
		if _, err := s.Complete(t.Context(), completions); err != nil {
			t.Fatal(err)
		}
	}
	pool.Reset() // a backend tells what it has counted when it ends, at the latest
	var updates, hot int
	for deadline := time.Now().Add(10 * time.Second); updates < 5000 && time.Now().Before(deadline); {
		err := pool.QueryRow(t.Context(), "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'idem_record'").Scan(&updates, &hot)
		if err != nil {
			t.Fatal(err)
		}
	}
	if updates < 5000 || hot < updates*99/100 {
		t.Errorf("%d of %d updates are HOT", hot, updates)
	}
}

func TestADatabaseOfAnotherDriverIsNamed(t *testing.T) {
	t.Parallel()
	db := sql.OpenDB(otherDriver{})
	t.Cleanup(func() { db.Close() })
	s, err := postgres.NewSQL(db, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), []store.Claim{claimOf("a", "w")}); err == nil || !strings.Contains(err.Error(), "github.com/jackc/pgx/v5/stdlib") {
		t.Errorf("%v", err)
	}
}

// Whoever keeps the transaction of a handler that is over does not speak on a connection that is another's.
func TestATransactionThatIsOverIsClosed(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Config{})
	for name, complete := range map[string]bool{"with a completion": true, "without": false} {
		lease := proceed(t, s, name, "w")
		var kept, savepoint pgx.Tx
		err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) (err error) {
			kept = tx
			if savepoint, err = tx.Begin(ctx); err != nil {
				return err
			}
			if savepoint, err = savepoint.Begin(ctx); err != nil {
				return err
			}
			if _, err := savepoint.Exec(ctx, "SELECT 1"); err != nil {
				return err
			}
			if !complete {
				return nil
			}
			return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kept.Exec(t.Context(), "SELECT 1"); !errors.Is(err, pgx.ErrTxClosed) {
			t.Errorf("%s: %v, want ErrTxClosed", name, err)
		}
		if _, err := savepoint.Exec(t.Context(), "SELECT 1"); !errors.Is(err, pgx.ErrTxClosed) {
			t.Errorf("a savepoint %s: %v, want ErrTxClosed", name, err)
		}
	}
}

// A handler that has swallowed an error of its transaction does not get SUCCESS for it.
func TestATransactionThatHasFailedCompletesNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Config{})
	lease := proceed(t, s, "a", "w")
	err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT 1/0"); err == nil {
			t.Error("1/0 is fine")
		}
		return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
	})
	if err == nil {
		t.Error("the transaction has failed, and InTx says nothing")
	}
	records, err := s.Records(t.Context(), "payments", []string{"a"})
	if err != nil || records[0].State != idem.StateProcessing {
		t.Errorf("%+v, %v", records[0], err)
	}
}
