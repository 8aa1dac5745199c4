package checklist

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// gate holds handlers in their middle.
type gate interface {
	// waiting is how many handlers it holds.
	waiting(ctx context.Context) (int, error)
	// open lets them go on.
	open()
	// String says how, for the report.
	String() string
}

// hold makes a gate for messages that are about to be sent. With once a message is held by it the first time alone.
func (b *bench) hold(ctx context.Context, messages []*made, once bool) (gate, error) {
	if b.down != nil {
		release := make(chan struct{})
		g := &callGate{b: b, release: sync.OnceFunc(func() { close(release) })}
		for _, m := range messages {
			r := &rule{hold: release}
			if once {
				r.first = 1
			}
			b.down.set(m.id, r)
			g.ids = append(g.ids, m.id)
		}
		return g, nil
	}
	return b.lock(ctx, messages)
}

// callGate holds a handler's call of the downstream.
type callGate struct {
	b       *bench
	ids     []string
	release func()
}

func (g *callGate) waiting(context.Context) (int, error) { return g.b.down.held(g.ids), nil }

func (g *callGate) open() {
	g.release()
	for _, id := range g.ids {
		g.b.down.set(id, nil)
	}
}

func (g *callGate) String() string { return "its call of the downstream was not answered" }

// lockGate holds what a handler writes: it waits for a lock.
type lockGate struct {
	b       *bench
	pid     uint32
	release func()
}

func (b *bench) lock(ctx context.Context, messages []*made) (gate, error) {
	g, err := b.locking(ctx, func(tx *pgx.Conn) error { return take(ctx, tx, messages) })
	if err != nil {
		return nil, fmt.Errorf("hold: %w", err)
	}
	return g, nil
}

// locking holds what take locks, in a transaction of its own.
func (b *bench) locking(ctx context.Context, take func(tx *pgx.Conn) error) (*lockGate, error) {
	conn, err := pgx.ConnectConfig(ctx, b.db.pool.Config().ConnConfig)
	if err != nil {
		return nil, err
	}
	g := &lockGate{b: b, pid: conn.PgConn().PID()}
	g.release = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = conn.Close(ctx) // which rolls back
	})
	if _, err = conn.Exec(ctx, "BEGIN"); err == nil {
		err = take(conn)
	}
	if err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

func take(ctx context.Context, conn *pgx.Conn, messages []*made) error {
	bySQL := map[string][]string{}
	for _, m := range messages {
		bySQL[m.of.Hold] = append(bySQL[m.of.Hold], m.id)
	}
	for sql, ids := range bySQL {
		if _, err := conn.Exec(ctx, sql, ids); err != nil {
			return err
		}
	}
	return nil
}

func (g *lockGate) waiting(ctx context.Context) (int, error) {
	var n int
	err := g.b.db.pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))`, int32(g.pid)).Scan(&n)
	return n, err
}

// cutWaiting ends the sessions that wait for the lock, and returns once they are gone: their transactions are rolled back.
func (g *lockGate) cutWaiting(ctx context.Context) error {
	_, err := g.b.db.pool.Exec(ctx, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))`, int32(g.pid))
	return err
}

func (g *lockGate) open() { g.release() }

func (g *lockGate) String() string { return "what it writes was locked" }
