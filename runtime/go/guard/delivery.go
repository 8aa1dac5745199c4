package guard

import (
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Status is how far a delivery has come.
type Status uint8

// The statuses.
const (
	// Opened: it is parsed, and has to be claimed.
	Opened Status = 1 + iota
	// Ready: it is claimed, or needs no claim, and may run.
	Ready
	// Ended: Result is set, and it has to be settled.
	Ended
	// Parked: another key is the head of its lane, and it has to be settled, which parks it.
	Parked
	// Skipped: it is not for this consumer. Settle acknowledges it and does nothing else.
	Skipped
)

var statusNames = [...]string{Opened: "opened", Ready: "ready", Ended: "ended", Parked: "parked", Skipped: "skipped"}

// String is the status in a word.
func (s Status) String() string {
	if s > 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "none"
}

// Delivery is one delivery on its way. Callers keep deliveries and use them again: Open overwrites all of it.
type Delivery struct {
	Message *broker.Message
	// Envelope is what the headers say; of no use where they are faulty.
	Envelope idem.Envelope
	Rules    *Rules
	// Key is the idempotency key; empty where there is none.
	Key string
	// Origin is the topic where the message began, also where it came by the retry topic.
	Origin string
	// BizKey names the lane within Origin; empty for a message without one, which is in a lane of its own.
	BizKey string
	// Lane is set on a route that parks, for a message that has a key and a biz key.
	Lane   store.Lane
	Policy idem.Policy
	// Counts are the larger of header and record.
	Counts idem.Counts
	Grant  store.Grant
	Status Status
	// Alone says that the handler has to run with nothing else in this process: its claims ended without a word
	// twice, and it may take the process along. (DEDUP-024)
	Alone bool

	// Result is what it came to, and Err the handler's error, for the log.
	Result idem.Result
	Err    error
	// Value is the result to keep for duplicates, which the handler may set, and of a duplicate the one that was
	// kept. At most store.MaxResult bytes.
	Value []byte
	// Completed says that SUCCESS is durable already.
	Completed bool
	// Superseded says that another key made the transition, and SupersededBy which. The handler's caller sets
	// them, for the observer. (STATE-011)
	Superseded   bool
	SupersededBy string
	// Layer is what found out that the message needs no effect: Claim sets it, and the handler's caller where it was
	// the state machine. (CONS-041)
	Layer observe.Layer

	// HoldInPlace has Settle write FAILED and the raised counts, and nothing that follows: the caller keeps the
	// delivery and tries again after Decision.Delay, by Again. It makes no difference where the decision is ACK,
	// HOLD or DEAD_LETTER: InPlace says whether it was so.
	HoldInPlace bool
	// InPlace says that Settle left it to the caller: it must not be acknowledged.
	InPlace  bool
	Decision idem.Decision
	// Settled says that what follows is durable: unless InPlace, it may be acknowledged.
	Settled bool

	// Received is when it was opened; a caller that fetched it earlier may say so.
	Received time.Time
	// Handler is how long the handler took.
	Handler time.Duration

	produced  time.Time // produced_at, else the broker's time, else zero
	owner     string    // of the claim, kept until the claim's reply is there
	claimed   time.Time // before the claim was first sent: its lease began later
	unsure    bool      // something was written under the lease, and its reply is missing
	published bool      // what follows is confirmed by the broker, and need not be sent again
	lost      atomic.Bool
	handling  *handling // the handler's context, while it runs
	beat      beat
	tell      observe.Delivery
}

// Again makes a delivery that was held in place one to claim again, with the counts that it has come to.
func (d *Delivery) Again() {
	d.Status, d.Settled, d.InPlace, d.HoldInPlace = Opened, false, false, false
	d.Result, d.Err, d.Value, d.Completed, d.Decision = idem.Result{}, nil, nil, false, idem.Decision{}
	d.Superseded, d.SupersededBy, d.Alone, d.Handler = false, "", false, 0
	d.Layer = observe.LayerNone
	d.Grant = store.Grant{}
	d.forget()
}

// End sets what a delivery came to, for callers that find it out themselves.
func (d *Delivery) End(r idem.Result, err error) { d.Status, d.Result, d.Err = Ended, r, err }

func (d *Delivery) forget() {
	d.owner, d.claimed, d.unsure, d.published = "", time.Time{}, false, false
	d.lost.Store(false)
}

// held says that there is a claim to settle under.
func (d *Delivery) held() bool { return d.Grant.Lease.Held() }
