package sqlite

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Complete makes records SUCCESS.
func (s *Store) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	if len(completions) == 0 {
		return nil, nil
	}
	for i := range completions {
		if err := checkResult(&completions[i]); err != nil {
			return nil, err
		}
	}
	done := make([]bool, len(completions))
	err := s.write(ctx, func() string { return fmt.Sprintf("complete %d keys", len(completions)) }, func(w *writer) (err error) {
		for i := range completions {
			if done[i], err = w.complete(&completions[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func checkResult(c *store.Completion) error {
	if len(c.Result) > store.MaxResult {
		return fmt.Errorf("complete %s: its result is %d bytes, and a record keeps at most %d", c.Lease.Key, len(c.Result), store.MaxResult)
	}
	return nil
}

// complete changes both keys of a lease or none.
func (w *writer) complete(c *store.Completion) (bool, error) {
	if c.Lease.Owner == "" {
		return false, nil
	}
	if held, err := w.bothHeld(&c.Lease); err != nil || !held {
		return false, err
	}
	done, err := w.each(&c.Lease, func(key string, fence int64) (int64, error) {
		return w.exec("record_complete", c.Lease.Scope, key, fence, c.Lease.Owner, c.Result, w.now.UnixMilli(), w.expiry())
	})
	if err != nil || !done || !c.Head || !c.Lane.Set() {
		return done, err
	}
	return true, w.leaveLane(c.Lease.Scope, c.Lane, c.Lease.Key)
}

// Settle ends deliveries that did not succeed.
func (s *Store) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	if len(settlements) == 0 {
		return nil, nil
	}
	for i := range settlements {
		if state := settlements[i].State; settlements[i].Lease.Held() && state != idem.StateFailed && state != idem.StateDead {
			return nil, fmt.Errorf("settle %s: the state is %v, and has to be FAILED or DEAD", settlements[i].Lease.Key, state)
		}
	}
	settled := make([]store.Settled, len(settlements))
	err := s.write(ctx, func() string { return fmt.Sprintf("settle %d deliveries", len(settlements)) }, func(w *writer) (err error) {
		for i := range settlements {
			if settled[i], err = w.settle(&settlements[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return settled, nil
}

// settle writes nothing unless it writes all: it looks at everything that can refuse first. The writer's
// lock keeps what it saw.
func (w *writer) settle(s *store.Settlement) (store.Settled, error) {
	scope, key := s.Names()
	head, parked, err := "", false, error(nil)
	if s.Lane.Set() {
		if head, parked, err = w.head(scope, s.Lane); err != nil {
			return 0, err
		}
	}
	if s.Retry != nil && s.Retry.Park && (!parked || head == key) {
		if s.Lease.Held() {
			if held, err := w.held(&s.Lease); err != nil || !held {
				return store.SettledFenced, err
			}
		}
		return store.SettledUnparked, nil
	}
	if s.Lease.Held() {
		written, err := w.settleRecord(s)
		if err != nil {
			return 0, err
		}
		if !written {
			return store.SettledFenced, nil
		}
	}
	if s.Retry != nil {
		if err := w.settleRetry(s, scope, key, head, parked); err != nil {
			return 0, err
		}
	}
	if s.DeadLetter != nil {
		if err := w.writeDeadLetter(s.DeadLetter); err != nil {
			return 0, err
		}
	}
	if s.Lane.Set() && (s.Leave || s.DeadLetter != nil && s.Lease.Held()) {
		if err := w.leaveLane(scope, s.Lane, key); err != nil {
			return 0, err
		}
	}
	return store.SettledWritten, nil
}

func (w *writer) settleRecord(s *store.Settlement) (bool, error) {
	if held, err := w.bothHeld(&s.Lease); err != nil || !held {
		return false, err
	}
	statement := "record_settle"
	if s.Lease.Owner == "" {
		statement = "record_settle_unclaimed"
	}
	back := 0
	if s.GiveBack {
		back = 1
	}
	expires := w.now.Add(w.retention)
	if s.Retry != nil && s.Retry.Due > 0 { // a record outlives the delivery to come (DEDUP-029)
		expires = expires.Add(s.Retry.Due)
	}
	counts := s.Counts()
	return w.each(&s.Lease, func(key string, fence int64) (int64, error) {
		return w.exec(statement, s.Lease.Scope, key, fence, s.Lease.Owner, int64(s.State), back, s.RedriveCount, s.Position(),
			counts.Retry, counts.Hold, w.now.UnixMilli(), expires.UnixMilli())
	})
}

// Renew extends leases. It never shortens one.
func (s *Store) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	if len(renewals) == 0 {
		return nil, nil
	}
	renewed := make([]bool, len(renewals))
	err := s.write(ctx, func() string { return fmt.Sprintf("renew %d leases", len(renewals)) }, func(w *writer) error {
		for i := range renewals {
			r := &renewals[i]
			if r.Lease.Owner == "" {
				continue
			}
			held, err := w.bothHeld(&r.Lease)
			if err != nil {
				return err
			}
			if !held {
				continue
			}
			until := w.now.Add(r.For)
			renewed[i], err = w.each(&r.Lease, func(key string, fence int64) (int64, error) {
				return w.exec("record_renew", r.Lease.Scope, key, fence, r.Lease.Owner, until.UnixMilli(), w.now.UnixMilli(), w.expiry())
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return renewed, nil
}

// each changes the record of each key of a lease, and says whether all of them were there to change.
func (w *writer) each(l *store.Lease, change func(key string, fence int64) (int64, error)) (bool, error) {
	changed := l.Held()
	if l.Fence != 0 {
		n, err := change(l.Key, l.Fence)
		if err != nil {
			return false, err
		}
		changed = n == 1
	}
	if changed && l.PreviousFence != 0 {
		n, err := change(l.Previous, l.PreviousFence)
		if err != nil {
			return false, err
		}
		changed = n == 1
	}
	return changed, nil
}

// bothHeld looks at the keys of a lease of two before the first of them is changed. The statement itself is
// the answer for a lease of one.
func (w *writer) bothHeld(l *store.Lease) (bool, error) {
	if l.Fence == 0 || l.PreviousFence == 0 {
		return l.Held(), nil
	}
	return w.held(l)
}

// held says whether what is written under a lease would match. (DEDUP-020)
func (w *writer) held(l *store.Lease) (bool, error) {
	for _, k := range [...]struct {
		key   string
		fence int64
	}{{l.Key, l.Fence}, {l.Previous, l.PreviousFence}} {
		if k.fence == 0 {
			continue
		}
		r, err := w.record(l.Scope, k.key)
		if err != nil || r == nil || r.Fence != k.fence {
			return false, err
		}
		open := r.State == idem.StateProcessing && r.Owner == l.Owner
		if l.Owner == "" { // a crash loop
			open = r.State == idem.StateFailed || r.State == idem.StateProcessing && r.LeaseUntilMs <= w.now.UnixMilli()
		}
		if !open {
			return false, nil
		}
	}
	return l.Held(), nil
}
