package store

import (
	"context"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// OperationLog keeps what a person changed by hand: the table idem_operation.
type OperationLog interface {
	// BeginOperation writes what is about to be done, and gives its ID.
	BeginOperation(ctx context.Context, o Operation) (int64, error)
	// EndOperation says that it is over, and how many rows it changed.
	EndOperation(ctx context.Context, id, changed int64) error
}

// Operation is a change by hand.
type Operation struct {
	Operator string // user@host
	Command  string // "dlq redrive"
	Reason   string // why, in the operator's words
	Target   string // the filter, or the ids
}

// DeadLetterPages reads dead letters as a person does: the newest first.
type DeadLetterPages interface {
	// RecentDeadLetters gives those behind a cursor, newest first, without their payloads, which may be large. The filter's ReasonPrefix is a whole code, or a
	// code, a colon and how the detail begins.
	RecentDeadLetters(ctx context.Context, f DeadLetterFilter, after Cursor, limit int) ([]DeadLetter, error)
}

// Cursor is a place in a list of dead letters: behind the one with this time and ID. The zero value is the beginning.
type Cursor struct {
	CreatedAt time.Time
	ID        int64
}

// CursorOf is the place behind a dead letter.
func CursorOf(d *DeadLetter) Cursor { return Cursor{d.CreatedAt, d.ID} }

// LoggedOperation is a change by hand as it was logged.
type LoggedOperation struct {
	ID int64
	Operation
	BegunAt time.Time
	EndedAt time.Time // zero where nobody knows how it ended
	Changed int64     // how many rows
}

// Lookup is what a person looks up, beside dead letters, and no runtime does.
type Lookup interface {
	// Scopes are those that have records, deliveries to come or dead letters that wait, in order.
	Scopes(ctx context.Context) ([]string, error)
	// ListRetries gives deliveries to come behind an ID, in the order of IDs. The filter's ReasonPrefix is as that of
	// RecentDeadLetters. Token is set while a scheduler has claimed one.
	ListRetries(ctx context.Context, f RetryFilter, after int64, limit int) ([]Retry, error)
	// DeadLetterValues are what dead letters that wait have of each, at most limit.
	DeadLetterValues(ctx context.Context, limit int) (Values, error)
	// RetryValues are what deliveries to come have, but for outcomes: limit of each, or those of limit kinds.
	RetryValues(ctx context.Context, limit int) (Values, error)
	// FindOutgoing gives the messages in the outbox that have an idempotency key, of so many of the newest rows.
	FindOutgoing(ctx context.Context, key string, newest int) ([]Outgoing, error)
	// Operations gives changes by hand before an ID, 0 for all, the newest first.
	Operations(ctx context.Context, before int64, limit int) ([]LoggedOperation, error)
}

// Values are what there is of the things that rows are looked for by, each once and in order.
type Values struct {
	Scopes, EventTypes, Outcomes []string
	Codes                        []string // of reasons
}

// Add adds a value of a kind as the statements name it, such as event_type.
func (v *Values) Add(kind, value string) {
	switch kind {
	case "scope":
		v.Scopes = append(v.Scopes, value)
	case "event_type":
		v.EventTypes = append(v.EventTypes, value)
	case "outcome":
		v.Outcomes = append(v.Outcomes, value)
	case "code":
		v.Codes = append(v.Codes, value)
	}
}

// Operator is what a person looks up and changes by hand.
type Operator interface {
	OperationLog
	Lookup
	// RetryNow makes pending rows due now, and says how many were not.
	RetryNow(ctx context.Context, ids []int64) (int, error)
	// CancelRetries makes dead letters of rows, in one transaction, and says of how many. The records that wait
	// for them become DEAD. Rows that a scheduler has claimed are left.
	CancelRetries(ctx context.Context, ids []int64, reason string) (int, error)
	// Release ends the leases of keys, and says how many there were: the next delivery of each takes it over. A
	// holder that is alive is fenced out, unless it renews its lease before.
	Release(ctx context.Context, scope string, keys []string) (int, error)
}

// RetryFilter selects deliveries to come. What is empty selects all.
type RetryFilter struct {
	Scope, Key, EventType string
	Action                string // the name of an action
	Status                RetryStatus
	ReasonPrefix          string
}

// HeaderText is how a header of a text stands in the text of EncodeHeaders.
func HeaderText(name, value string) string {
	return strings.TrimSuffix(strings.TrimPrefix(EncodeHeaders(idem.Headers{{Name: name, Value: []byte(value)}}), "["), "]")
}
