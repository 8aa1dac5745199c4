package store

import (
	"errors"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// ErrFenced says that a claim is no longer held: another has taken the key over, or it was forgotten. What
// was done in the same transaction has to be rolled back. (DEDUP-020)
var ErrFenced = errors.New("fenced out: the claim is no longer held")

// ErrNotBegun says, of an error of Transactor.InTx, that there was no transaction to begin with: what the handler did
// in it was not even refused.
var ErrNotBegun = errors.New("the transaction did not begin")

// Completion makes the records of a claim SUCCESS.
type Completion struct {
	Lease Lease
	// Result is kept for duplicates, at most MaxResult bytes.
	Result []byte
	// Lane is left, and the next message of it let go, where Head says that the key is its head.
	Lane Lane
	Head bool
}

// Settlement ends a delivery that did not succeed. The change of the record and what follows from it are
// one transaction; a store without follow-ups (Redis) refuses one that has any. (DEDUP-021)
type Settlement struct {
	// Lease is the claim; the zero Lease where there is none and the record is not touched: KEY_REUSED,
	// MALFORMED, TOO_OLD, IN_PROGRESS, and messages without a key.
	Lease Lease
	// State is idem.StateFailed or idem.StateDead.
	State idem.State
	// GiveBack undoes the attempt: the handler never ran, or asked to be held. (DEDUP-023)
	GiveBack bool
	// RedriveCount, RetryCount and HoldCount are those of the next delivery, as its headers say; of this one,
	// where it is held in place or stays unacknowledged. (DEDUP-011)
	// Their sum is the position that the record keeps.
	RedriveCount, RetryCount, HoldCount int32
	// Kept are the counts that the record keeps where they are larger than RetryCount and HoldCount: those of
	// a message that is held in place, whose position does not move with them. The zero value is none.
	Kept idem.Counts
	// Retry, if any, is the delivery to come.
	Retry *Retry
	// DeadLetter, if any, is where it ends.
	DeadLetter *DeadLetter
	// Lane is set on a route that parks. A Retry with Park joins its tail; any other Retry, of a message
	// whose lane has another head by now, joins it too, or becomes its head; with Leave, and with any dead
	// letter of a claim that is held, the message leaves the lane, and its Retry, if any, is pending wherever
	// the lane stands. A dead letter without a claim (KEY_REUSED) is that of another message with the head's
	// key. A message without a key has no place in a lane. The lane's row is locked, and the decision made
	// again under the lock. When the head leaves, the key of the first PARKED row becomes the head, and all
	// PARKED rows of that key in the lane become PENDING, due now: of two copies the first may be stale, and
	// must not wait for the other, which would wait behind its own key. A DUPLICATE that was the head leaves by Leave alone, with a Lease that has Scope and Key and no
	// fence, and no record is touched.
	Lane  Lane
	Leave bool
}

// Names are the scope and the key of the message: the lease's, also of one that holds no claim, else those
// of what follows. The key is empty where the message has none.
func (s *Settlement) Names() (scope, key string) {
	switch {
	case s.Lease.Scope != "":
		return s.Lease.Scope, s.Lease.Key
	case s.Retry != nil:
		return s.Retry.Scope, s.Retry.Key
	case s.DeadLetter != nil:
		return s.DeadLetter.Scope, s.DeadLetter.Key
	}
	return "", ""
}

// Position is the position that the record keeps. (DEDUP-011)
func (s *Settlement) Position() int64 { return int64(s.RetryCount) + int64(s.HoldCount) }

// Counts are the counts that the record keeps.
func (s *Settlement) Counts() idem.Counts {
	return idem.Counts{Retry: max(s.RetryCount, s.Kept.Retry), Hold: max(s.HoldCount, s.Kept.Hold)}
}

// Settled answers a Settlement.
type Settled uint8

// The answers.
const (
	// SettledWritten says that all of it is durable.
	SettledWritten Settled = 1 + iota
	// SettledFenced says that the claim is no longer held, and nothing was written.
	SettledFenced
	// SettledUnparked says that the lane to park in is free by now, or has this key as its head, and nothing
	// was written: claim again.
	SettledUnparked
)

// Renewal extends a lease.
type Renewal struct {
	Lease Lease
	For   time.Duration // from the store's present
}
