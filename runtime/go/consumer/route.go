package consumer

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/payload"
	"github.com/idem-spec/idem/runtime/go/state"
)

// Route is how the messages of one event type are treated. The zero value is sound.
type Route struct {
	// Order is what a message that fails does to later ones of its biz key. Default: guard.Unordered, nothing.
	Order guard.Order
	// MissingKey is what becomes of a message without an idempotency_key header. Default: guard.Reject, a dead
	// letter. guard.Derive computes the key from the payload, by the schema's template.
	MissingKey guard.MissingKey
	// Format is how payloads hold the message. Default: payload.Protobuf, the bare binary encoding.
	Format payload.Format
	// HandlerTimeout is how long a handler may take; then its context ends; an error that comes of it is RETRYABLE, and
	// a handler that returns nil all the same has succeeded. Default: the consumer's.
	HandlerTimeout time.Duration
	// MaxBytes is the largest payload; a larger one is MALFORMED. Default: no limit but the broker's.
	MaxBytes int
	// Workers is how many handlers of the route run at a time, at most the consumer's Workers. Default: all of them.
	Workers int
	// BatchSize is the most messages that a batch handler gets, and for no other. Default: 100.
	BatchSize int

	// State is the table of the state machine that the message moves. In Tx the move, the handler and SUCCESS
	// are one transaction; in Idempotent the state is read before the handler and moved after it. (STATE-013)
	State *state.Table
	// StateID gives the value of the table's ID column; see ID. Default: the biz key's text.
	StateID func(m proto.Message) any
	// StateDB is the database of the table, a *sql.DB or a *pgxpool.Pool, for modes Guarded and Idempotent where
	// it is not the store's. Default: the store.
	StateDB any
	// OnSuperseded is what becomes of a message whose transition another key has made. Default: what the schema
	// says, which is an acknowledgement unless it says otherwise. (STATE-011)
	OnSuperseded Superseded

	// Shadow computes and counts, and never acts: the messages of the route are decoded, their keys compared,
	// duplicates among them counted, and then they are acknowledged. Give such a consumer a group of its own, or
	// the group that acts loses them. Config.Shadow does both for all routes.
	Shadow bool
	// Breaker is when the route rests.
	Breaker Breaker
	// Hold is how long a message of a Block route holds its key in this process, tries and all, before it waits
	// in the store, if that has lanes. It does so earlier where it would fill half of its partition's window. Default: 1 min.
	Hold time.Duration
}

// Superseded is what becomes of a message whose transition another key has made.
type Superseded uint8

// The choices.
const (
	// AsSchema does what the schema's on_superseded says.
	AsSchema Superseded = iota
	// Acknowledge is the end of it; it is counted, and logged with both keys.
	Acknowledge
	// DeadLetter is for those who must see it: a second payment of one order.
	DeadLetter
)

// ID is a Route.StateID of a typed function.
func ID[P pointer[M], M any](id func(m P) any) func(proto.Message) any {
	return func(m proto.Message) any { return id(m.(P)) }
}

func (r Route) withDefaults() Route {
	if r.Hold == 0 {
		r.Hold = time.Minute
	}
	r.Breaker = r.Breaker.withDefaults()
	return r
}

func (r *Route) check() error {
	if r.Format > payload.Confluent {
		return fmt.Errorf("Format is %d: use payload.Protobuf, payload.JSON or payload.Confluent", r.Format)
	}
	if r.OnSuperseded > DeadLetter {
		return fmt.Errorf("OnSuperseded is %d: use consumer.AsSchema, consumer.Acknowledge or consumer.DeadLetter", r.OnSuperseded)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"Workers", r.Workers}, {"BatchSize", r.BatchSize}} {
		if n.value < 0 {
			return fmt.Errorf("%s is %d: give a number above 0, or 0 for the default", n.name, n.value)
		}
	}
	if r.Hold < 0 {
		return fmt.Errorf("Hold is %v: give a time above 0, or 0 for 1m", r.Hold)
	}
	if r.State == nil && (r.StateID != nil || r.StateDB != nil) {
		return errors.New("StateID or StateDB is set and State is nil: give the table")
	}
	if r.State != nil {
		return r.State.Check()
	}
	return nil
}

// route is a handler at work in a consumer. What it holds beyond the first block is under the engine's lock.
type route struct {
	Route
	eventType string
	index     int
	rules     guard.Rules
	run       runner
	batch     batchRunner // in place of run
	block     bool        // Route.Order is Block
	fresh     func() Message

	waiting  queue // to be claimed
	runnable queue // claimed
	claiming int
	running  int
	breaker  breaker
	paused   bool
	killed   bool
	handler  time.Duration // moving average of a handler's time
	seen     *seen         // of a shadow
}
