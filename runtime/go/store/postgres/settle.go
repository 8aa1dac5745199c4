package postgres

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Settle ends deliveries that did not succeed: the change of the record and what follows from it are one
// transaction, in two round trips. (DEDUP-021)
func (c *core) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	settled := make([]store.Settled, len(settlements))
	for from := 0; from < len(settlements); {
		b := settleBatch{core: c, settlements: settlements[from:], settled: settled[from:]}
		if err := c.transact(ctx, work{}, b.ask, b.answer); err != nil {
			return nil, named(fmt.Sprintf("settle %d deliveries", len(settlements)), err)
		}
		from += b.done
	}
	return settled, nil
}

// settleBatch is one transaction of settlements. It ends early where a lane comes again that was left: the next
// transaction sees who heads it by then.
type settleBatch struct {
	core        *core
	settlements []store.Settlement
	settled     []store.Settled
	done        int
	held        heldRecords
	lanes       lanes
	retries     retryRows
	dead        deadRows
}

func (b *settleBatch) ask(w *work) error {
	b.done, b.held, b.lanes, b.retries, b.dead = 0, b.core.newHeld(len(b.settlements)), lanes{}, retryRows{}, deadRows{}
	var heading []*store.Retry // those that may make a lane
	for i := range b.settlements {
		x := &b.settlements[i]
		b.held.add(&x.Lease)
		if !x.Lane.Set() {
			continue
		}
		scope, key := x.Names()
		at := b.lanes.add(laneOf(scope, x.Lane))
		if x.Retry != nil && !x.Retry.Park && !x.Leave && key != "" {
			heading = append(heading, x.Retry)
			if at.maker == "" {
				at.maker = key
			}
		}
	}
	b.held.lock(w)
	b.lanes.lock(w)
	b.retries.lock(w, heading)
	return nil
}

func (b *settleBatch) answer(w *work) error {
	type leaving struct {
		lane laneID
		key  string
	}
	var left []leaving
	for i := range b.settlements {
		x := &b.settlements[i]
		scope, key := x.Names()
		id := laneOf(scope, x.Lane)
		var at *lane
		if x.Lane.Set() {
			if at = b.lanes.byID[id]; at.left {
				break
			}
		}
		b.done++
		b.settled[i] = b.settle(x, key, at)
		if b.settled[i] == store.SettledWritten && at != nil && (x.Leave || x.DeadLetter != nil && x.Lease.Held()) && at.head == key && key != "" {
			at.left = true
			left = append(left, leaving{id, key})
		}
	}
	b.held.write(w)
	b.lanes.undo(w)
	for id, at := range b.lanes.byID { // one that was made with the key of another settlement of this batch
		if at.made && at.head != "" && at.head != at.maker {
			w.queue("lane_head", id.scope, id.topic, id.bizKey, at.head)
		}
	}
	b.retries.write(w)
	b.dead.write(w)
	for _, l := range left {
		release(w, l.lane, l.key)
	}
	return nil
}

// settle decides one of them on what those before it have left.
func (b *settleBatch) settle(x *store.Settlement, key string, at *lane) store.Settled {
	var current, previous *entry
	if x.Lease.Held() {
		var ok bool
		if current, previous, ok = b.held.match(&x.Lease); !ok {
			return store.SettledFenced
		}
	}
	if x.Retry != nil && x.Retry.Park && (at == nil || at.head == "" || at.head == key) {
		return store.SettledUnparked
	}
	for _, e := range [...]*entry{current, previous} {
		if e != nil {
			b.fail(e, x)
		}
	}
	if x.Retry != nil {
		status := store.RetryPending
		ordered := at != nil && key != "" && !x.Leave
		if ordered {
			if at.head != "" && at.head != key {
				status = store.RetryParked
			}
		}
		if b.retries.add(x.Retry, x.Lane, status) && ordered && at.head == "" {
			at.head = key
		}
	}
	if x.DeadLetter != nil {
		b.dead.add(x.DeadLetter)
	}
	return store.SettledWritten
}

// fail makes a record FAILED or DEAD, at the position of the delivery to come. (DEDUP-011, DEDUP-021)
func (b *settleBatch) fail(e *entry, x *store.Settlement) {
	e.State, e.LeaseUntilMs, e.dirty = x.State, 0, true
	if x.GiveBack {
		e.Attempts = max(e.Attempts-1, 0)
	}
	counts := x.Counts()
	e.RedriveCount, e.Position = int64(x.RedriveCount), x.Position()
	e.RetryCount, e.HoldCount = counts.Retry, counts.Hold
	expires := b.core.config.expiry(b.held.now)
	if x.Retry != nil && x.Retry.Due > 0 { // at least its due time and the retention (DEDUP-029)
		expires = b.core.config.expiry(b.held.now.Add(x.Retry.Due))
	}
	e.ExpiresAt = later(e.ExpiresAt, expires)
}
