// Package history judges what happened in a run: from what was produced, called, done, given up and
// committed, it says what was lost, done twice, done out of order, or committed backwards. It knows nothing
// of the runtime, so that it can be a judge of it: simulations and the torture test write the same history,
// and the same planted bugs have to be found in both.
package history

import "time"

// Mode is the guarantee that a key's route gives. (DEDUP-032)
type Mode uint8

// The modes.
const (
	Tx         Mode = iota // one effect
	Guarded                // one effect on the guarded row
	Idempotent             // at least one call
)

// Produced is one message. Copies of it, by a producer that was not sure, are the same Produced.
type Produced struct {
	Key string
	// Lane and Seq say the order that has to be kept: within a lane, by Seq. An empty lane has no order.
	Lane string
	Seq  int64
	Mode Mode
	// Acknowledged says that the producer was told confirmed or stored; only then the message must not be
	// lost.
	Acknowledged bool
}

// Call is one run of a handler.
type Call struct {
	Key    string
	Worker string
	Start  time.Time
	// End is zero where the worker did not live to write it.
	End time.Time
	// Lease is how long the claim under which it started was good for without renewal, from Start on; 0 or
	// less where it had run out.
	Lease time.Duration
}

// Effect is one effect that is durable.
type Effect struct {
	Key string
	// Order is the place of the effect among all of its lane: a serial number given under a lock, or by the
	// commit.
	Order int64
	Call  int // of the call that made it, from 0
}

// DeadLetter is one message that was given up.
type DeadLetter struct {
	Key string
	// Redriven says that it got another life.
	Redriven bool
}

// Commit is one observation of a committed offset. Observations of a partition are in order.
type Commit struct {
	Group     string
	Topic     string
	Partition int32
	Offset    int64
}

// History is all that was observed of one run, once it is quiet: nothing is in flight.
type History struct {
	Produced    []Produced
	Calls       []Call
	Effects     []Effect
	DeadLetters []DeadLetter
	Commits     []Commit
	// Unordered is the keys that stepped out of their lane by design: held, or redriven. (CONS-011, CONS-014)
	Unordered map[string]bool
}
