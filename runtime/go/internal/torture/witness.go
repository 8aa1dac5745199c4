//go:build unix

package main

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// witness sees the claims that are granted to a process, since a handler does not know when its lease began.
type witness struct {
	store.Full[pgx.Tx]

	mu     sync.Mutex
	claims map[string]claim // by key, the last one
}

// claim is when a claim was asked for, and when it was granted: it was made in between, by a clock that is that
// of all processes of the test.
type claim struct {
	owner          string
	asked, granted time.Time
	lease          time.Duration
}

// sure is how long the lease holds for sure from granted on: a claim that is granted later than granted, and
// before sure is over, was made under a live lease.
func (c *claim) sure() time.Duration { return c.lease - c.granted.Sub(c.asked) }

func newWitness(s store.Full[pgx.Tx]) *witness {
	return &witness{Full: s, claims: make(map[string]claim)}
}

func (w *witness) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	asked := time.Now()
	w.note(claims, nil, asked)
	grants, err := w.Full.Claim(ctx, claims)
	if err == nil {
		w.note(claims, grants, asked)
	}
	return grants, err
}

// note keeps when a claim was first asked for, since one whose reply was lost is asked for again under its
// owner, and may have been made the first time.
func (w *witness) note(claims []store.Claim, grants []store.Grant, asked time.Time) {
	granted := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.claims) > 100_000 { // its handlers are long over
		clear(w.claims)
	}
	for i := range claims {
		c := &claims[i]
		if grants != nil && grants[i].Kind != idem.AdmitProceed {
			delete(w.claims, c.Key)
			continue
		}
		known := w.claims[c.Key]
		if known.owner != c.Owner {
			known = claim{owner: c.Owner, asked: asked, lease: c.Lease}
		}
		known.granted = granted
		w.claims[c.Key] = known
	}
}

func (w *witness) of(key string) (claim, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, there := w.claims[key]
	return c, there
}
