package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Config configures an Outbox. The zero value has sound defaults.
type Config struct {
	// Timeout limits the publication, after which its messages are stored, and each query. A publication
	// ends with the caller's context too. After one that took all of it and confirmed nothing, those of the
	// next second have a tenth of it, so that an outage of the broker does not hold up every caller for as
	// long. Default 5 seconds.
	Timeout time.Duration
	// Unordered publishes without asking whether earlier messages of the key are stored. It saves a query a
	// call, and works while the database is down, and gives up the order of a key.
	Unordered bool
	// MaxBytes refuses messages with a larger payload, which the broker would refuse for ever. Default
	// 1,000,000, a little below Kafka's own limit; negative: no limit.
	MaxBytes int
	// Now is for event_id and produced_at of messages that have none. Default time.Now.
	Now func() time.Time
	// Log gets why messages were stored. Nil: slog.Default().
	Log *slog.Logger
}

// Outbox publishes. Its methods may be called from several goroutines.
type Outbox struct {
	store     store.Outbox
	publisher broker.Publisher
	config    Config
	tell      tell.Teller
	// hurryUntil is when a publication has the whole Timeout again, in nanoseconds since 1970.
	hurryUntil atomic.Int64
}

// New makes an outbox that stores in o what p does not confirm.
func New(o store.Outbox, p broker.Publisher, c Config) (*Outbox, error) {
	switch {
	case o == nil:
		return nil, errors.New("outbox: no store: give one that has the table outbox")
	case p == nil:
		return nil, errors.New("outbox: no publisher: give a broker")
	case c.Timeout < 0:
		return nil, fmt.Errorf("outbox: Timeout is %v: it has to be positive, or 0 for the default", c.Timeout)
	}
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.MaxBytes = cmp.Or(c.MaxBytes, 1_000_000)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Outbox{store: o, publisher: p, config: c, tell: tell.Teller{Log: c.Log}}, nil
}

// Result is what became of one message.
type Result uint8

// The results.
const (
	// Neither is for messages that Publish could neither have confirmed nor store. Its error says why. The
	// message may be at the broker all the same: publish it again.
	Neither Result = iota
	// Confirmed by the broker.
	Confirmed
	// Stored in the database: a relay publishes it.
	Stored
)

// String is "confirmed", "stored" or "neither".
func (r Result) String() string {
	switch r {
	case Confirmed:
		return "confirmed"
	case Stored:
		return "stored"
	}
	return "neither"
}

// Publish publishes messages, and stores those that the broker does not confirm, and those behind others
// of their key that are stored. There is one result for each message, and an error where one is Neither.
// What is stored is stored also where ctx is done by then. Messages with an idempotency_key get an event_id,
// a topic and a produced_at header where they have none.
func (b *Outbox) Publish(ctx context.Context, messages ...broker.Message) ([]Result, error) {
	results := make([]Result, len(messages))
	stamped, err := b.prepare(messages)
	if err != nil {
		return results, fmt.Errorf("publish: %w", err)
	}
	store, unknown := b.behind(ctx, stamped)
	b.direct(ctx, stamped, store, results)
	if err := b.keep(ctx, stamped, store, results); err != nil {
		return results, errors.Join(err, unknown)
	}
	return results, nil
}

// behind says which messages have to be stored since earlier ones of their key are. Where that is not
// known, which is the error, they have to be too.
func (b *Outbox) behind(ctx context.Context, messages []broker.Message) (store []bool, err error) {
	store = make([]bool, len(messages))
	if b.config.Unordered {
		return store, nil
	}
	done := make([]bool, len(messages))
	for i := range messages {
		if done[i] || messages[i].Key == nil {
			continue
		}
		topic := messages[i].Topic
		keys := make([][]byte, 0, len(messages)-i)
		index := make([]int, 0, len(messages)-i)
		for at := i; at < len(messages); at++ {
			if messages[at].Key != nil && messages[at].Topic == topic {
				done[at] = true
				keys, index = append(keys, messages[at].Key), append(index, at)
			}
		}
		stored, e := b.stored(ctx, topic, keys)
		if e != nil {
			err = errors.Join(err, e)
			b.tell.Warn(ctx, "outbox: whether earlier messages are stored is not known, so these are stored too",
				slog.String("topic", topic), slog.String("idempotency_key", keyOf(messages[i].Headers)),
				slog.Int("messages", len(index)), slog.Any("error", e))
		}
		for n, at := range index {
			store[at] = e != nil || stored[n]
		}
	}
	return store, err
}

