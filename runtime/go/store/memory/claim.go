package memory

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Claim claims each key, all of them in one step.
func (s *Store) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	if err := s.begin(ctx, "claim", len(claims), "keys"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	s.batch++
	grants := make([]store.Grant, len(claims))
	for i := range claims {
		s.claim(&claims[i], &grants[i], now)
	}
	return grants, nil
}

func (s *Store) claim(c *store.Claim, g *store.Grant, now time.Time) {
	current := s.records.get(c.Scope, c.Key)
	var previous *entry
	if c.Dual() {
		previous = s.records.get(c.Scope, c.Previous)
	}
	for _, e := range [...]*entry{current, previous} {
		if e != nil && e.batch == s.batch {
			// Claimed by another of this batch, whatever its owner says. (DEDUP-025)
			g.Kind, g.WaitMs = idem.AdmitInProgress, max(e.LeaseUntilMs-now.UnixMilli(), 0)
			g.Counts = idem.Counts{Retry: c.RetryCount, Hold: c.HoldCount}
			return
		}
	}
	*g = c.Admit(current.record(), previous.record(), now.UnixMilli())
	if g.TooOld {
		return
	}
	again := current != nil && g.Fence == current.Fence // its own reply was lost: it runs already
	if c.Lane.Set() {
		if l := s.lanes[laneOf(c.Scope, c.Lane)]; l != nil {
			g.Head = l.head == c.Key
			if !g.Head && g.Kind == idem.AdmitProceed && !again {
				g.Admission, g.Lease, g.Parked = idem.Admission{}, store.Lease{}, true
				return
			}
		}
	}
	switch g.Kind {
	case idem.AdmitProceed:
		s.write(current, c.Claimed(c.Key, g.Lease.Fence, g, current.record(), now, s.retention), s.batch)
		if c.Dual() {
			s.write(previous, c.Claimed(c.Previous, g.Lease.PreviousFence, g, previous.record(), now, s.retention), s.batch)
		}
	case idem.AdmitDuplicate:
		if !c.Dual() {
			return
		}
		if current == nil || current.State != idem.StateSuccess {
			s.write(current, c.Duplicated(c.Key, g.Result, current.record(), now, s.retention), 0)
		}
		if previous == nil || previous.State != idem.StateSuccess {
			s.write(previous, c.Duplicated(c.Previous, g.Result, previous.record(), now, s.retention), 0)
		}
	}
}

// record is nil where there is no entry.
func (e *entry) record() *store.Record {
	if e == nil {
		return nil
	}
	return &e.Record
}

func (s *Store) write(e *entry, r store.Record, batch uint64) {
	if e == nil {
		s.records.put(r, batch)
		return
	}
	e.Record, e.batch = r, batch
}

// held finds the records of a lease, and says whether both may be written: fence and owner match and the
// state is PROCESSING; for a crash loop, which has no owner, the fence matches and nobody holds the key. A
// fence of 0 is that of no record: there is nothing to match. (DEDUP-020)
func (s *Store) held(l *store.Lease, now time.Time) (current, previous *entry, ok bool) {
	if !l.Held() {
		return nil, nil, false
	}
	if l.Fence != 0 {
		if current = s.records.get(l.Scope, l.Key); !matches(current, l.Fence, l.Owner, now) {
			return nil, nil, false
		}
	}
	if l.PreviousFence != 0 {
		if previous = s.records.get(l.Scope, l.Previous); !matches(previous, l.PreviousFence, l.Owner, now) {
			return nil, nil, false
		}
	}
	return current, previous, true
}

func matches(e *entry, fence int64, owner string, now time.Time) bool {
	if e == nil || e.Fence != fence {
		return false
	}
	if owner != "" {
		return e.State == idem.StateProcessing && e.Owner == owner
	}
	return e.State == idem.StateFailed || e.State == idem.StateProcessing && e.LeaseUntilMs <= now.UnixMilli()
}

// Renew extends leases. It never shortens one.
func (s *Store) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	if err := s.begin(ctx, "renew", len(renewals), "leases"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	renewed := make([]bool, len(renewals))
	for i := range renewals {
		r := &renewals[i]
		if r.Lease.Owner == "" {
			continue
		}
		current, previous, ok := s.held(&r.Lease, now)
		renewed[i] = ok
		for _, e := range [...]*entry{current, previous} {
			if e != nil {
				e.LeaseUntilMs = max(e.LeaseUntilMs, now.Add(r.For).UnixMilli())
				e.UpdatedAt = now
				e.ExpiresAt = later(e.ExpiresAt, now.Add(s.retention))
			}
		}
	}
	return renewed, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
