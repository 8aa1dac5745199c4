package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// CodeResultTooLarge is in front of the reject_reason of a handler whose result is over store.MaxResult.
const CodeResultTooLarge = "RESULT_TOO_LARGE"

// readTimeout is how long the record is asked for that says whether a transaction was committed.
const readTimeout = 5 * time.Second

// RunTx is Run for a handler whose effect and SUCCESS are one transaction of s, the guard's store: SUCCESS is its
// last statement. Where the claim is no longer held everything is rolled back, and the outcome is FENCED. Where
// the reply to COMMIT is lost, the record says whether it was committed, by fence and owner. (DEDUP-020, DEDUP-022)
func RunTx[T any](ctx context.Context, g *Guard, s store.Transactor[T], d *Delivery, fn func(ctx context.Context, tx T) error) {
	if d.Status != Ready {
		return
	}
	start, ok := g.refresh(ctx, d)
	if !ok {
		return
	}
	started, completed := false, false
	err, timedOut := g.call(ctx, d, start, func(ctx context.Context) error {
		return s.InTx(ctx, func(ctx context.Context, tx T) error {
			started, completed = true, false
			// A panic is an error here already, so that the store rolls back as it always does.
			if err := g.protect(ctx, d, func(ctx context.Context) error { return fn(ctx, tx) }); err != nil || !d.held() {
				return err
			}
			d.keep()
			if err := d.checkResult(); err != nil {
				return err
			}
			if err := s.CompleteTx(ctx, tx, d.completion()); err != nil {
				return err
			}
			completed = true
			return nil
		})
	})
	switch {
	case err != nil && (!started || errors.Is(err, store.ErrNotBegun)):
		d.notStarted(fmt.Errorf("begin the handler's transaction: %w", err))
		return
	case errors.Is(err, store.ErrFenced):
		g.fenced(d)
		d.Err = err
		return
	case err != nil && completed:
		if g.committed(ctx, d, err) {
			return
		}
	}
	g.conclude(d, err, timedOut)
	if err == nil {
		d.Completed = completed
	}
}

// checkResult keeps a result that does not fit from being lost: what is in the transaction can still be taken back.
func (d *Delivery) checkResult() error {
	if n := len(d.Value); n > store.MaxResult {
		return idem.NonRetryable(CodeResultTooLarge, fmt.Errorf("%d bytes, the limit is %d", n, store.MaxResult))
	}
	return nil
}

func (d *Delivery) completion() store.Completion {
	return store.Completion{Lease: d.Grant.Lease, Result: d.Value, Lane: d.Lane, Head: d.Grant.Head}
}

// committed finds out what became of a COMMIT that came back with an error; true where that is known to be
// SUCCESS or the loss of the claim, and d has ended by it. Otherwise it may still come true: what is written
// under the lease then waits for the row, finds the claim gone, and looks again.
func (g *Guard) committed(ctx context.Context, d *Delivery, cause error) bool {
	d.Err, d.unsure = cause, true
	switch r, err := g.record(ctx, d); {
	case err != nil:
		return false
	case d.isOurs(r) && r.State == idem.StateSuccess:
		d.Status, d.Result, d.Completed = Ended, idem.Result{Outcome: idem.OutcomeOK}, true
		return true
	case d.isOurs(r):
		return false
	}
	g.fenced(d)
	return true
}

// record reads the record of a delivery's key, also where ctx has ended.
func (g *Guard) record(ctx context.Context, d *Delivery) (*store.Record, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	key := d.Grant.Lease.Key
	records, err := g.store.Records(ctx, g.c.Scope, []string{key})
	if err != nil {
		return nil, fmt.Errorf("read the record of the claim: %w", err)
	}
	return records[0], nil
}

// isOurs says that a record is as the delivery's claim left it: under its fence, and under its owner while it is
// claimed.
func (d *Delivery) isOurs(r *store.Record) bool {
	l := &d.Grant.Lease
	return r != nil && r.Fence == l.Fence && (r.State != idem.StateProcessing || r.Owner == l.Owner)
}
