package simulate

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// watchStore sees which claims a process was granted, whether it has heard of them or not.
type watchStore struct {
	store.Full[*memory.Tx]
	p *process
}

func (s watchStore) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants, err := s.Full.Claim(ctx, claims)
	s.p.w.mu.Lock()
	defer s.p.w.mu.Unlock()
	for i := range grants {
		if grants[i].Kind == idem.AdmitProceed {
			key := claims[i].Key
			s.p.grants[key] = append(s.p.grants[key], time.UnixMilli(grants[i].LeaseUntilMs))
			if grants[i].Recovered {
				s.p.w.reached["recovered"]++
			}
		}
	}
	for i := range grants {
		go s.p.w.note(s.p.name, "  is granted %s: %v parked %v head %v, wait %d", claims[i].Key, grants[i].Kind, grants[i].Parked, grants[i].Head, grants[i].WaitMs)
	}
	return grants, err
}

// Settle sees which messages step out of their lane: those that are held. (CONS-014)
func (s watchStore) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	s.p.w.mu.Lock()
	for i := range settlements {
		if r := settlements[i].Retry; r != nil && r.Action == idem.ActionHold {
			s.p.w.history.Unordered[r.Key] = true
		}
	}
	s.p.w.mu.Unlock()
	settled, err := s.Full.Settle(ctx, settlements)
	for i := range settled {
		x := &settlements[i]
		what := "in place"
		switch {
		case x.Retry != nil && x.Retry.Park:
			what = "parked"
			s.p.w.reach(what)
		case x.Retry != nil:
			what = fmt.Sprintf("%v in %v", x.Retry.Action, x.Retry.Due)
		case x.DeadLetter != nil:
			what = "dead letter, " + x.DeadLetter.Reason
		}
		_, key := x.Names()
		s.p.w.note(s.p.name, "  settles %s: %s, answer %d, give back %v, lane %v", key, what, settled[i], x.GiveBack, x.Lane)
	}
	return settled, err
}

// Redrive sees those that are redriven: they are behind their lane by then.
func (s watchStore) Redrive(ctx context.Context, ids []int64, deliveries []store.Retry) ([]bool, error) {
	s.p.w.mu.Lock()
	for i := range deliveries {
		s.p.w.history.Unordered[deliveries[i].Key] = true
	}
	s.p.w.mu.Unlock()
	return s.Full.Redrive(ctx, ids, deliveries)
}

// slowStore is a store whose COMMITs are on their way for long now and then, past the lease and past the time limit
// of the handler, which can take nothing back any more.
type slowStore struct {
	store.Full[*memory.Tx]
	p *process
}

func (s slowStore) InTx(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) error {
	c := s.p.luckOf("slow commit")
	if s.p.w.isCalm() || !c.one(s.p.rates.slow) {
		return s.Full.InTx(ctx, fn)
	}
	return s.Full.InTx(context.WithoutCancel(ctx), func(_ context.Context, tx *memory.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if s.p.w.isCalm() { // by now: the process was stopped in between
			return nil
		}
		d := 8*time.Second + c.upTo(20*time.Second)
		s.p.w.note(s.p.name, "COMMIT is on its way for %v", d)
		time.Sleep(d)
		return nil
	})
}

// lease takes the claim under which a call of the process begins, and says how long it is still good for without
// renewal, on the store's clock. Where there are several, the one that runs out first is the careful answer.
func (p *process) lease(key string, now time.Time) time.Duration {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	all := p.grants[key]
	if len(all) == 0 {
		return 0
	}
	p.grants[key] = all[1:]
	return all[0].Sub(now)
}

// observer sees what deliveries come to.
type observer struct{ w *world }

func (o observer) Delivery(_ context.Context, d *observe.Delivery) {
	o.w.reach(d.Outcome.String() + " " + d.Action.String())
	if d.RedriveCount > 0 {
		o.w.reach("redriven")
	}
}

func (observer) Measure(observe.Metric, observe.Labels, float64) {}

// watchBroker sees what is committed.
type watchBroker struct {
	broker.Broker
	p *process
}

func (b watchBroker) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	g, err := b.Broker.Group(ctx, name, topics)
	if err != nil {
		return nil, err
	}
	return watchGroup{g, b.p, name}, nil
}

type watchGroup struct {
	broker.Group
	p    *process
	name string
}

func (g watchGroup) Join(ctx context.Context) (broker.Generation, error) {
	generation, err := g.Group.Join(ctx)
	if err != nil {
		return nil, err
	}
	return watchGeneration{generation, g.p, g.name}, nil
}

type watchGeneration struct {
	broker.Generation
	p    *process
	name string
}

// Commit is observed within the world's lock, so that observations are in the order of the commits.
func (g watchGeneration) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	w := g.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := g.Generation.Commit(ctx, offsets); err != nil {
		return err
	}
	for p, offset := range maps.All(offsets) {
		w.history.Commits = append(w.history.Commits, history.Commit{Group: g.name, Topic: p.Topic, Partition: p.Partition, Offset: offset})
	}
	return nil
}

// effect notes an effect of a call, in the order of the calls of effect.
func (w *world) effect(key string, call int) {
	w.note("effect", "%s", key)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects++
	w.history.Effects = append(w.history.Effects, history.Effect{Key: key, Order: w.effects, Call: call})
}

// begin notes the begin of a call, and gives its number.
func (w *world) begin(p *process, key string) int {
	now := w.clock()
	lease := p.lease(key, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.Calls = append(w.history.Calls, history.Call{Key: key, Worker: p.name, Start: now, Lease: lease})
	return len(w.history.Calls) - 1
}

// end notes the end of a call, where its process has lived to see it.
func (w *world) end(p *process, call int) {
	now := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.dead {
		w.history.Calls[call].End = now
	}
}
