package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func checkResult(c *store.Completion) error {
	if len(c.Result) > store.MaxResult {
		return fmt.Errorf("result of key %q: %d bytes, the limit is %d", c.Lease.Key, len(c.Result), store.MaxResult)
	}
	return nil
}

// Complete makes records SUCCESS: in one round trip, and in two where a claim has two keys or heads a lane.
func (c *core) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	action := fmt.Sprintf("complete %d keys", len(completions))
	plain := true
	seen := make(map[recordID]struct{}, len(completions))
	for i := range completions {
		x := &completions[i]
		if err := checkResult(x); err != nil {
			return nil, fmt.Errorf("%s: %w", action, err)
		}
		id := recordID{x.Lease.Scope, x.Lease.Key}
		_, twice := seen[id]
		seen[id] = struct{}{}
		plain = plain && !twice && x.Lease.PreviousFence == 0 && !(x.Head && x.Lane.Set())
	}
	if len(completions) == 0 {
		return nil, nil
	}
	complete := c.completeLocked
	if plain {
		complete = c.completePlain
	}
	done, err := complete(ctx, completions)
	if err != nil {
		return nil, named(action, err)
	}
	return done, nil
}

func (c *core) completePlain(ctx context.Context, completions []store.Completion) ([]bool, error) {
	n := len(completions)
	scopes, keys, owners := make([]string, n), make([]string, n), make([]string, n)
	fences, results := make([]int64, n), make([][]byte, n)
	for i := range completions {
		l := &completions[i].Lease
		scopes[i], keys[i], owners[i], fences[i], results[i] = l.Scope, l.Key, l.Owner, l.Fence, completions[i].Result
		if l.Owner == "" { // a crash loop holds no claim
			fences[i] = 0
		}
	}
	return c.places(ctx, n, "complete", scopes, keys, fences, owners, results, c.config.Retention.Milliseconds())
}

func (c *core) completeLocked(ctx context.Context, completions []store.Completion) ([]bool, error) {
	done := make([]bool, len(completions))
	var held heldRecords
	var at lanes
	err := c.transact(ctx, work{}, func(w *work) error {
		held, at = c.newHeld(len(completions)), lanes{}
		for i := range completions {
			x := &completions[i]
			held.add(&x.Lease)
			if x.Head && x.Lane.Set() {
				at.add(laneOf(x.Lease.Scope, x.Lane))
			}
		}
		held.lock(w)
		at.lock(w)
		return nil
	}, func(w *work) error {
		var leaving []*store.Completion
		for i := range completions {
			x := &completions[i]
			current, previous, ok := held.match(&x.Lease)
			if done[i] = ok && x.Lease.Owner != ""; !done[i] {
				continue
			}
			for _, e := range [...]*entry{current, previous} {
				if e != nil {
					e.State, e.Result, e.LeaseUntilMs, e.result, e.dirty = idem.StateSuccess, x.Result, 0, true, true
					e.ExpiresAt = later(e.ExpiresAt, c.config.expiry(held.now))
				}
			}
			if x.Head && x.Lane.Set() {
				leaving = append(leaving, x)
			}
		}
		held.write(w)
		for _, x := range leaving {
			release(w, laneOf(x.Lease.Scope, x.Lane), x.Lease.Key)
		}
		return nil
	})
	return done, err
}

// Renew extends leases. It never shortens one.
func (c *core) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	if len(renewals) == 0 {
		return nil, nil
	}
	plain := true
	seen := make(map[recordID]struct{}, len(renewals))
	for i := range renewals {
		l := &renewals[i].Lease
		id := recordID{l.Scope, l.Key}
		_, twice := seen[id]
		seen[id] = struct{}{}
		plain = plain && !twice && l.PreviousFence == 0
	}
	renew := c.renewLocked
	if plain {
		renew = c.renewPlain
	}
	renewed, err := renew(ctx, renewals)
	if err != nil {
		return nil, named(fmt.Sprintf("renew %d leases", len(renewals)), err)
	}
	return renewed, nil
}

func (c *core) renewPlain(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	n := len(renewals)
	scopes, keys, owners := make([]string, n), make([]string, n), make([]string, n)
	fences, leases := make([]int64, n), make([]int64, n)
	for i := range renewals {
		l := &renewals[i].Lease
		scopes[i], keys[i], owners[i], fences[i], leases[i] = l.Scope, l.Key, l.Owner, l.Fence, renewals[i].For.Milliseconds()
		if l.Owner == "" {
			fences[i] = 0
		}
	}
	return c.places(ctx, n, "renew", scopes, keys, fences, owners, leases, c.config.Retention.Milliseconds())
}

func (c *core) renewLocked(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	renewed := make([]bool, len(renewals))
	var held heldRecords
	err := c.transact(ctx, work{}, func(w *work) error {
		held = c.newHeld(len(renewals))
		for i := range renewals {
			held.add(&renewals[i].Lease)
		}
		held.lock(w)
		return nil
	}, func(w *work) error {
		for i := range renewals {
			r := &renewals[i]
			current, previous, ok := held.match(&r.Lease)
			if renewed[i] = ok && r.Lease.Owner != ""; !renewed[i] {
				continue
			}
			for _, e := range [...]*entry{current, previous} {
				if e != nil {
					e.LeaseUntilMs, e.dirty = max(e.LeaseUntilMs, held.now.Add(r.For).UnixMilli()), true
					e.ExpiresAt = later(e.ExpiresAt, c.config.expiry(held.now))
				}
			}
		}
		held.write(w)
		return nil
	})
	return renewed, err
}

// heldRecords are the records of leases, under lock.
type heldRecords struct {
	records
	now time.Time // the server's, once there is a record
}

func (*core) newHeld(n int) heldRecords { return heldRecords{records: newRecords(n)} }

func (h *heldRecords) add(l *store.Lease) {
	if l.Fence != 0 {
		h.records.add(l.Scope, l.Key, 0)
	}
	if l.PreviousFence != 0 {
		h.records.add(l.Scope, l.Previous, 0)
	}
}

func (h *heldRecords) lock(w *work) { h.records.lock(w, &h.now) }

// match finds the records of a lease, and says whether both may be written. A fence of 0 is that of no record:
// there is nothing to match. (DEDUP-020)
func (h *heldRecords) match(l *store.Lease) (current, previous *entry, ok bool) {
	if !l.Held() {
		return nil, nil, false
	}
	if l.Fence != 0 {
		if current = h.byID[recordID{l.Scope, l.Key}]; !h.matches(current, l.Fence, l.Owner) {
			return nil, nil, false
		}
	}
	if l.PreviousFence != 0 {
		if previous = h.byID[recordID{l.Scope, l.Previous}]; !h.matches(previous, l.PreviousFence, l.Owner) {
			return nil, nil, false
		}
	}
	return current, previous, true
}

// matches says that a claim is held, or, without an owner, that nobody holds the key.
func (h *heldRecords) matches(e *entry, fence int64, owner string) bool {
	if e.there != found || e.Fence != fence {
		return false
	}
	if owner != "" {
		return e.State == idem.StateProcessing && e.Owner == owner
	}
	return e.State == idem.StateFailed || e.State == idem.StateProcessing && e.LeaseUntilMs <= h.now.UnixMilli()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
