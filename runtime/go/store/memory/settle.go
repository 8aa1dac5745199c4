package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Complete makes records SUCCESS.
func (s *Store) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	for i := range completions {
		if err := checkResult(&completions[i]); err != nil {
			return nil, fmt.Errorf("complete %d keys: %w", len(completions), err)
		}
	}
	if err := s.begin(ctx, "complete", len(completions), "keys"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	done := make([]bool, len(completions))
	for i := range completions {
		done[i] = s.complete(&completions[i], now)
	}
	return done, nil
}

func checkResult(c *store.Completion) error {
	if len(c.Result) > store.MaxResult {
		return fmt.Errorf("result of key %q: %d bytes, the limit is %d", c.Lease.Key, len(c.Result), store.MaxResult)
	}
	return nil
}

func (s *Store) complete(c *store.Completion, now time.Time) bool {
	if c.Lease.Owner == "" {
		return false
	}
	current, previous, ok := s.held(&c.Lease, now)
	if !ok {
		return false
	}
	for _, e := range [...]*entry{current, previous} {
		if e != nil {
			e.State, e.Result, e.LeaseUntilMs = idem.StateSuccess, c.Result, 0
			e.UpdatedAt, e.ExpiresAt = now, later(e.ExpiresAt, now.Add(s.retention))
		}
	}
	if c.Head && c.Lane.Set() {
		s.leave(laneOf(c.Lease.Scope, c.Lane), c.Lease.Key, now)
	}
	return true
}

// Settle ends deliveries that did not succeed, each of them in one step.
func (s *Store) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	if err := s.begin(ctx, "settle", len(settlements), "deliveries"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	settled := make([]store.Settled, len(settlements))
	for i := range settlements {
		settled[i] = s.settle(&settlements[i], now)
	}
	return settled, nil
}

func (s *Store) settle(x *store.Settlement, now time.Time) store.Settled {
	var current, previous *entry
	if x.Lease.Held() {
		var ok bool
		if current, previous, ok = s.held(&x.Lease, now); !ok {
			return store.SettledFenced
		}
	}
	scope, key := x.Names()
	at := laneOf(scope, x.Lane)
	var l *lane
	if x.Lane.Set() {
		l = s.lanes[at]
	}
	if x.Retry != nil && x.Retry.Park && (l == nil || l.head == key) {
		return store.SettledUnparked
	}
	for _, e := range [...]*entry{current, previous} {
		if e != nil {
			s.fail(e, x, now)
		}
	}
	if x.Retry != nil {
		row := *x.Retry
		row.Lane, row.Status = x.Lane, store.RetryPending
		ordered := x.Lane.Set() && key != "" && !x.Leave
		if ordered && l != nil && l.head != key {
			row.Status = store.RetryParked
		}
		if s.putRetry(&row, now) && ordered && l == nil {
			s.lanes[at] = &lane{head: key, since: now}
		}
	}
	if x.DeadLetter != nil {
		s.putDead(x.DeadLetter, now)
	}
	if x.Lane.Set() && (x.Leave || x.DeadLetter != nil && x.Lease.Held()) {
		s.leave(at, key, now)
	}
	return store.SettledWritten
}

// fail makes a record FAILED or DEAD, at the position of the delivery to come. (DEDUP-011, DEDUP-021)
func (s *Store) fail(e *entry, x *store.Settlement, now time.Time) {
	e.State, e.LeaseUntilMs = x.State, 0
	if x.GiveBack {
		e.Attempts = max(e.Attempts-1, 0)
	}
	counts := x.Counts()
	e.RedriveCount, e.Position = int64(x.RedriveCount), x.Position()
	e.RetryCount, e.HoldCount = counts.Retry, counts.Hold
	expires := now.Add(s.retention)
	if x.Retry != nil { // at least its due time and the retention (DEDUP-029)
		expires = expires.Add(max(x.Retry.Due, 0))
	}
	e.UpdatedAt, e.ExpiresAt = now, later(e.ExpiresAt, expires)
}
