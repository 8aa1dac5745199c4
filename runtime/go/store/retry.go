package store

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// RetryStatus is the status of a row of msg_retry.
type RetryStatus string

// The statuses.
const (
	RetryPending RetryStatus = "PENDING" // due at next_retry_time
	RetryParked  RetryStatus = "PARKED"  // waits for the head of its lane
)

// Retry is a row of msg_retry: a delivery that is durable and still to come. It is unique by the delivery
// that caused it, (Scope, Key, SourceTopic, SourcePartition, SourceOffset). A second write at the same
// (RedriveCount, Position) or a higher one replaces it, keeps its ID, makes it pending again (or parked, as
// the write says) and clears the scheduler's claim; a lower one leaves it as it is. (DEDUP-027)
type Retry struct {
	ID    int64 // the store's, in the order of the first writes
	Scope string
	// Key is the idempotency key, empty where the message has none.
	Key       string
	EventType string // empty where the headers have none
	BizKey    string
	// EventID is the event_id header, empty where there is none.
	EventID               string
	SourceTopic           string
	SourcePartition       int32
	SourceOffset          int64
	RedriveCount          int32
	RetryCount, HoldCount int32
	Action                idem.Action // ActionRetry, ActionHold, ActionDefer or ActionRedrive
	Reason                string
	// Topic is where it is published, "<origin>.retry.<scope>", with MessageKey, Headers and Payload as they
	// are, the payload raw.
	Topic      string
	MessageKey []byte // nil: none
	Headers    idem.Headers
	Payload    []byte // nil: null
	// Due is how long from the store's present it falls due, when it is written; NextRetryTime is when, on
	// the store's clock, when it is read.
	Due           time.Duration
	NextRetryTime time.Time
	Status        RetryStatus
	// Park says, when it is written, that it waits behind the head of its lane.
	Park bool
	// Lane is set where the route parks.
	Lane Lane
	// Token is the scheduler's claim, when it was read by ClaimDue.
	Token string
	// Publications is how often a scheduler has claimed it.
	Publications int32
	CreatedAt    time.Time
}

// Position is the delivery's. (DEDUP-004)
func (r *Retry) Position() int64 { return int64(r.RetryCount) + int64(r.HoldCount) }

// Mark says that a scheduler's publication of a row is confirmed. It removes the row only where token,
// redrive count and position are still those that were claimed. (DEDUP-027)
type Mark struct {
	ID           int64
	Token        string
	RedriveCount int32
	Position     int64
}

// MarkOf is the mark of a row that ClaimDue gave.
func MarkOf(r *Retry) Mark {
	return Mark{ID: r.ID, Token: r.Token, RedriveCount: r.RedriveCount, Position: r.Position()}
}
