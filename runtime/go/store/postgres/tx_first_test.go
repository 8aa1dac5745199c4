package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// Whatever a handler does first is in the transaction, with its settings, and is done or undone with it.
func TestTheFirstStatementIsInTheTransaction(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "CREATE TABLE first (name text PRIMARY KEY)")
	insert := "INSERT INTO first VALUES ($1)"
	exec := func(ctx context.Context, tx pgx.Tx, name string) error {
		_, err := tx.Exec(ctx, insert, name)
		return err
	}
	for name, do := range map[string]func(ctx context.Context, tx pgx.Tx, name string) error{
		"Exec": exec,
		"Exec with named parameters": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Exec(ctx, "INSERT INTO first VALUES (@name)", pgx.NamedArgs{"name": name})
			return err
		},
		"Exec with options": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Exec(ctx, insert, pgx.QueryExecModeExec, name)
			return err
		},
		"Exec without parameters": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Exec(ctx, "INSERT INTO first VALUES ('"+name+"'); SELECT 1")
			return err
		},
		"SET TRANSACTION": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			return errors.Join(err, exec(ctx, tx, name))
		},
		"Query": func(ctx context.Context, tx pgx.Tx, name string) error {
			rows, err := tx.Query(ctx, insert+" RETURNING name", name)
			if err != nil {
				return err
			}
			if got, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string]); err != nil || got != name {
				t.Errorf("it returns %q, %v", got, err)
			}
			return nil
		},
		"Query that is not read to its end": func(ctx context.Context, tx pgx.Tx, name string) error {
			rows, err := tx.Query(ctx, "SELECT * FROM generate_series(1, $1)", 5000)
			if err != nil {
				return err
			}
			if !rows.Next() {
				t.Error("there is no row")
			}
			rows.Close()
			return errors.Join(rows.Err(), exec(ctx, tx, name))
		},
		"QueryRow": func(ctx context.Context, tx pgx.Tx, name string) error {
			var got string
			return tx.QueryRow(ctx, insert+" RETURNING name", name).Scan(&got)
		},
		"QueryRow without a row": func(ctx context.Context, tx pgx.Tx, name string) error {
			var got string
			if err := tx.QueryRow(ctx, "SELECT name FROM first WHERE name = $1", "nobody").Scan(&got); !errors.Is(err, pgx.ErrNoRows) {
				t.Errorf("it gives %v, want ErrNoRows", err)
			}
			return exec(ctx, tx, name)
		},
		"a nested transaction": func(ctx context.Context, tx pgx.Tx, name string) error {
			return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return exec(ctx, tx, name) })
		},
		"SendBatch": func(ctx context.Context, tx pgx.Tx, name string) error {
			b := &pgx.Batch{}
			b.Queue(insert, name)
			return tx.SendBatch(ctx, b).Close()
		},
		"CopyFrom": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"first"}, []string{"name"}, pgx.CopyFromRows([][]any{{name}}))
			return err
		},
		"Prepare": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Prepare(ctx, "", insert)
			return errors.Join(err, exec(ctx, tx, name))
		},
		"Conn": func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Conn().Exec(ctx, insert, name)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			undo := errors.New("undo")
			for _, want := range []error{undo, nil} {
				err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
					if err := do(ctx, tx, name); err != nil {
						t.Error(err)
					}
					if status := tx.Conn().PgConn().TxStatus(); status != 'T' {
						t.Errorf("the connection's state is %q, want T", status)
					}
					var limit string
					if err := tx.QueryRow(ctx, "SELECT current_setting('statement_timeout')").Scan(&limit); err != nil || limit != "5min" {
						t.Errorf("statement_timeout is %s, %v", limit, err)
					}
					return want
				})
				if !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
				if there := value[int](t, pool, "SELECT count(*)::int FROM first WHERE name = $1", name); (there == 1) != (want == nil) {
					t.Errorf("after %v there are %d rows", want, there)
				}
			}
		})
	}
}

