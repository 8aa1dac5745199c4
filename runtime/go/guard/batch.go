package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// CodeNoResult is in front of the reject_reason of a message for which a batch handler gave no result. (CONS-008)
const CodeNoResult = "NO_RESULT"

var errNoResult = errors.New(CodeNoResult + ": the batch handler gave no result for it")

// RunBatch is Run for a handler of several deliveries, which gives one result for each, in their order, under one
// time limit. Those that are not Ready, or whose lease is lost by now, are left out of what it gets. The context is
// that of all: it ends where one of their leases is lost, and KeyOf has nothing to say.
func (g *Guard) RunBatch(ctx context.Context, ds []*Delivery, fn func(ctx context.Context, ds []*Delivery) []error) {
	ds = g.ready(ctx, ds)
	if len(ds) == 0 {
		return
	}
	var results []error
	err, timedOut := g.callBatch(ctx, ds, func(ctx context.Context) error {
		results = fn(ctx, ds)
		return nil
	})
	for i, d := range ds {
		g.conclude(d, resultOf(results, i, err), timedOut)
	}
}

// RunTxBatch is RunTx for a handler of several deliveries, all within one transaction. Where one of them fails
// everything is rolled back, that one ends by its result, and the others run again without it, also those whose
// statements the database refused since that one's had failed; where the handler panics, or no result says which one
// failed, each runs alone. So fn may be called several times, and only one of its transactions is committed.
func RunTxBatch[T any](ctx context.Context, g *Guard, s store.Transactor[T], ds []*Delivery, fn func(ctx context.Context, tx T, ds []*Delivery) []error) {
	for ds = g.ready(ctx, ds); len(ds) > 0; ds = g.ready(ctx, ds) {
		var results []error
		started, completed, panicked := false, false, false
		err, timedOut := g.callBatch(ctx, ds, func(ctx context.Context) error {
			return s.InTx(ctx, func(ctx context.Context, tx T) error {
				started, completed, panicked = true, false, true
				err := g.protect(ctx, ds[0], func(ctx context.Context) error {
					results = fn(ctx, tx, ds)
					panicked = false
					return nil
				})
				if err != nil {
					return err
				}
				if results, err = checked(ctx, s, tx, ds, results); err == nil {
					completed = true
				}
				return err
			})
		})
		failed := errors.Is(err, errSomeFailed) && !errors.Is(err, store.ErrNotBegun)
		echo := failed && isEcho(results...)
		switch {
		case (panicked || echo) && len(ds) > 1:
			for _, d := range ds {
				d.Status = Ready
				RunTxBatch(ctx, g, s, []*Delivery{d}, fn)
			}
			return
		case failed:
			for i, d := range ds {
				switch {
				case results[i] == nil, !echo && isEcho(results[i]):
					d.Status = Ready
				case errors.Is(results[i], store.ErrFenced):
					g.fenced(d)
				default:
					g.conclude(d, results[i], timedOut)
				}
			}
			continue
		}
		for _, d := range ds {
			if err != nil && (!started || errors.Is(err, store.ErrNotBegun)) {
				d.notStarted(fmt.Errorf("begin the handler's transaction: %w", err))
				continue
			}
			if err != nil && completed && g.committed(ctx, d, err) {
				continue
			}
			g.conclude(d, err, timedOut)
			d.Completed = err == nil && d.held()
		}
		return
	}
}

// isEcho says that all that failed did so since a statement of another message had failed before, in the same
// transaction: PostgreSQL refuses the rest.
func isEcho(results ...error) bool {
	echo := false
	for _, err := range results {
		if err == nil {
			continue
		}
		var sql interface{ SQLState() string }
		if !errors.As(err, &sql) || sql.SQLState() != "25P02" {
			return false
		}
		echo = true
	}
	return echo
}

// errSomeFailed rolls a batch back of which some run again.
var errSomeFailed = errors.New("some of the batch failed")

// checked completes the claims of a batch, unless one of it failed. It gives a result for each.
func checked[T any](ctx context.Context, s store.Transactor[T], tx T, ds []*Delivery, given []error) ([]error, error) {
	results := make([]error, len(ds))
	failed := false
	for i, d := range ds {
		results[i] = resultOf(given, i, nil)
		if results[i] == nil {
			results[i] = d.checkResult()
		}
		failed = failed || results[i] != nil
	}
	if failed {
		return results, errSomeFailed
	}
	for i, d := range ds {
		if !d.held() {
			continue
		}
		switch err := s.CompleteTx(ctx, tx, d.completion()); {
		case errors.Is(err, store.ErrFenced):
			results[i] = err
			return results, errSomeFailed
		case err != nil:
			return results, err
		}
	}
	return results, nil
}

// resultOf is the i-th result, or err for all.
func resultOf(results []error, i int, err error) error {
	switch {
	case err != nil:
		return err
	case i >= len(results):
		return errNoResult
	}
	return sound(results[i])
}

// ready is the deliveries that may run, with fresh leases.
func (g *Guard) ready(ctx context.Context, ds []*Delivery) []*Delivery {
	ready := make([]*Delivery, 0, len(ds))
	for _, d := range ds {
		if d.Status != Ready {
			continue
		}
		if _, ok := g.refresh(ctx, d); ok {
			ready = append(ready, d)
		}
	}
	return ready
}

// callBatch is call for several, under the shortest of their time limits.
func (g *Guard) callBatch(ctx context.Context, ds []*Delivery, fn func(ctx context.Context) error) (err error, timedOut bool) {
	limit := g.timeout(ds[0].Rules)
	for _, d := range ds {
		limit = min(limit, g.timeout(d.Rules))
	}
	start := time.Now()
	h := &handling{Context: ctx, limit: start.Add(limit)}
	defer h.cancel()
	for _, d := range ds {
		d.Status = Ended
		d.Result = idem.Result{Outcome: idem.OutcomeRetryable, Reason: reasonGone}
		if d.Rules.Mode == Idempotent && d.held() {
			g.beats.add(g, d, h)
			defer g.beats.remove(d)
		}
	}
	err = g.protect(h, ds[0], fn)
	end := time.Now()
	for _, d := range ds {
		d.Handler = end.Sub(start)
	}
	return err, h.finish(end)
}
