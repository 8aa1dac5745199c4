package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The words in front of the reject_reason of handlers that did not come to an end of their own.
const (
	CodePanic   = "PANIC"
	CodeTimeout = "TIMEOUT"
	// CodeNotStarted is that of a handler which was never called.
	CodeNotStarted = "NOT_STARTED"
)

// reasonGone is that of a handler that called runtime.Goexit, as t.FailNow does.
const reasonGone = CodePanic + ": the handler ended its goroutine"

// Run calls the handler of a Ready delivery, and ends it with what came of it. The handler's context ends with
// its time limit, and where the lease is lost, which makes the outcome FENCED; it has the key (KeyOf). An error
// that comes of the time limit is RETRYABLE, and a handler that returns nil all the same has succeeded. Run waits for the handler to return all the same: a call that goes on unseen could have its
// effect after the next one's. A panic is RETRYABLE. In mode Idempotent the lease is renewed meanwhile. (DEDUP-023,
// DEDUP-028)
func (g *Guard) Run(ctx context.Context, d *Delivery, fn func(ctx context.Context) error) {
	if d.Status != Ready {
		return
	}
	start, ok := g.refresh(ctx, d)
	if !ok {
		return
	}
	err, timedOut := g.call(ctx, d, start, fn)
	g.conclude(d, err, timedOut)
}

// call runs fn under the delivery's time limit. timedOut says that the limit was over when it came back.
func (g *Guard) call(ctx context.Context, d *Delivery, start time.Time, fn func(ctx context.Context) error) (err error, timedOut bool) {
	h := &handling{Context: ctx, key: d.Key, limit: start.Add(g.timeout(d.Rules))}
	d.handling = h
	defer h.cancel()
	if d.Rules.Mode == Idempotent && d.held() {
		g.beats.add(g, d, h)
		defer g.beats.remove(d)
	}
	d.Status = Ended // also where the handler ends its goroutine, which nothing can stop
	d.Result = idem.Result{Outcome: idem.OutcomeRetryable, Reason: reasonGone}
	err = g.protect(h, d, fn)
	end := time.Now()
	d.Handler = end.Sub(start)
	d.keep()
	d.handling = nil
	return err, h.finish(end)
}

// keep takes the result that the handler keeps.
func (d *Delivery) keep() {
	if d.handling != nil && d.handling.kept != nil {
		d.Value = d.handling.kept
	}
}

// protect turns a panic into an error. The stack goes to the debug log alone: it may be long, and name what is
// nobody's business.
func (g *Guard) protect(ctx context.Context, d *Delivery, fn func(ctx context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := panicError(v)
			p.stack = true
			err = p
			g.logStack(ctx, d, debug.Stack())
		}
	}()
	return sound(fn(ctx))
}

// sound gives back an error that can be asked what it is. One whose own methods panic, a nil pointer in an error for
// the most part, would end the process where it is read, far from the handler.
func sound(err error) (same error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			same = fmt.Errorf("%w; it is of the error that was returned, a %T: return nil itself for success", panicError(v), err)
		}
	}()
	_ = idem.ResultOf(err)
	_ = isInterrupted(err)
	_ = errors.Is(err, store.ErrFenced)
	return err
}

func (g *Guard) logStack(ctx context.Context, d *Delivery, stack []byte) {
	g.log(ctx, slog.LevelDebug, "handler panicked", d, slog.String("stack", string(stack)))
}

// conclude ends a delivery by its handler's error.
func (g *Guard) conclude(d *Delivery, err error, timedOut bool) {
	d.Status, d.Err = Ended, err
	switch {
	case d.lost.Load():
		g.fenced(d)
	case err == nil:
		d.Result = idem.Result{Outcome: idem.OutcomeOK}
	case timedOut && isInterrupted(err):
		d.Result = idem.Result{
			Outcome: idem.OutcomeRetryable,
			Reason:  CodeTimeout + ": the handler took longer than " + g.timeout(d.Rules).String(),
		}
	default:
		d.Result = idem.ResultOf(err)
	}
}

// isInterrupted says that an error comes of a context that ended.
func isInterrupted(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	var sql interface{ SQLState() string }
	return errors.As(err, &sql) && sql.SQLState() == "57014"
}

// pause is how long a delivery is deferred that the store kept from starting.
const pause = time.Second

// notStarted ends a delivery whose handler was never called, for what is no fault of it: it is deferred, the claim
// and the attempt go back, and no outage costs it a retry. (DEDUP-023)
func (d *Delivery) notStarted(err error) {
	d.End(idem.Result{Outcome: idem.OutcomeInProgress, AfterMs: pause.Milliseconds(), Reason: CodeNotStarted + ": " + err.Error()}, err)
}

// fenced ends a delivery whose lease is lost. Another claim of its key is live, or was.
func (g *Guard) fenced(d *Delivery) {
	d.Status, d.Completed = Ended, false
	d.Result = idem.Result{Outcome: idem.OutcomeFenced, AfterMs: g.lease(d.Rules).Milliseconds()}
	d.Grant.Lease = store.Lease{}
}

// refresh renews a lease that has been waiting for its turn, so that the handler begins with nearly all of it.
// Nothing else writes the record yet, in any mode. It says what time it is; false: the lease is lost, or nobody can
// say.
func (g *Guard) refresh(ctx context.Context, d *Delivery) (time.Time, bool) {
	sent := time.Now()
	if !d.held() {
		return sent, true
	}
	lease := g.lease(d.Rules)
	slack := LeaseMargin / 2
	if d.Rules.Mode == Idempotent {
		slack = lease / 3
	}
	if sent.Sub(d.claimed) < slack {
		return sent, true
	}
	held, err := g.store.Renew(ctx, []store.Renewal{{Lease: d.Grant.Lease, For: lease}})
	switch {
	case err != nil:
		// Whether it is held is the store's to say when it is settled.
		d.notStarted(fmt.Errorf("renew the lease before the handler: %w", err))
		return sent, false
	case !held[0]:
		g.fenced(d)
		return sent, false
	}
	d.claimed = sent
	return time.Now(), true
}
