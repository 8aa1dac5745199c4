package store

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Outgoing is a row of the outbox: a message that is durable and not yet confirmed by the broker.
type Outgoing struct {
	ID         int64 // in the order of the writes, within one biz key
	Topic      string
	MessageKey []byte // nil: none
	Headers    idem.Headers
	Payload    []byte
	CreatedAt  time.Time
	// Attempts is how often a relay has tried; Failed that it has given up, and LastError why.
	Attempts  int32
	Failed    bool
	LastError string
	NextAt    time.Time
	Token     string // the relay's claim
}
