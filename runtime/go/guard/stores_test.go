package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// exec runs a statement of a handler.
type exec[T any] func(ctx context.Context, tx T, statement string) error

func TestOnSQLite(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "idem.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	run := func(ctx context.Context, tx *sql.Tx, statement string) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}
	effects := func(t *testing.T) (n int) {
		require.NoError(t, s.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, "SELECT count(*) FROM effect").Scan(&n)
		}))
		return n
	}
	onDatabase(t, s, run, effects)
	endsItself(t, s, run, effects, (*sql.Tx).Commit, (*sql.Tx).Rollback)
}

func TestOnPostgresBySQL(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("pgx", realtest.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s, err := postgres.NewSQL(db, postgres.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	run := func(ctx context.Context, tx *sql.Tx, statement string) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}
	effects := func(t *testing.T) (n int) {
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM effect").Scan(&n))
		return n
	}
	onDatabase(t, s, run, effects)
	endsItself(t, s, run, effects, (*sql.Tx).Commit, (*sql.Tx).Rollback)
}

func TestOnPostgres(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), realtest.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	run := func(ctx context.Context, tx pgx.Tx, statement string) error {
		_, err := tx.Exec(ctx, statement)
		return err
	}
	effects := func(t *testing.T) (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM effect").Scan(&n))
		return n
	}
	onDatabase(t, s, run, effects)
	endsItself(t, s, run, effects, func(tx pgx.Tx) error { return tx.Commit(t.Context()) }, func(tx pgx.Tx) error { return tx.Rollback(t.Context()) })
	t.Run("REPEATABLE READ", func(t *testing.T) { serializable(t, s, pool) })
}

// slowCommit is a store whose COMMIT is on its way when the connection's end is noticed.
type slowCommit[T any] struct {
	store.Transactor[T]
	commit chan struct{} // closed: now
	done   sync.WaitGroup
}

func (s *slowCommit[T]) InTx(ctx context.Context, fn func(ctx context.Context, tx T) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	handled := make(chan error)
	s.done.Go(func() {
		defer cancel()
		_ = s.Transactor.InTx(ctx, func(ctx context.Context, tx T) error {
			err := fn(ctx, tx)
			handled <- err
			<-s.commit
			return err
		})
	})
	if err := <-handled; err != nil {
		return err
	}
	return errors.New("unexpected EOF")
}

