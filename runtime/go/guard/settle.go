package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// passes is how often Settle goes over what turned out otherwise: a retry that is too large is a dead letter, and
// what is fenced is deferred, under no claim, which nothing can fence out.
const passes = 4

// Settle decides what follows from deliveries that are Ended, Parked or Skipped, and makes it durable: what goes to a
// topic is published and confirmed first; then successes are completed in one call to the store, and all else is
// settled in another. Those that are Settled may be acknowledged, unless they are InPlace. One whose lane is free by
// now, where it had to park, is Opened again: claim it.
//
// An error says that some are not durable, and are not Settled: settle them again, as often as it takes, and never
// acknowledge them. (DEDUP-021)
func (g *Guard) Settle(ctx context.Context, ds []*Delivery) error {
	s := newScratch()
	defer s.free()
	for _, d := range ds {
		if !d.Settled && (d.Status == Ended || d.Status == Parked || d.Status == Skipped) {
			s.todo = append(s.todo, d)
		}
	}
	var failures []error
	for range passes {
		if len(s.todo) == 0 {
			break
		}
		for _, d := range s.todo {
			if err := g.plan(ctx, s, d); err != nil {
				failures = append(failures, err)
			}
		}
		failures = append(failures, g.complete(ctx, s), g.publish(ctx, s), g.settle(ctx, s))
		s.reset()
		s.todo, s.again = s.again, s.todo[:0]
	}
	if len(s.todo) > 0 {
		failures = append(failures, fmt.Errorf("settle %s: the store fences out what holds no claim", s.todo[0].place()))
	}
	return errors.Join(failures...)
}

// plan decides, and puts a delivery where it has to go first.
func (g *Guard) plan(ctx context.Context, s *scratch, d *Delivery) error {
	g.decide(ctx, d)
	d.InPlace = false
	switch action := d.Decision.Action; {
	case d.Status == Skipped:
		g.done(ctx, d)
	case action == idem.ActionAck:
		g.planAck(ctx, s, d)
	case d.HoldInPlace && (action == idem.ActionRetry || action == idem.ActionDefer):
		d.InPlace = true
		if !d.held() {
			g.done(ctx, d)
			return nil
		}
		s.settle(d, g.inPlace(d, action == idem.ActionDefer))
	case action == idem.ActionDeadLetter:
		return g.planDead(s, d)
	default:
		return g.planNext(ctx, s, d)
	}
	return nil
}

// decide is idem.Decide, of a result that a handler may have made up.
func (g *Guard) decide(ctx context.Context, d *Delivery) {
	switch d.Status {
	case Skipped:
		d.Result, d.Decision = idem.Result{Outcome: idem.OutcomeOK}, idem.Decision{Action: idem.ActionAck}
		return
	case Parked:
		// It waits for the head of its lane, and not for a time.
		d.Result = idem.Result{Outcome: idem.OutcomeInProgress}
		d.Decision = idem.Decision{Action: idem.ActionDefer, Counts: d.Counts}
		return
	}
	decision, err := idem.Decide(d.Result, d.backoffKey(), d.Counts, &d.Policy)
	if err != nil { // an outcome that is none: unclassified, so RETRYABLE
		g.log(ctx, slog.LevelError, "no decision: "+err.Error(), d)
		d.Result.Outcome = idem.OutcomeRetryable
		if decision, err = idem.Decide(d.Result, d.backoffKey(), d.Counts, &d.Policy); err != nil {
			policy := idem.DefaultPolicy()
			decision, _ = idem.Decide(d.Result, d.backoffKey(), d.Counts, &policy)
		}
	}
	d.Decision = decision
}

// planAck completes what is held, lets the lane go on, or has nothing to do.
func (g *Guard) planAck(ctx context.Context, s *scratch, d *Delivery) {
	switch {
	case d.held() && !d.Completed:
		c := d.completion()
		if n := len(c.Result); n > store.MaxResult {
			// The effect is there, and cannot be taken back: duplicates are acknowledged without a result.
			g.log(ctx, slog.LevelError, fmt.Sprintf("result of %d bytes dropped: the limit is %d", n, store.MaxResult), d)
			c.Result, d.Value = nil, nil
		}
		s.completions, s.completing = append(s.completions, c), append(s.completing, d)
	case d.Result.Outcome == idem.OutcomeDuplicate && d.Grant.Head && d.Lane.Set() && !d.Completed:
		s.settle(d, store.Settlement{Lease: store.Lease{Scope: g.c.Scope, Key: d.Key}, Lane: d.Lane, Leave: true})
	default:
		g.done(ctx, d)
	}
}