// A first statement that fails has the error that it would have by itself, and nothing after it is done outside of a
// transaction, also where the server did not even understand it.
func TestAFirstStatementThatFails(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "CREATE TABLE first (name text PRIMARY KEY)")
	for state, sql := range map[string]string{"42601": "INSERT INTO VALUES ($1)", "42P01": "INSERT INTO nowhere VALUES ($1)", "22P02": "SELECT ($1::text || 'x')::int"} {
		for how, do := range map[string]func(ctx context.Context, tx pgx.Tx) error{
			"Exec": func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, sql, "a")
				return err
			},
			"Query": func(ctx context.Context, tx pgx.Tx) error {
				rows, err := tx.Query(ctx, sql, "a")
				if err != nil {
					return err
				}
				for rows.Next() {
					t.Error("there is a row")
				}
				return rows.Err()
			},
			"QueryRow": func(ctx context.Context, tx pgx.Tx) error {
				var got int
				return tx.QueryRow(ctx, sql, "a").Scan(&got)
			},
		} {
			lease := proceed(t, s, state+how, "w")
			err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				var e *pgconn.PgError
				if err := do(ctx, tx); !errors.As(err, &e) || e.Code != state {
					t.Errorf("%s: %v, want SQLSTATE %s", how, err, state)
				}
				if _, err := tx.Exec(ctx, "INSERT INTO first VALUES ($1)", "outside"); err == nil {
					t.Errorf("%s %s: what follows is done", how, state)
				}
				return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
			})
			if err == nil {
				t.Errorf("%s %s: the transaction has failed, and InTx says nothing", how, state)
			}
			if records, err := s.Records(t.Context(), "payments", []string{state + how}); err != nil || records[0].State != idem.StateProcessing {
				t.Errorf("%+v, %v", records[0], err)
			}
		}
	}
	if n := value[int](t, pool, "SELECT count(*)::int FROM first"); n != 0 {
		t.Errorf("%d rows were written outside of a transaction", n)
	}
}

// A handler without a statement of its own is complete in one round trip, or fenced.
func TestATransactionOfNothingButItsCompletion(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Config{})
	lease := proceed(t, s, "a", "w")
	complete := func() error {
		return s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			return s.CompleteTx(ctx, tx, store.Completion{Lease: lease})
		})
	}
	if err := complete(); err != nil {
		t.Fatal(err)
	}
	if err := complete(); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the second time gives %v, want ErrFenced", err)
	}
	if err := s.InTx(t.Context(), func(context.Context, pgx.Tx) error { return nil }); err != nil {
		t.Errorf("a transaction of nothing gives %v", err)
	}
}

// Where the connection is gone before BEGIN the handler has not failed: it had nothing to work in.
func TestATransactionThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	for name, do := range map[string]func(ctx context.Context, tx pgx.Tx) error{
		"with the first statement": func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, "SELECT $1::int", 1); return err },
		"alone":                    func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, "SELECT 1"); return err },
		"and the error is swallowed": func(ctx context.Context, tx pgx.Tx) error {
			_, _ = tx.Exec(ctx, "SELECT $1::int", 1)
			return nil
		},
	} {
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pid := conn.Conn().PgConn().PID()
		conn.Release() // the pool gives the one that was given back last
		err = s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			run(t, pool, "SELECT pg_terminate_backend($1, 5000)", int(pid))
			return do(ctx, tx)
		})
		if !errors.Is(err, store.ErrNotBegun) {
			t.Errorf("%s: %v, want ErrNotBegun", name, err)
		}
	}
}

// A first statement that cannot be sent, for its parameters or its context, is a failure of the handler, as any later
// one is: that there was no transaction would not cost it a retry, for ever.
func TestAFirstStatementThatIsNotSent(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "CREATE TABLE first (name text PRIMARY KEY)")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func(ctx context.Context, tx pgx.Tx) error{
		"a parameter of another type": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SELECT $1::int", struct{}{})
			return err
		},
		"a parameter too many": func(ctx context.Context, tx pgx.Tx) error {
			var n int
			return tx.QueryRow(ctx, "SELECT $1::int", 1, 2).Scan(&n)
		},
		"a context that has ended": func(_ context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ended, "SELECT $1::int", 1)
			return err
		},
		"the same, and BEGIN alone": func(_ context.Context, tx pgx.Tx) error {
			_, err := tx.Begin(ended)
			return err
		},
	} {
		for _, swallowed := range []bool{false, true} {
			err := s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				err := do(ctx, tx)
				if err == nil {
					t.Errorf("%s: it is sent", name)
				}
				if swallowed {
					_, _ = tx.Exec(ctx, "INSERT INTO first VALUES ($1)", "outside")
					return nil
				}
				return err
			})
			if err == nil || errors.Is(err, store.ErrNotBegun) {
				t.Errorf("%s (swallowed: %v): %v", name, swallowed, err)
			}
		}
	}
	if n := value[int](t, pool, "SELECT count(*)::int FROM first"); n != 0 {
		t.Errorf("%d rows were written outside of a transaction", n)
	}
}