// onDatabase proves one effect, whatever is lost, in the tables of a user.
func onDatabase[T any](t *testing.T, s store.Full[T], run exec[T], effects func(t *testing.T) int) {
	ctx := context.Background()
	g, err := guard.New(s, guard.Config{Scope: scope, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	require.NoError(t, s.InTx(ctx, func(ctx context.Context, tx T) error { return run(ctx, tx, "CREATE TABLE effect (at TEXT)") }))
	effect := func(ctx context.Context, tx T) error { return run(ctx, tx, "INSERT INTO effect VALUES ('now')") }

	for n, want := range []idem.Outcome{idem.OutcomeOK, idem.OutcomeDuplicate} {
		report, err := guard.DoTx(ctx, g, s, keyed("one", "idempotency_key_previous", "zero"), func(ctx context.Context, tx T) error {
			guard.Keep(ctx, []byte("receipt"))
			return effect(ctx, tx)
		})
		require.NoError(t, err, n)
		require.Equal(t, want, report.Outcome)
		require.Equal(t, "receipt", string(report.Result))
		require.Equal(t, 1, effects(t))
	}

	// A failure rolls back, and has its next delivery; a panic too.
	for _, fail := range []func() error{func() error { return errDown }, func() error { panic("out of cheese") }} {
		report, err := guard.DoTx(ctx, g, s, keyed("two"), func(ctx context.Context, tx T) error {
			if err := effect(ctx, tx); err != nil {
				return err
			}
			return fail()
		})
		require.NoError(t, err)
		require.Equal(t, 1, effects(t))
		if report.Outcome != idem.OutcomeRetryable {
			require.Equal(t, idem.OutcomeStale, report.Outcome, "the first one's next delivery is to come")
		}
	}
	counts, err := s.CountRetries(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(1), counts.Pending)

	// The first worker's lease is over, and another has the key: nothing of the first one is committed.
	open := func(key string) *guard.Delivery {
		d := new(guard.Delivery)
		g.Open(d, keyed(key), &guard.Rules{Mode: guard.Tx})
		require.NoError(t, g.Claim(ctx, []*guard.Delivery{d}))
		require.Equal(t, guard.Ready, d.Status)
		return d
	}
	d := open("three")
	_, err = s.Forget(ctx, scope, []string{"three"})
	require.NoError(t, err)
	guard.RunTx(ctx, g, s, d, effect)
	require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
	require.Equal(t, 1, effects(t))

	// TestFault18: the reply to COMMIT is lost, and it comes true while the failure is being written.
	slow := &slowCommit[T]{Transactor: s, commit: make(chan struct{})}
	d = open("four")
	guard.RunTx(ctx, g, store.Transactor[T](slow), d, effect)
	require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome, "nobody knows yet")
	time.AfterFunc(300*time.Millisecond, func() { close(slow.commit) })
	for deadline := time.Now().Add(30 * time.Second); !d.Settled; {
		if err := g.Settle(ctx, []*guard.Delivery{d}); err != nil {
			require.True(t, time.Now().Before(deadline), err)
		}
	}
	slow.done.Wait()
	counts, err = s.CountRetries(ctx)
	require.NoError(t, err)
	if d.Decision.Action == idem.ActionRetry {
		// SUCCESS goes with COMMIT, and found the failure written: there is no effect, and a delivery to come.
		require.Equal(t, []any{1, int64(2)}, []any{effects(t), counts.Pending})
		return
	}
	require.Equal(t, []any{idem.OutcomeOK, idem.ActionAck}, []any{d.Result.Outcome, d.Decision.Action})
	require.Equal(t, []any{2, int64(1)}, []any{effects(t), counts.Pending})
}

// endsItself proves that a handler which ends its transaction by itself has one effect at most, and is told what to do
// instead.
func endsItself[T any](t *testing.T, s store.Full[T], run exec[T], effects func(t *testing.T) int, commit, rollback func(T) error) {
	ctx := context.Background()
	g, err := guard.New(s, guard.Config{Scope: scope, Log: slog.New(slog.DiscardHandler), Rules: guard.Rules{Order: guard.Block}})
	require.NoError(t, err)
	for name, end := range map[string]func(T) error{"commits": commit, "rolls back": rollback} {
		before, m := effects(t), keyed(strings.ReplaceAll(name, " ", "-"), "backoff_schedule", "0", "max_retry", "3")
		for range 10 {
			report, err := guard.DoTx(ctx, g, s, m, func(ctx context.Context, tx T) error {
				if err := run(ctx, tx, "INSERT INTO effect VALUES ('now')"); err != nil {
					return err
				}
				return end(tx)
			})
			if err == nil {
				require.Equal(t, idem.ActionDeadLetter, report.Action, name)
				require.Contains(t, report.Reason, " instead", name)
				break
			}
			require.ErrorIs(t, err, guard.ErrHeld)
		}
		require.LessOrEqual(t, effects(t), before+1, name)
	}
}

// serializable: of two handlers that read and write one row in REPEATABLE READ the second gets SQLSTATE 40001, is
// delivered again, and has its effect then.
func serializable(t *testing.T, s *postgres.Store, pool *pgxpool.Pool) {
	ctx := t.Context()
	g, err := guard.New(s, guard.Config{Scope: scope, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Rules: guard.Rules{Order: guard.Block}})
	require.NoError(t, err)
	_, err = pool.Exec(ctx, "CREATE TABLE account (balance int); INSERT INTO account VALUES (100)")
	require.NoError(t, err)
	withdraw := func(before func()) func(ctx context.Context, tx pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
				return err
			}
			balance := 0
			if err := tx.QueryRow(ctx, "SELECT balance FROM account").Scan(&balance); err != nil {
				return err
			}
			before()
			_, err := tx.Exec(ctx, "UPDATE account SET balance = $1", balance-30)
			return err
		}
	}
	m := keyed("five")
	report, err := guard.DoTx(ctx, g, s, m, withdraw(func() {
		report, err := guard.DoTx(ctx, g, s, keyed("six"), withdraw(func() {}))
		require.NoError(t, err)
		require.Equal(t, idem.OutcomeOK, report.Outcome)
	}))
	require.ErrorIs(t, err, guard.ErrHeld)
	require.Equal(t, idem.OutcomeRetryable, report.Outcome)
	require.Contains(t, report.Reason, "40001")
	report, err = guard.DoTx(ctx, g, s, m, withdraw(func() {}))
	require.NoError(t, err)
	require.Equal(t, idem.OutcomeOK, report.Outcome)
	balance := 0
	require.NoError(t, pool.QueryRow(ctx, "SELECT balance FROM account").Scan(&balance))
	require.Equal(t, 40, balance)
}