// complete makes records SUCCESS. What is fenced out goes into another pass.
func (g *Guard) complete(ctx context.Context, s *scratch) error {
	if len(s.completions) == 0 {
		return nil
	}
	held, err := g.store.Complete(ctx, s.completions)
	if err == nil && len(held) != len(s.completions) {
		err = fmt.Errorf("complete %d keys: the store gave %d answers", len(s.completing), len(held))
	}
	if err != nil {
		g.storeError()
		unsure(s.completing)
		return err // which begins as the one above
	}
	var failures []error
	for i, d := range s.completing {
		if !held[i] {
			failures = append(failures, g.refused(ctx, s, d, idem.StateSuccess))
			continue
		}
		d.Completed = true
		g.done(ctx, d)
	}
	return errors.Join(failures...)
}

// settle writes what does not succeed.
func (g *Guard) settle(ctx context.Context, s *scratch) error {
	if len(s.settlements) == 0 {
		return nil
	}
	return g.settleSome(ctx, s, s.settlements, s.settling)
}

// settleSome writes a batch; one that the store refuses for what is in it is cut in two, so that one bad row does
// not hold back the others.
func (g *Guard) settleSome(ctx context.Context, s *scratch, settlements []store.Settlement, ds []*Delivery) error {
	answers, err := g.store.Settle(ctx, settlements)
	if err == nil && len(answers) != len(settlements) {
		err = fmt.Errorf("settle %d deliveries: the store gave %d answers", len(ds), len(answers))
	}
	if err != nil {
		g.storeError()
		unsure(ds)
		if half := len(ds) / 2; half > 0 && isAboutRows(err) {
			return errors.Join(
				g.settleSome(ctx, s, settlements[:half], ds[:half]),
				g.settleSome(ctx, s, settlements[half:], ds[half:]),
			)
		}
		return fmt.Errorf("from %s on: %w", ds[0].place(), err)
	}
	var failures []error
	for i, d := range ds {
		switch answers[i] {
		case store.SettledWritten:
			g.done(ctx, d)
		case store.SettledUnparked:
			d.Again()
		case store.SettledFenced:
			failures = append(failures, g.refused(ctx, s, d, settlements[i].State))
		default:
			failures = append(failures, fmt.Errorf("settle %s: the store answered %d", d.place(), answers[i]))
		}
	}
	return errors.Join(failures...)
}

// refused is a write under a lease that is no longer held. It may be this very write, whose reply was lost: the
// record says so, by its fence. Else the delivery is deferred, unless what follows is published already.
func (g *Guard) refused(ctx context.Context, s *scratch, d *Delivery, wanted idem.State) error {
	if d.unsure {
		r, err := g.record(ctx, d)
		if err != nil {
			return err
		}
		if d.isOurs(r) && (r.State == wanted || r.State == idem.StateSuccess) {
			if r.State == idem.StateSuccess && wanted != idem.StateSuccess { // a COMMIT that came true late
				d.Result = idem.Result{Outcome: idem.OutcomeOK}
				d.Decision = idem.Decision{Action: idem.ActionAck, Counts: d.Counts}
				d.InPlace = false
			}
			d.Completed = r.State == idem.StateSuccess
			g.done(ctx, d)
			return nil
		}
	}
	g.measure(observe.LeaseLost, observe.Labels{Scope: g.c.Scope, EventType: d.Envelope.EventType}, 1)
	published := d.published
	g.fenced(d)
	if published {
		g.decide(ctx, d)
		g.done(ctx, d)
		return nil
	}
	s.again = append(s.again, d)
	return nil
}

// isAboutRows says that a database refuses a batch for what is in it: data, constraint or limit.
func isAboutRows(err error) bool {
	var sql interface{ SQLState() string }
	if !errors.As(err, &sql) {
		return false
	}
	switch code := sql.SQLState() + "  "; code[:2] {
	case "22", "23", "54":
		return true
	}
	return false
}

func unsure(ds []*Delivery) {
	for _, d := range ds {
		d.unsure = true
	}
}

func (s *scratch) settle(d *Delivery, settlement store.Settlement) {
	s.settlements, s.settling = append(s.settlements, settlement), append(s.settling, d)
}