func (b *Outbox) stored(ctx context.Context, topic string, keys [][]byte) ([]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.Timeout)
	defer cancel()
	stored, err := b.store.Stored(ctx, topic, keys)
	if err == nil && len(stored) != len(keys) {
		err = fmt.Errorf("the store answered for %d", len(stored))
	}
	if err != nil {
		return nil, fmt.Errorf("look for stored messages of %d keys of %s, without which their order is not known "+
			"(Config.Unordered does not ask): %w", len(keys), topic, err)
	}
	return stored, nil
}

// direct publishes what need not be stored, and marks what is not confirmed to be stored.
func (b *Outbox) direct(ctx context.Context, messages []broker.Message, store []bool, results []Result) {
	batch := make([]broker.Message, 0, len(messages))
	index := make([]int, 0, len(messages))
	for i := range messages {
		if store[i] {
			continue
		}
		batch = append(batch, messages[i])
		index = append(index, i)
	}
	if len(batch) == 0 {
		return
	}
	errs := b.inTime(ctx, batch)
	if errs != nil && len(errs) != len(batch) {
		err := fmt.Errorf("the publisher answered for %d of %d messages", len(errs), len(batch))
		errs = make([]error, len(batch))
		for i := range errs {
			errs[i] = err
		}
	}
	if errs == nil {
		for _, at := range index {
			results[at] = Confirmed
		}
		return
	}
	failed := make(map[lane]bool)
	for i, at := range index {
		l := lane{batch[i].Topic, string(batch[i].Key)}
		if errs[i] == nil && !(batch[i].Key != nil && failed[l]) {
			results[at] = Confirmed
			continue
		}
		if batch[i].Key != nil {
			failed[l] = true
		}
		store[at] = true
		b.tell.Warn(ctx, "outbox: not confirmed by the broker, stored for the relay",
			slog.String("idempotency_key", keyOf(batch[i].Headers)), slog.String("topic", batch[i].Topic), slog.Any("error", errs[i]))
	}
}

// inTime publishes within Timeout, or a part of it during an outage.
func (b *Outbox) inTime(ctx context.Context, batch []broker.Message) []error {
	limit := b.config.Timeout
	hurry := time.Now().UnixNano() < b.hurryUntil.Load()
	if hurry {
		limit /= 10
	}
	c, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	errs := b.publisher.Publish(c, batch)
	// A hurried one does not count, or a broker that is slow for a moment would never have its time again.
	if !hurry && errs != nil && c.Err() != nil && ctx.Err() == nil && !slices.Contains(errs, nil) {
		b.hurryUntil.Store(time.Now().Add(time.Second).UnixNano())
	}
	return errs
}

// lane is an order of messages.
type lane struct{ topic, key string }

// keep stores messages in their order, in one step.
func (b *Outbox) keep(ctx context.Context, messages []broker.Message, store []bool, results []Result) error {
	rows := rowsOf(messages, store)
	if len(rows) == 0 {
		return nil
	}
	// The caller's time may be over, by the publication that failed: that must not lose the message.
	ctx, cancel := wait.Detached(ctx, b.config.Timeout)
	defer cancel()
	if err := b.store.Store(ctx, rows); err != nil {
		return fmt.Errorf("publish: %d messages are neither confirmed nor stored: store: %w", len(rows), err)
	}
	for i := range store {
		if store[i] {
			results[i] = Stored
		}
	}
	return nil
}

// rowsOf makes rows of those messages that chosen says, or of all.
func rowsOf(messages []broker.Message, chosen []bool) []store.Outgoing {
	var rows []store.Outgoing
	for i := range messages {
		if chosen == nil || chosen[i] {
			m := &messages[i]
			rows = append(rows, store.Outgoing{Topic: m.Topic, MessageKey: m.Key, Headers: m.Headers, Payload: m.Value})
		}
	}
	return rows
}
