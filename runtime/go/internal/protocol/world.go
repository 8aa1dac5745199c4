package protocol

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// order is what a route does with a delivery that RETRY or DEFER follows.
type order uint8

const (
	unordered order = iota
	block           // it stays in place
	park            // its lane waits in the database
)

// world is what is searched.
type world struct {
	name       string
	copies     [messages]uint8 // of A and of B on the topic
	order      order
	followUps  bool // what follows is in the transaction of FAILED or DEAD; else it is published first
	schedulers int
	faults     uint8
	redrives   uint8
	maxRetry   int32
	maxHold    int32
}

// maxAttempts allows one crash where the runtime allows three, so that a crash loop is within reach.
func (w *world) maxAttempts() int64 { return idem.MaxAttempts(w.maxRetry) - 2 }

func (w *world) policy() idem.Policy {
	p := idem.DefaultPolicy()
	p.MaxRetry, p.MaxHold = w.maxRetry, w.maxHold
	return p
}

// rules are those that are in force; the zero value is all of them. Each field takes one out.
type rules struct {
	noFence              bool // a handler's transaction commits without a look at its claim
	crashLoopUnfenced    bool // CRASH_LOOP is written without a look at the record
	uniqueByCount        bool // msg_retry is unique by key and position, and a conflict does nothing
	lowerReplaces        bool // a write that is behind replaces a row
	markWithoutToken     bool // a row is marked whoever has claimed it
	markWithoutPosition  bool // a row is marked wherever it has moved
	raisedKeepsToken     bool // a row that is raised stays claimed
	markBeforePublishing bool // a row is removed before its delivery is on the topic
	stateFirst           bool // FAILED or DEAD is written before what follows is durable
	raisedInPlace        bool // the position is raised while the message is held in place
	leaseIgnored         bool // a live claim is taken over
	ownerIgnored         bool // any claim counts as one whose reply was lost
	noStale              bool // deliveries whose successor is durable are admitted
	noRedriveCompare     bool // a redrive is like the life before
	holdCostsAttempt     bool // HOLD does not give the attempt back
	redriveMarksFirst    bool // a dead letter is marked before its delivery is durable
	parkedBlindly        bool // the decision to park is not repeated under the lock
	headParks            bool // the head's own key waits behind itself
	nothingParks         bool // later messages of a lane pass
	staleLeaves          bool // the head leaves its lane by STALE
	oneRowGoes           bool // only the first row of the key that becomes the head is let go
	noSweep              bool // nobody looks at lanes whose head is done
	ackedFirst           bool // the offset is committed before the delivery is settled
	inProgressAcked      bool // a delivery of a key in progress is acknowledged
	fencedAcked          bool // a delivery whose claim was lost is acknowledged
}

const (
	scope   = "payments"
	nowMs   = 1000
	leaseMs = 1000
)

var (
	keys   = [...]string{1: "A", 2: "B"}
	owners = [...]string{"", "w1", "w2", "w3", "w4", "w5", "w6"}
	lane   = store.Lane{Topic: "orders", BizKey: "order-1"}
)

// start is the state that a search begins with.
func (w *world) start() state {
	s := state{faults: w.faults, redrives: w.redrives}
	for msg, n := range w.copies {
		for range n {
			s.add(delivery{msg: uint8(msg + 1)})
		}
	}
	s.normalize()
	return s
}

// stored is a record as the store has it, nil where there is none.
func (s *state) stored(msg uint8) *store.Record {
	r := s.record(msg)
	if r.state == 0 {
		return nil
	}
	out := &store.Record{Scope: scope, Key: keys[msg], RetryCount: int32(r.retry), HoldCount: int32(r.hold)}
	out.State, out.Fence, out.Attempts, out.Owner = idem.State(r.state), int64(r.fence), int64(r.attempts), owners[r.owner]
	out.RedriveCount, out.Position = int64(r.redrive), int64(r.position)
	if out.State == idem.StateProcessing {
		out.LeaseUntilMs = nowMs - 1
		if r.live {
			out.LeaseUntilMs = nowMs + leaseMs
		}
	}
	return out
}

// keep takes a record from what the store would write.
func (s *state) keep(msg, owner uint8, r *store.Record) {
	*s.record(msg) = record{
		state: uint8(r.State), fence: uint8(r.Fence), attempts: uint8(r.Attempts), owner: owner, redrive: uint8(r.RedriveCount),
		position: uint8(r.Position), retry: uint8(r.RetryCount), hold: uint8(r.HoldCount), live: r.LeaseUntilMs > nowMs,
	}
}

// claim asks the real store.Claim.Admit, with the records and the claim that the rules leave it.
func (x *search) claim(s *state, w *worker) (*store.Claim, store.Grant, *store.Record) {
	before := s.stored(w.d.msg)
	c := &store.Claim{
		Scope: scope, Key: keys[w.d.msg], Owner: owners[w.owner], RedriveCount: int32(w.d.redrive), RetryCount: int32(w.d.retry),
		HoldCount: int32(w.d.hold), MaxAttempts: x.world.maxAttempts(), Lease: leaseMs * time.Millisecond,
	}
	if x.world.order == park {
		c.Lane = lane
	}
	if before != nil {
		if x.rules.leaseIgnored {
			before.LeaseUntilMs = 0
		}
		if x.rules.ownerIgnored {
			before.Owner = c.Owner
		}
		if x.rules.noRedriveCompare {
			c.RedriveCount = int32(before.RedriveCount)
		}
		if x.rules.noStale {
			before.RedriveCount = min(before.RedriveCount, int64(c.RedriveCount))
			before.Position = min(before.Position, int64(w.d.position()))
			if before.State == idem.StateDead {
				before.State = idem.StateFailed
			}
		}
	}
	return c, c.Admit(before, nil, nowMs), before
}

// decide asks the real idem.Decide.
func (x *search) decide(o idem.Outcome, w *worker) idem.Decision {
	a, err := idem.Decide(idem.Result{Outcome: o}, keys[w.d.msg], idem.Counts{Retry: int32(w.retry), Hold: int32(w.hold)}, &x.policy)
	if err != nil {
		panic("decide: " + err.Error()) // the world's own policy is wrong
	}
	return a
}
