package sqlite

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Claim decides on each claim under the writer's lock, one after the other.
func (s *Store) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	grants := make([]store.Grant, len(claims))
	err := s.write(ctx, func() string { return fmt.Sprintf("claim %d keys", len(claims)) }, func(w *writer) error {
		var claimed batch
		if len(claims) > 1 {
			claimed = make(batch, len(claims))
		}
		for i := range claims {
			c := &claims[i]
			if until, twice := claimed.names(c); twice {
				grants[i] = inProgress(c, until-w.now.UnixMilli())
				continue
			}
			g, err := w.claim(c)
			if err != nil {
				return err
			}
			if g.Kind == idem.AdmitProceed {
				claimed.add(c, g.LeaseUntilMs)
			}
			grants[i] = g
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return grants, nil
}

// batch is the keys that a batch has claimed so far, and until when. A key is claimed once, whatever the
// owner of the second says. (DEDUP-025)
type batch map[scoped]int64

type scoped struct{ scope, key string }

func (b batch) names(c *store.Claim) (until int64, twice bool) {
	until, twice = b[scoped{c.Scope, c.Key}]
	if !twice && c.Dual() {
		until, twice = b[scoped{c.Scope, c.Previous}]
	}
	return until, twice
}

func (b batch) add(c *store.Claim, until int64) {
	if b == nil {
		return
	}
	b[scoped{c.Scope, c.Key}] = until
	if c.Dual() {
		b[scoped{c.Scope, c.Previous}] = until
	}
}

func inProgress(c *store.Claim, wait int64) store.Grant {
	g := store.Grant{Counts: idem.Counts{Retry: c.RetryCount, Hold: c.HoldCount}}
	g.Kind, g.WaitMs = idem.AdmitInProgress, max(wait, 0)
	return g
}

func (w *writer) claim(c *store.Claim) (store.Grant, error) {
	current, err := w.record(c.Scope, c.Key)
	if err != nil {
		return store.Grant{}, err
	}
	var previous *store.Record
	if c.Dual() {
		if previous, err = w.record(c.Scope, c.Previous); err != nil {
			return store.Grant{}, err
		}
	}
	g := c.Admit(current, previous, w.now.UnixMilli())
	if c.Lane.Set() && !g.TooOld {
		head, parked, err := w.head(c.Scope, c.Lane)
		if err != nil {
			return store.Grant{}, err
		}
		g.Head = parked && head == c.Key
		again := current != nil && g.Fence == current.Fence // its own reply was lost: it runs already
		if parked && !g.Head && g.Kind == idem.AdmitProceed && !again {
			g.Admission, g.Lease, g.Parked = idem.Admission{}, store.Lease{}, true
		}
	}
	return g, w.writeClaim(c, &g, current, previous)
}

// writeClaim writes what the grant means for the records.
func (w *writer) writeClaim(c *store.Claim, g *store.Grant, current, previous *store.Record) error {
	switch g.Kind {
	case idem.AdmitProceed:
		r := c.Claimed(c.Key, g.Lease.Fence, g, current, w.now, w.retention)
		if err := w.writeRecord(&r); err != nil || !c.Dual() {
			return err
		}
		r = c.Claimed(c.Previous, g.Lease.PreviousFence, g, previous, w.now, w.retention)
		return w.writeRecord(&r)
	case idem.AdmitDuplicate:
		if !c.Dual() {
			return nil
		}
		key, before := c.Key, current
		if isSuccess(current) {
			key, before = c.Previous, previous
		}
		if isSuccess(before) {
			return nil
		}
		r := c.Duplicated(key, g.Result, before, w.now, w.retention)
		return w.writeRecord(&r)
	}
	return nil
}

func isSuccess(r *store.Record) bool { return r != nil && r.State == idem.StateSuccess }
