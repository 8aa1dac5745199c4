package store

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// DeadLetter is a row of dead_letter: a message that ended, with all that is needed to understand it and
// to redrive it. It is unique by (Scope, SourceTopic, SourcePartition, SourceOffset, Key, Payload): a second
// write leaves one that still waits as it is, and replaces one that was redriven, or has a lower RedriveCount,
// since that delivery has ended once more. The source alone is not enough: a topic that was made anew counts
// its offsets from 0 again, and what ends there is another message.
type DeadLetter struct {
	ID                    int64
	Scope                 string
	Key                   string // empty where the message has none
	EventType             string
	BizKey                string
	EventID               string
	SourceTopic           string
	SourcePartition       int32
	SourceOffset          int64
	RedriveCount          int32
	RetryCount, HoldCount int32
	// Outcome is the class, Reason what the reject_reason header says. OtherOutcome is the name of a class that this
	// version does not know, and Outcome tells nothing then.
	Outcome      idem.Outcome
	OtherOutcome string
	Reason       string
	// Topic is the origin; MessageKey, Headers and Payload are the message as it was, with the headers of
	// HDR-031.
	Topic      string
	MessageKey []byte
	Headers    idem.Headers
	Payload    []byte
	// PayloadBytes and PayloadSHA256 tell of the payload where RecentDeadLetters leaves it out.
	PayloadBytes  int
	PayloadSHA256 []byte
	CreatedAt     time.Time
	// RedrivenAt is zero until it is redriven.
	RedrivenAt time.Time
}

// DeadLetterFilter selects dead letters. What is empty or zero selects all.
type DeadLetterFilter struct {
	Scope, Key, EventType string
	Outcome               string // the name of an outcome
	ReasonPrefix          string
	Since, Until          time.Time // CreatedAt in [Since, Until)
	// Redriven includes those that were redriven already.
	Redriven bool
	// Digests has RecentDeadLetters tell PayloadSHA256, for which the database reads each payload.
	Digests bool
}

// DeadLetterStats is for alerts.
type DeadLetterStats struct {
	Scope, EventType string
	Count            int64     // not redriven
	Oldest           time.Time // CreatedAt
}
