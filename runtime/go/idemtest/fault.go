package idemtest

import (
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/internal/seam"
)

// Point is a place in the life of a delivery where something can happen to its process.
type Point string

// The points, in the order of a delivery that succeeds, and then those of one that does not.
const (
	// AfterClaim: the key is claimed, and the process does not know yet.
	AfterClaim Point = "AfterClaim"
	// BeforeHandler: the handler's transaction has begun. (Only in mode Tx.)
	BeforeHandler Point = "BeforeHandler"
	// AfterHandler: the handler has returned nil, and nothing of its transaction is committed.
	AfterHandler Point = "AfterHandler"
	// BeforeBusinessCommit: SUCCESS is written too, and nothing is committed. (Only in mode Tx.)
	BeforeBusinessCommit Point = "BeforeBusinessCommit"
	// AfterBusinessCommit: the effect and SUCCESS are committed, and the process does not know yet. (Only in mode
	// Tx.)
	AfterBusinessCommit Point = "AfterBusinessCommit"
	// BeforeSettle: the handler has failed, or may not run, and that is not written yet.
	BeforeSettle Point = "BeforeSettle"
	// AfterSettle: what the delivery came to is written, and the process does not know yet.
	AfterSettle Point = "AfterSettle"
	// BeforeOffsetCommit and AfterOffsetCommit: the message is about to be, or is, acknowledged to the broker.
	BeforeOffsetCommit Point = "BeforeOffsetCommit"
	AfterOffsetCommit  Point = "AfterOffsetCommit"
	// BeforeRepublish and AfterRepublish: a delivery to come, a dead letter or a message of the outbox is about to
	// be published, or is, and the process does not know yet.
	BeforeRepublish Point = "BeforeRepublish"
	AfterRepublish  Point = "AfterRepublish"
)

// Points is all of them.
func Points() []Point {
	return []Point{
		AfterClaim, BeforeHandler, AfterHandler, BeforeBusinessCommit, AfterBusinessCommit, BeforeSettle, AfterSettle,
		BeforeOffsetCommit, AfterOffsetCommit, BeforeRepublish, AfterRepublish,
	}
}

// pointOf is the point of a step, if it is one.
func pointOf(s seam.Step) Point {
	side := func(before, after Point) Point {
		if s.After {
			return after
		}
		return before
	}
	switch s.Op {
	case seam.Claim:
		return side("", AfterClaim)
	case seam.Handle:
		return BeforeHandler
	case seam.Complete:
		return side(AfterHandler, AfterSettle)
	case seam.Commit:
		return side(BeforeBusinessCommit, AfterBusinessCommit)
	case seam.Settle:
		return side(BeforeSettle, AfterSettle)
	case seam.CommitOffsets:
		return side(BeforeOffsetCommit, AfterOffsetCommit)
	case seam.Publish:
		return side(BeforeRepublish, AfterRepublish)
	}
	return ""
}

// Kind is what happens at a point.
type Kind uint8

// The kinds.
const (
	// Kill ends the process there: nothing that it does from then on has an effect in the store or at the broker. A
	// new one starts, and waits for the lease of the dead one to run out.
	Kill Kind = iota
	// Fail has the call fail, and the process lives: before a point nothing was done, after it the reply is lost.
	Fail
	// Pause stops the process there for longer than its lease, while another one takes over; then it goes on, and
	// does not know. What a handler does without asking store or broker goes on meanwhile.
	Pause
)

// String is the kind in words, "killed".
func (k Kind) String() string {
	switch k {
	case Fail:
		return "a call failed"
	case Pause:
		return "stopped past its lease"
	}
	return "killed"
}

// Fault is something that happens at a point.
type Fault struct {
	At   Point
	Kind Kind
	// Key is the idempotency key of the message whose delivery has to be there. Empty: any.
	Key string
	// Times is how often it happens. 0: once.
	Times int
}

// String is the fault in words.
func (f Fault) String() string {
	text := fmt.Sprintf("%s %s", f.Kind, f.At)
	if f.Key != "" {
		text += " of " + f.Key
	}
	if f.Times > 1 {
		text += fmt.Sprintf(", %d times", f.Times)
	}
	return text
}

// ErrFault is what calls return that fail, or whose process is dead.
var ErrFault = errors.New("connection lost: idemtest has made this call fail")

// armed is a fault on its way.
type armed struct {
	Fault
	left, hits int
}
