package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	spec "github.com/idem-spec/idem/spec/sql"
)

// texts are the statements by name.
var texts = spec.PostgresStatements()

// core is what both stores are: everything but the handler's transaction.
type core struct {
	connector
	config Config
	walk   *walk
}

func newCore(c connector, config Config) core { return core{c, config, newWalk(config.Retention)} }

// connector lends a connection.
type connector interface {
	with(ctx context.Context, fn func(*pgx.Conn) error) error
}

type poolConnector struct{ pool *pgxpool.Pool }

func (p poolConnector) with(ctx context.Context, fn func(*pgx.Conn) error) error {
	return p.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return fn(c.Conn()) })
}

type sqlConnector struct{ db *sql.DB }

func (s sqlConnector) with(ctx context.Context, fn func(*pgx.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf(`the driver's connection is a %T: the *sql.DB has to come from sql.Open("pgx", dsn) of github.com/jackc/pgx/v5/stdlib`, driver)
		}
		return fn(c.Conn())
	})
}

// work is one transaction of the store's own, sent a step at a time: all statements of a step in one round trip.
type work struct {
	core  *core
	batch *pgx.Batch
	// plans is what plan_cache_mode is; "" is genericPlan, which is kept: to plan a claim of one key takes longer than
	// the claim, and the plan is the same.
	plans string
	// idle bounds the pauses between steps.
	idle time.Duration
}

// queue adds a statement to the step.
func (w *work) queue(name string, args ...any) *pgx.QueuedQuery {
	text, ok := texts[name]
	if !ok {
		panic("no statement is named " + name)
	}
	return w.batch.Queue(text, args...)
}

// step adds the statements of a round trip; what they answer is there when the next step begins.
type step func(w *work) error

// What plan_cache_mode may be.
const (
	customPlan  = "force_custom_plan"  // planned for each parameters
	genericPlan = "force_generic_plan" // planned once
)

// attempts is how often a transaction is begun that the server has ended to break a deadlock.
const attempts = 5

// transact runs the steps in one transaction, in as many round trips. The transaction is rolled back where one
// fails, and begun again where the server says that another one was in its way.
func (c *core) transact(ctx context.Context, w work, steps ...step) error {
	w.core = c
	if w.idle == 0 || w.idle > c.config.IdleTimeout {
		w.idle = c.config.IdleTimeout
	}
	return c.with(ctx, func(conn *pgx.Conn) error {
		for i := 1; ; i++ {
			err := w.run(ctx, conn, steps)
			if err == nil {
				return nil
			}
			rollback(conn)
			if i == attempts || !isCollision(err) {
				return err
			}
		}
	})
}

func (w *work) run(ctx context.Context, conn *pgx.Conn, steps []step) error {
	for i, add := range steps {
		w.batch = &pgx.Batch{}
		if i == 0 {
			w.batch.Queue("begin isolation level read committed")
			w.queue("settings", milliseconds(w.core.config.LockTimeout), milliseconds(w.core.config.StatementTimeout), milliseconds(w.idle), cmp.Or(w.plans, genericPlan))
		}
		if err := add(w); err != nil {
			return err
		}
		if i == len(steps)-1 {
			w.batch.Queue("commit").Exec(committed)
		}
		if err := conn.SendBatch(ctx, w.batch).Close(); err != nil {
			return err
		}
	}
	return nil
}

// rollback ends a transaction that failed. A connection on which that fails too is of no use.
func rollback(conn *pgx.Conn) {
	if conn.IsClosed() || conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		conn.Close(ctx)
	}
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + "ms"
}
