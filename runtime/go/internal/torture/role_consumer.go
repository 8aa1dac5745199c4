//go:build unix

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	torturev1 "github.com/idem-spec/idem/runtime/go/internal/torture/gen/torture/v1"
	"github.com/idem-spec/idem/runtime/go/state"
)

// handlers are what a consumer's routes share.
type handlers struct {
	*worker
	witness *witness
	journal *journal
}

// consume is the role consumer.
func consume(ctx context.Context, w *worker) error {
	h := &handlers{worker: w, witness: newWitness(w.store), journal: newJournal(w)}
	var beside sync.WaitGroup
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	beside.Go(func() { h.journal.run(writing) })
	defer func() { stop(); beside.Wait() }()

	route := consumer.Route{Breaker: consumer.Breaker{MaxPause: 4 * time.Second}}
	block, park := route, route
	block.Order, block.Hold = guard.Block, 15*time.Second
	park.Order = guard.Park
	orders := &state.Table{Name: "orders", ID: "id", Status: "status", Version: "version", LastKey: "last_key", Creates: state.GuardCreates}
	c, err := consumer.New(w.broker, h.witness, consumer.Config{
		Group: groupOf[w.topic], Topics: []string{w.topic}, Workers: 12, Window: 2000, Batch: 60,
		CommitInterval: 500 * time.Millisecond, RebalanceTimeout: 2 * time.Second, DrainTimeout: 3 * time.Second,
		Guard:       guard.Config{HandlerTimeout: handlerTimeout, Lease: idempotentLease},
		NoScheduler: true, Observer: h.journal,
	},
		consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *torturev1.Blocked) error {
			return h.ordered(ctx, tx, "blocked/"+m.GetLane())
		}, block),
		consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *torturev1.Parked) error {
			return h.ordered(ctx, tx, "parked/"+m.GetLane())
		}, park),
		consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *torturev1.Loose) error { return h.loose(ctx, tx) }, route),
		consumer.Idempotent(func(ctx context.Context, m *torturev1.Outside) error { return h.outside(ctx) }, route),
		consumer.Guarded(orders, func(m *torturev1.OrderCreated) any { return m.GetOrder() }, move[*torturev1.OrderCreated](h), route),
		consumer.Guarded(orders, func(m *torturev1.OrderPaid) any { return m.GetOrder() }, move[*torturev1.OrderPaid](h), route),
		consumer.Guarded(orders, func(m *torturev1.OrderShipped) any { return m.GetOrder() }, move[*torturev1.OrderShipped](h), route),
	)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// called notes a call of a handler, and what it said.
func (h *handlers) called(ctx context.Context, do func(ctx context.Context, call int64) error) (err error) {
	key := guard.KeyOf(ctx)
	c, _ := h.witness.of(key)
	id := h.journal.start(key, c, time.Now())
	said := "panic"
	defer func() { h.journal.end(id, said) }()
	err = h.mood(ctx)
	if err == nil {
		err = do(ctx, id)
	}
	said = "ok"
	if err != nil {
		said = idem.ResultOf(err).Outcome.String()
	}
	return err
}

var errMood = errors.New("not today")

// mood is what goes wrong in handlers without anybody's doing.
func (h *handlers) mood(ctx context.Context) error {
	if h.bug == plant.NoFence || h.bug == plant.LeaseIgnored { // what shows them is a process that is stopped while it has claims
		sleep(ctx, h.chance.between(400*time.Millisecond, 1200*time.Millisecond))
	}
	switch n := h.chance.upTo(10_000); {
	case n < 300:
		return idem.Retryable(errMood)
	case n < 330:
		return idem.NonRetryable("NEVER", errMood)
	case n < 400:
		return idem.Throttled(h.chance.between(200*time.Millisecond, 2*time.Second), errMood)
	case n < 440:
		panic("not today")
	case n < 450:
		time.Sleep(pastLease) // deaf to its context, and longer than its lease
	case n < 500:
		<-ctx.Done() // until its time is over
		return ctx.Err()
	case n < 3000:
		sleep(ctx, h.chance.between(0, 40*time.Millisecond))
	case n < 3030:
		sleep(ctx, h.chance.between(0, 2*time.Second))
	}
	return nil
}

func (h *handlers) effect(ctx context.Context, tx pgx.Tx, place, call int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO effect (key, place, call, worker) VALUES ($1, $2, $3, $4)`, guard.KeyOf(ctx), place, call, h.id())
	return err
}

// ordered is an effect that knows its place in its lane.
func (h *handlers) ordered(ctx context.Context, tx pgx.Tx, lane string) error {
	return h.called(ctx, func(ctx context.Context, call int64) error {
		var place int64
		err := tx.QueryRow(ctx, `INSERT INTO done AS d VALUES ($1, 1) ON CONFLICT (lane) DO UPDATE SET n = d.n + 1 RETURNING n`, lane).Scan(&place)
		if err != nil {
			return err
		}
		return h.effect(ctx, tx, place, call)
	})
}

func (h *handlers) loose(ctx context.Context, tx pgx.Tx) error {
	return h.called(ctx, func(ctx context.Context, call int64) error { return h.effect(ctx, tx, 0, call) })
}

// outside has its effect on a connection of its own, as on somebody else's server.
func (h *handlers) outside(ctx context.Context) error {
	return h.called(ctx, func(ctx context.Context, call int64) error {
		_, err := h.ledger.Exec(ctx, `INSERT INTO effect (key, place, call, worker) VALUES ($1, 0, $2, $3)`, guard.KeyOf(ctx), call, h.id())
		return err
	})
}

// move gives the columns that go with the move of an order.
func move[M any](h *handlers) func(ctx context.Context, m M) (map[string]any, error) {
	return func(ctx context.Context, _ M) (columns map[string]any, err error) {
		err = h.called(ctx, func(_ context.Context, call int64) error {
			columns = map[string]any{"call": call, "worker": h.id()}
			return nil
		})
		return columns, err
	}
}
