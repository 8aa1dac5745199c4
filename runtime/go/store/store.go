package store

import (
	"context"
	"time"
)

// Store keeps dedup records. Every method takes a batch, answers in its order, and may be called from
// several goroutines. An error means that nothing is known of what was written: claim again with the same
// owner, or read the record by its fence. It begins with what was asked, "claim 3 keys: ". Keys that are equal in
// one batch are claimed once, in the order given; the others are IN_PROGRESS. (DEDUP-025)
type Store interface {
	Claim(ctx context.Context, claims []Claim) ([]Grant, error)
	// Complete makes records SUCCESS; false where a claim is fenced out.
	Complete(ctx context.Context, completions []Completion) ([]bool, error)
	Settle(ctx context.Context, settlements []Settlement) ([]Settled, error)
	// Renew extends leases; false where a claim is fenced out.
	Renew(ctx context.Context, renewals []Renewal) ([]bool, error)

	// Records reads records, in the order of keys; nil where there is none.
	Records(ctx context.Context, scope string, keys []string) ([]*Record, error)
	// Forget makes keys new again, and says how many there were. It permits a second effect. Of each key a
	// tombstone remains. (DEDUP-025)
	Forget(ctx context.Context, scope string, keys []string) (int, error)
	// Clean removes at most limit records that have expired, and says how many; fewer than limit means that
	// there is nothing more to do for now: ask again in a minute. (DEDUP-005, DEDUP-025)
	Clean(ctx context.Context, limit int) (int, error)

	// FollowUps says that Settle takes a Retry and a DeadLetter. Where it does not, they have to be published
	// and confirmed before Settle. (DEDUP-021)
	FollowUps() bool
	// Check says what keeps the store from working: not reachable, wrong credentials, a table that is missing
	// or of another version, in words that name the way to mend it. Runtimes call it at the start.
	Check(ctx context.Context) error
	Close() error
}

// Transactor is a Store whose SUCCESS can be part of the handler's own transaction, of type Tx.
type Transactor[Tx any] interface {
	Store
	// InTx runs fn in a transaction, and commits where it returns nil. The error of fn comes back as it is.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// CompleteTx makes records SUCCESS within tx, as its last statement; ErrFenced where the claim is no
	// longer held. (DEDUP-020, DEDUP-022)
	CompleteTx(ctx context.Context, tx Tx, completion Completion) error
	// StoreTx puts messages into the outbox within tx.
	StoreTx(ctx context.Context, tx Tx, messages []Outgoing) error
}

// Retries is the table msg_retry, for its scheduler.
type Retries interface {
	// ClaimDue claims at most limit pending rows that are due on the store's clock, of any scope, oldest
	// first, for the time of lease; rows claimed by another whose lease is over are due again.
	ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]Retry, error)
	// MarkPublished removes rows whose publication is confirmed; false where a row has changed since.
	MarkPublished(ctx context.Context, marks []Mark) ([]bool, error)
	// Postpone gives claims back, for rows that could not be published, due again after a time.
	Postpone(ctx context.Context, marks []Mark, due time.Duration) error
	// NextDue is how long until a pending row can be claimed, 0 where one can be now, and false where there is
	// none.
	NextDue(ctx context.Context) (time.Duration, bool, error)
	// SweepLanes lets go the next message of each lane whose head is done, its record being SUCCESS or DEAD,
	// or has no delivery left to come: it has no row, and neither its record nor the lane has changed for the
	// retention. (A head whose row was published, or that was let go and has no record yet, is still to
	// come.) It says how many lanes it moved. (CONS-015)
	SweepLanes(ctx context.Context, limit int) (int, error)
	// Wake makes the held rows of a biz key due now, and says how many were not: the state that they wait for
	// has moved. (STATE-012)
	Wake(ctx context.Context, scope, bizKey string) (int, error)
	// CountRetries is how many rows there are, by status, and how long the oldest due one has been waiting.
	CountRetries(ctx context.Context) (RetryCounts, error)
}

// RetryCounts is for metrics and alerts.
type RetryCounts struct {
	Pending, Parked int64
	OldestDue       time.Duration // 0 where none is due
}

// DeadLetters is the table dead_letter.
type DeadLetters interface {
	// ListDeadLetters gives those behind an ID, in the order of IDs.
	ListDeadLetters(ctx context.Context, f DeadLetterFilter, after int64, limit int) ([]DeadLetter, error)
	CountDeadLetters(ctx context.Context, f DeadLetterFilter) (int64, error)
	// Redrive writes the deliveries and marks the dead letters with those IDs redriven, in one transaction;
	// false where one was redriven or dropped before.
	Redrive(ctx context.Context, ids []int64, deliveries []Retry) ([]bool, error)
	// DropDeadLetters removes them, and says how many there were.
	DropDeadLetters(ctx context.Context, ids []int64) (int, error)
	DeadLetterStats(ctx context.Context) ([]DeadLetterStats, error)
}

// Outbox is the table outbox, for producers and its relay.
type Outbox interface {
	// Store puts messages into the outbox.
	Store(ctx context.Context, messages []Outgoing) error
	// Stored says which of the biz keys have rows: a message of such a key has to be stored too, so that
	// order holds.
	Stored(ctx context.Context, topic string, bizKeys [][]byte) ([]bool, error)
	// ClaimOutgoing claims at most limit rows that are due: for each (topic, biz key) only the first ones in
	// order, and none behind one that is claimed, not due or failed. Those of one biz key come back in their
	// order. Messages without a biz key (nil) are in no order.
	ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]Outgoing, error)
	// Sent removes rows that are confirmed and still claimed by token.
	Sent(ctx context.Context, token string, ids []int64) error
	// NotSent records a failed try, due again after a time; with failed, the relay has given up. With an empty
	// reason the rows were not tried: their claim is given back, and Attempts stays as it is.
	NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error
	// RetryFailed makes at most limit failed rows due again, their attempts counted from 0, and says how many.
	RetryFailed(ctx context.Context, limit int) (int, error)
	OutboxStats(ctx context.Context) (OutboxStats, error)
}

// OutboxStats is for metrics and alerts.
type OutboxStats struct {
	Pending, Failed int64
	Oldest          time.Time // CreatedAt of the oldest; zero where there is none
}

// Full is what a database gives: all roles, in its transactions.
type Full[Tx any] interface {
	Transactor[Tx]
	Retries
	DeadLetters
	Outbox
	Audit
}
