package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// ErrHeld says that a delivery has to be done again by its caller, after Report.Delay: Config.Rules says Block,
// so that nothing was put anywhere else. It must not be acknowledged.
var ErrHeld = errors.New("held in place: do it again after the report's delay")

// Report is what became of a delivery.
type Report struct {
	Outcome idem.Outcome
	Action  idem.Action
	Reason  string // empty for OK
	// Result is what the handler kept (Keep), or kept when a duplicate of it succeeded.
	Result   []byte
	Attempts int64         // claims of this life, this one included
	Delay    time.Duration // until the next delivery; 0 where none follows
}

// Do is for those with a loop of their own: it claims the delivery, runs fn in mode Idempotent, and settles it, by
// Config.Rules. Whatever became of it is durable once the error is nil: acknowledge it then, and only then. After
// any other error than ErrHeld deliver it again, later.
//
// A job without a broker fills in a Message with a topic of its own making, the job's key as idempotency_key header
// and Rules.Order Block: what fails is then done again by the job's next run.
func (g *Guard) Do(ctx context.Context, m *broker.Message, fn func(ctx context.Context) error) (Report, error) {
	rules := g.c.Rules
	rules.Mode = Idempotent
	return g.do(ctx, m, &rules, func(d *Delivery) { g.Run(ctx, d, fn) })
}

// DoTx is Do in mode Tx: what fn writes in tx and SUCCESS are committed together. s is the guard's store.
func DoTx[T any](ctx context.Context, g *Guard, s store.Transactor[T], m *broker.Message, fn func(ctx context.Context, tx T) error) (Report, error) {
	rules := g.c.Rules
	rules.Mode = Tx
	return g.do(ctx, m, &rules, func(d *Delivery) { RunTx(ctx, g, s, d, fn) })
}

// tries is how often Do asks a store that fails; the pauses between are 50, 200 and 800 ms. A claim whose reply is
// lost would be in the way of the next Do until its lease ends.
const tries = 4

func (g *Guard) do(ctx context.Context, m *broker.Message, rules *Rules, run func(d *Delivery)) (Report, error) {
	if m.Topic == "" {
		return Report{}, errors.New("guard: the message has no Topic: what follows from it goes to <topic>.retry.<scope>, and its lane is the topic's")
	}
	d := new(Delivery)
	ds := []*Delivery{d}
	g.Open(d, m, rules)
	for {
		if d.Status == Opened {
			if err := again(ctx, func() error { return g.Claim(ctx, ds) }); err != nil {
				return Report{}, err
			}
		}
		if d.Status == Ready {
			run(d)
		}
		d.HoldInPlace = rules.Order == Block
		if err := g.settleAnyway(ctx, ds); err != nil {
			return d.report(), err
		}
		if !d.Settled { // its lane is free by now
			if err := ctx.Err(); err != nil {
				return Report{}, fmt.Errorf("claim a lane that is free again: %w", err)
			}
			continue
		}
		if d.InPlace {
			return d.report(), ErrHeld
		}
		return d.report(), nil
	}
}

func (d *Delivery) report() Report {
	return Report{
		Outcome: d.Result.Outcome, Action: d.Decision.Action, Reason: d.reason(), Result: d.Value,
		Attempts: d.Grant.Attempts, Delay: d.delay(),
	}
}

// settleAnyway settles also where ctx has ended meanwhile: what was done is done.
func (g *Guard) settleAnyway(ctx context.Context, ds []*Delivery) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaseMargin)
	defer cancel()
	return again(ctx, func() error { return g.Settle(ctx, ds) })
}

// again calls f until it returns nil, a few times.
func again(ctx context.Context, f func() error) error {
	pause := 50 * time.Millisecond
	for n := 1; ; n++ {
		err := f()
		if err == nil || n == tries || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause *= 4
	}
}
