package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const (
	handlerTimeout = 3 * time.Second
	lease          = 12 * time.Second // of mode Idempotent
)

// consume starts a consumer, with its scheduler and cleaner.
func (w *world) consume(name string, r rates) (*process, error) {
	p := w.newProcess(name, r)
	box, err := outbox.New(p.store, p.broker, outbox.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.ended <- err
		return p, err
	}
	p.box = box
	c := p.chance
	config := consumer.Config{
		Group: group, Topics: []string{topic}, Log: slog.New(slog.DiscardHandler), Observer: observer{w},
		Workers: 1 + c.below(6), Window: 8 + c.below(60), Batch: 1 + c.below(30),
		RebalanceTimeout: time.Second + c.upTo(4*time.Second), DrainTimeout: time.Second + c.upTo(4*time.Second),
		Guard: guard.Config{HandlerTimeout: handlerTimeout, Lease: lease, DeadLetterTopic: w.variant.deadTopic},
	}
	if w.variant.delayTopics {
		if err := p.delay(&config); err != nil {
			p.ended <- err
			return p, err
		}
	}
	k, err := consumer.New(p.broker, p.store, config, p.handlers(time.Second+c.upTo(20*time.Second))...)
	if err != nil {
		p.ended <- err
		return p, err
	}
	p.consumer = k
	p.run(k.Run)
	return p, nil
}

// delay has retries wait in topics, which the process forwards.
func (p *process) delay(c *consumer.Config) error {
	d, err := p.w.delays(p.broker)
	if err != nil {
		return err
	}
	f, err := retry.NewForwarder(p.broker, d, retry.ForwarderConfig{Timeout: 3 * time.Second, Log: c.Log})
	if err != nil {
		return err
	}
	c.Guard.Delays = d
	c.Background = append(c.Background, f.Run)
	return nil
}

// handlers are the routes.
func (p *process) handlers(hold time.Duration) []consumer.Handler {
	breaker := consumer.Breaker{Failures: 25}
	route := func(o guard.Order) consumer.Route {
		if o == guard.Park && p.w.variant.delayTopics {
			o = guard.Block // Park needs the table
		}
		return consumer.Route{Order: o, Hold: hold, Breaker: breaker}
	}
	all := []consumer.Handler{
		consumer.Tx(func(ctx context.Context, tx *memory.Tx, e *event[txLoose]) error {
			return p.inTx(ctx, tx, e.GetValue(), true)
		}, route(guard.Unordered)),
		consumer.Tx(func(ctx context.Context, tx *memory.Tx, e *event[txBlock]) error {
			return p.inTx(ctx, tx, e.GetValue(), false)
		}, route(guard.Block)),
		consumer.Tx(func(ctx context.Context, tx *memory.Tx, e *event[txPark]) error {
			return p.inTx(ctx, tx, e.GetValue(), false)
		}, route(guard.Park)),
		consumer.Idempotent(func(ctx context.Context, e *event[idemLoose]) error { return p.outside(ctx, e.GetValue(), true) }, route(guard.Unordered)),
		consumer.Idempotent(func(ctx context.Context, e *event[idemBlock]) error { return p.outside(ctx, e.GetValue(), false) }, route(guard.Block)),
		consumer.Idempotent(func(ctx context.Context, e *event[idemPark]) error { return p.outside(ctx, e.GetValue(), false) }, route(guard.Park)),
	}
	all = append(all, consumer.TxBatch(func(ctx context.Context, tx *memory.Tx, es []*event[txBatch]) []error {
		results := make([]error, len(es))
		for i, e := range es {
			results[i] = p.inTx(ctx, tx, e.GetValue(), true)
		}
		return results
	}, consumer.Route{BatchSize: 4, Breaker: breaker}))
	if p.w.rows == nil {
		return all
	}
	r := consumer.Route{StateDB: p.w.rows, Breaker: breaker}
	return append(all,
		consumer.Guarded(p.w.table, nil, func(ctx context.Context, e *step[created]) (map[string]any, error) {
			return nil, p.guarded(ctx, e.GetValue())
		}, r),
		consumer.Guarded(p.w.table, nil, func(ctx context.Context, e *step[paid]) (map[string]any, error) {
			return nil, p.guarded(ctx, e.GetValue())
		}, r),
		consumer.Guarded(p.w.table, nil, func(ctx context.Context, e *step[shipped]) (map[string]any, error) {
			return nil, p.guarded(ctx, e.GetValue())
		}, r),
	)
}

// doneTopic is where handlers in mode Tx say what they have done, by the outbox in their transaction.
const doneTopic = "done"

// inTx is a handler in mode Tx: its effect comes true with the commit.
func (p *process) inTx(ctx context.Context, tx *memory.Tx, key string, holds bool) error {
	call := p.w.begin(p, key)
	defer p.w.end(p, call)
	if err := p.behave(ctx, key, holds); err != nil {
		return err
	}
	tx.Do(func() { p.w.effect(key, call) })
	return outbox.PublishTx(ctx, p.box, p.store, tx, broker.Message{Topic: doneTopic, Key: []byte(key), Headers: idem.Headers{
		{Name: "idempotency_key", Value: []byte(key)},
	}})
}

// outside is a handler in mode Idempotent.
func (p *process) outside(ctx context.Context, key string, holds bool) error {
	call := p.w.begin(p, key)
	defer p.w.end(p, call)
	if err := p.behave(ctx, key, holds); err != nil {
		return err
	}
	if p.isDead() {
		return errFault
	}
	p.w.effect(key, call)
	return nil
}

// guarded is what goes before a guarded move.
func (p *process) guarded(ctx context.Context, key string) error {
	if err := p.behave(ctx, key, false); err != nil {
		return err
	}
	if p.isDead() {
		return errFault
	}
	return nil
}

// behave is what a handler does before its effect: by the seed, its key and how often it was called.
func (p *process) behave(ctx context.Context, key string, holds bool) error {
	w := p.w
	w.mu.Lock()
	w.tries[key]++
	try, calm, healed := w.tries[key], w.calm, w.healed
	w.mu.Unlock()
	if !healed && oneOf(w.seed, key, "poison", 20) {
		return idem.NonRetryable("POISON", errors.New("it can never succeed"))
	}
	if calm {
		return nil
	}
	if isKiller(w.seed, key) {
		p.kill("by the handler of " + key)
		return errFault
	}
	c := newChance(w.seed, fmt.Sprint(key, " try ", try))
	if oneOf(w.seed, "", "bad day", 5) && c.one(2) {
		return errors.New("downstream is down all day")
	}
	switch n := c.below(100); {
	case n < 4: // it sleeps, deaf, past its time limit and maybe its lease
		time.Sleep(time.Second + c.upTo(20*time.Second))
	case n < 16: // it is slow, and listens
		select {
		case <-time.After(c.upTo(4 * time.Second)):
		case <-ctx.Done():
		}
	case n < 26:
		return errors.New("downstream is down")
	case n < 29:
		if c.one(4) { // as t.FailNow does
			runtime.Goexit()
		}
		panic("out of cheese")
	case n < 32:
		return idem.Throttled(c.upTo(3*time.Second), errors.New("slow down"))
	case n < 35 && holds:
		return idem.OutOfOrder(errors.New("something has to come first"))
	}
	return nil
}
