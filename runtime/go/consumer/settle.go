package consumer

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// settleLoop makes durable what deliveries came to.
func (e *engine) settleLoop() {
	defer e.wg.Done()
	var batch []*task
	var ds []*guard.Delivery
	for {
		if batch = e.takeSettling(batch[:0]); len(batch) == 0 {
			return
		}
		ds = ds[:0]
		for _, t := range batch {
			ds = append(ds, &t.d)
		}
		err := e.guard.Settle(e.base, ds)
		e.settled(batch, err)
		clear(batch)
		clear(ds)
	}
}

// takeSettling waits for a batch; none says that the engine is stopped.
func (e *engine) takeSettling(batch []*task) []*task {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.settleQ.len() == 0 {
		if e.stopped {
			return nil
		}
		e.settlers.Wait()
	}
	for len(batch) < e.atOnce {
		t := e.settleQ.pop()
		if t == nil {
			break
		}
		if t.route.block && t.tries == 0 { // one that may have been written as held stays held: nothing else follows from it
			t.d.HoldInPlace = t.d.Status == guard.Ended && e.mayHold(t)
		}
		batch = append(batch, t)
	}
	if e.settleQ.len() > 0 {
		e.settlers.Signal()
	}
	return batch
}

// settled sorts a batch that was to be made durable.
func (e *engine) settled(batch []*task, err error) {
	if err != nil {
		e.outage.begins(e, "settle", err)
	} else {
		e.outage.over(e, "settle")
	}
	due := false
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range batch {
		d := &t.d
		switch {
		case d.Settled && d.InPlace:
			e.hold(t)
		case d.Settled:
			e.waker.add(t)
			due = due || bringsDue(d)
			e.finish(t)
		case d.Status == guard.Opened: // the lane that it was to wait in is free by now
			e.again(t)
		default:
			e.settleLater(t)
		}
	}
	if due && e.rowsDue != nil {
		e.rowsDue()
	}
}

// again has a task claimed once more. The caller holds the lock.
func (e *engine) again(t *task) {
	if t.part.share.revoked {
		e.abandon(t)
		return
	}
	e.land(t)
	e.waitFirst(t)
}

// settleLater tries again what is not durable, for as long as it takes: it is never acknowledged before.
// (CONS-003) The caller holds the lock.
func (e *engine) settleLater(t *task) {
	wait := backoff(t.tries)
	t.tries++
	if !t.late {
		t.late = true
		e.late++
		if e.calm() && e.suspects.len() > 0 {
			e.claimers.Signal()
		}
	}
	epoch := t.epoch
	time.AfterFunc(wait, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if t.epoch != epoch || e.stopped {
			return
		}
		e.settleQ.push(t)
		e.settlers.Signal()
	})
}

// mayHold says whether a message of a Block route may stay in its place, for what is known before its delay: it
// may not hold its key any longer, nor fill its partition's window, where it can wait in the store. (CONS-012)
// The caller holds the lock.
func (e *engine) mayHold(t *task) bool {
	d := &t.d
	if t.toStore {
		return false
	}
	if !d.Lane.Set() || !e.guard.CanPark() {
		return true
	}
	if t.part.crowded() {
		return false
	}
	since := time.Now()
	if t.lane != nil && !t.lane.since.IsZero() {
		since = t.lane.since
	}
	decision, err := idem.Decide(d.Result, d.Key, d.Counts, &d.Policy)
	if err != nil {
		return true
	}
	again := time.Now().Add(time.Duration(decision.Delay.Ms()) * time.Millisecond)
	return again.Sub(since) <= t.route.Hold
}

// hold keeps a message in its place until it is tried again. The caller holds the lock.
func (e *engine) hold(t *task) {
	d := &t.d
	if t.part.share.revoked {
		e.abandon(t)
		return
	}
	e.land(t)
	now := time.Now()
	wait := time.Duration(d.Decision.Delay.Ms()) * time.Millisecond
	if t.lane != nil && t.lane.since.IsZero() {
		t.lane.since = now
	}
	t.state, t.due, t.tries = held, now.Add(wait), 0
	t.part.held++
	d.Counts = d.Decision.Counts
	d.Again()
	epoch := t.epoch
	time.AfterFunc(wait, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if t.epoch == epoch && t.state == held {
			t.part.held--
			e.wait(t) // at the end, so that each probe of a route that rests is of another message
		}
	})
}

// unhold sends a message that is held in place to the store, where it waits for its time. The caller holds the
// lock.
func (e *engine) unhold(t *task) {
	if t.state == held && t.d.Lane.Set() && e.guard.CanPark() {
		t.toStore = true
		t.part.held--
		e.waitFirst(t)
	}
}
