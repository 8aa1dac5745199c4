// Package storetest is the suite that every store passes: what spec chapters 9 and 16 ask of a store, one
// named behaviour each, a random test against a model that was written from the spec, and a test of many
// workers at once.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
//			s := mine.New(t, mine.Config{Now: clock.Now})
//			return storetest.Subject{Store: s, Tx: storetest.TxOf(s, insertEffect, listEffects)}
//		})
//	}
//
// Roles are found by what the store implements (store.Retries, store.DeadLetters, store.Outbox); what it
// cannot do is declared in Subject.Without, with the reason, and the log says what was skipped.
package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Capability is something that not every store can do.
type Capability string

// The capabilities that a Subject may be without. Follow-ups, retries, dead letters, the outbox and
// transactions are not declared: the suite sees for itself.
const (
	MovableClock Capability = "movable clock"               // Advance, or a store that reads Clock
	DualKeys     Capability = "dual keys"                   // KEY-030
	Lanes        Capability = "lanes"                       // parking, CONS-013
	Cleaning     Capability = "cleaning"                    // Clean; a store whose records expire by themselves has none
	Tombstones   Capability = "tombstones"                  // of an expired PROCESSING that Clean removes
	LongResults  Capability = "64 KiB results"              // store.MaxResult
	Concurrency  Capability = "many goroutines"             // more than a few at once
	BesideTx     Capability = "claims beside a transaction" // SQLite has one writer
)

var capabilities = []Capability{MovableClock, DualKeys, Lanes, Cleaning, Tombstones, LongResults, Concurrency, BesideTx}

// Subject is an empty store, to be tested.
type Subject struct {
	// Store is the store, made with a retention of store.DefaultRetention.
	Store store.Store
	// Other is another handle on the same data, as another process has one. Nil: Store.
	Other store.Store
	// Tx is made by TxOf. Nil: the store has no transactions.
	Tx *Transactions
	// Advance moves the store's clock ahead, for a store that has one of its own: miniredis' FastForward, or
	// an UPDATE that moves every time in the tables back. Nil: the store reads Clock.
	Advance func(d time.Duration)
	// Quiet waits until calls that were given up have ended on the server, too: one that is still on its way
	// would come behind operations that the model has after it. Nil: they end with the call.
	Quiet func()
	// Memory says that something in front of the truth may answer. It does not hear of a claim that a claim of two
	// keys ended (DEDUP-026), and may say until its lease is over that it is live (DEDUP-031).
	Memory bool
	// OwnClock says that the store does not read Clock: its present is time.Now, give or take two seconds.
	OwnClock bool
	// Without says what the store cannot do, and why.
	Without map[Capability]string
	// Seeds is how many random sequences are run against the model, and Steps how long each is. 0: 10 and 300.
	Seeds, Steps int
}

// Clock is a clock that only the suite moves. It begins at a time of its own.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock ahead.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// behaviour is one thing that a store has to do.
type behaviour struct {
	name  string
	needs []Capability
	check func(w *world)
}

// The capabilities that the suite sees for itself.
const (
	followUps   Capability = "follow-ups in the same transaction"
	retries     Capability = "store.Retries"
	deadLetters Capability = "store.DeadLetters"
	outbox      Capability = "store.Outbox"
	audit       Capability = "store.Audit"
	tx          Capability = "store.Transactor"
)

// Run runs the suite. open gives an empty store each time: behaviours run one after the other, so that it
// may clear a database and give it again.
func Run(t *testing.T, open func(t *testing.T, clock *Clock) Subject) {
	t.Helper()
	all := slices.Concat(claimBehaviours, crashLoopBehaviours, settleBehaviours, recordBehaviours, dualBehaviours, byteBehaviours,
		retryBehaviours, laneBehaviours, deadLetterBehaviours, outboxBehaviours, auditBehaviours, txBehaviours, concurrentBehaviours, randomBehaviours)
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			w := newWorld(t, open)
			for _, c := range b.needs {
				if why := w.without(c); why != "" {
					t.Skipf("the store is without %s: %s", c, why)
				}
			}
			b.check(w)
		})
	}
}

// without says why the store cannot do something, and is empty where it can.
func (w *world) without(c Capability) string {
	if why := w.Without[c]; why != "" {
		return why
	}
	_, hasRetries := w.Store.(store.Retries)
	_, hasDead := w.Store.(store.DeadLetters)
	_, hasOutbox := w.Store.(store.Outbox)
	_, hasAudit := w.Store.(store.Audit)
	missing := false
	switch c {
	case followUps:
		missing = !w.Store.FollowUps()
	case retries, Lanes:
		missing = !hasRetries
	case deadLetters:
		missing = !hasDead
	case outbox:
		missing = !hasOutbox
	case audit:
		missing = !hasAudit
	case tx:
		missing = w.Tx == nil
	case MovableClock:
		missing = w.OwnClock && w.Advance == nil
	}
	if missing {
		return "it does not have it"
	}
	return ""
}

func newWorld(t *testing.T, open func(t *testing.T, clock *Clock) Subject) *world {
	t.Helper()
	clock := &Clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := &world{t: t, clock: clock, ctx: t.Context(), Subject: open(t, clock)}
	if w.Store == nil {
		t.Fatal("Subject.Store is nil: give the store that is tested")
	}
	for c := range w.Without {
		if !slices.Contains(capabilities, c) {
			t.Fatalf("Subject.Without names %q: it is one of %s", c, fmt.Sprint(capabilities))
		}
	}
	if w.Other == nil {
		w.Other = w.Store
	}
	if w.Seeds == 0 {
		w.Seeds = 10
	}
	if w.Steps == 0 {
		w.Steps = 300
	}
	return w
}
