package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/names"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The defaults of a Config.
const (
	DefaultLease          = 30 * time.Second
	DefaultHandlerTimeout = 30 * time.Second
	DefaultClockSkew      = 5 * time.Minute

	// LeaseMargin is what a lease that nobody renews has beyond the handler's time limit, to settle in.
	LeaseMargin = 10 * time.Second
)

// Config is what a Guard is made of. Scope is needed; all else has a default.
type Config struct {
	// Scope is the consumer, 1 to 200 of [A-Za-z0-9._-]: those who share it share the records. (DEDUP-010)
	Scope string
	// Publisher publishes dead letters, where DeadLetterTopic says so, or the store has no table for them.
	Publisher broker.Publisher
	// Delays takes the deliveries to come, where there is no table for them or none is wanted. Nil: the store's
	// table msg_retry.
	Delays Delayer
	// DeadLetterTopic sends dead letters to <origin>.dlq.<scope>, not to the table dead_letter.
	DeadLetterTopic bool
	// Retention is how long records are kept, by the store's own setting. A message that was produced before
	// cannot be told from new, and is TOO_OLD. 0: store.DefaultRetention. (DEDUP-029)
	Retention time.Duration
	// ClockSkew is how far the clocks of producers may be ahead: a message is TOO_OLD that much earlier, since it
	// may be older than it says. 0: 5 minutes; negative: none.
	ClockSkew time.Duration
	// Limits are the most that the headers of a message can ask for. (RETRY-003)
	Limits idem.PartialPolicy
	// Lease is how long a claim holds in mode Idempotent, renewed at a third. 0: 30 s. In the other modes it is
	// the handler's time limit and LeaseMargin, and nobody renews it. (DEDUP-028)
	Lease time.Duration
	// HandlerTimeout is that of routes which give none. 0: 30 s.
	HandlerTimeout time.Duration
	// Rules are what Do and DoTx go by.
	Rules Rules
	// Now is the time, for ages and for the next_retry_time header. Leases run on the store's own clock. Nil:
	// time.Now.
	Now      func() time.Time
	Observer observe.Observer // nil: none
	// Log gets a line about each delivery: ERROR for dead letters, WARN for retries, DEBUG for what went well. That of
	// a handler which panicked says where, at=handlers.go:34; the stack is a line of its own, at DEBUG, since it may be
	// long and name what is nobody's business. Nil: slog.Default().
	Log *slog.Logger
	// NoDeliveryLog leaves the lines about deliveries to the Observer, such as that of package observe/log.
	NoDeliveryLog bool
}

// Delayer takes deliveries to come, in place of a table. The answer is nil where all are confirmed; else it has
// one entry for each row, nil where that one is. (DEDUP-021)
type Delayer interface {
	PublishRetries(ctx context.Context, rows []store.Retry) []error
}

// Guard guards the deliveries of one scope.
type Guard struct {
	store      store.Store
	c          Config
	retryTable bool // deliveries to come are rows of the store
	deadTable  bool // and so are dead letters
	storeName  string
	beats      beats
}

// New makes a Guard. The error names the field, what is wrong with it, and what would be right.
func New(s store.Store, c Config) (*Guard, error) {
	if s == nil {
		return nil, errors.New("guard: no store: give one of package memory, sqlite, postgres, redis or tiered")
	}
	if c.Scope == "" || !names.Is(c.Scope) {
		return nil, fmt.Errorf("guard: Scope is %q: give 1 to 200 characters of [A-Za-z0-9._-], usually the consumer group's name", c.Scope)
	}
	for _, d := range []struct {
		name    string
		value   *time.Duration
		preset  time.Duration
		atLeast time.Duration
	}{
		{"Retention", &c.Retention, store.DefaultRetention, time.Minute},
		{"Lease", &c.Lease, DefaultLease, 10 * time.Millisecond},
		{"HandlerTimeout", &c.HandlerTimeout, DefaultHandlerTimeout, time.Millisecond},
	} {
		if *d.value == 0 {
			*d.value = d.preset
		}
		if *d.value < d.atLeast {
			return nil, fmt.Errorf("guard: %s is %v: give at least %v, or 0 for %v", d.name, *d.value, d.atLeast, d.preset)
		}
	}
	if c.ClockSkew == 0 {
		c.ClockSkew = DefaultClockSkew
	}
	c.ClockSkew = max(c.ClockSkew, 0)
	if c.ClockSkew >= c.Retention {
		return nil, fmt.Errorf("guard: ClockSkew is %v, and Retention %v: with no less every message is TOO_OLD", c.ClockSkew, c.Retention)
	}
	if _, err := idem.ResolvePolicy(idem.PartialPolicy{}, idem.DefaultPolicy(), c.Limits); err != nil {
		return nil, fmt.Errorf("guard: Limits: %w", err)
	}
	if err := c.Rules.Check(); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &Guard{store: s, c: c, retryTable: s.FollowUps() && c.Delays == nil, deadTable: s.FollowUps() && !c.DeadLetterTopic}
	if !g.retryTable && c.Delays == nil {
		return nil, errors.New("guard: the store keeps records alone, and Delays is nil: give retry.DelayTopics, or a store with the table msg_retry (sqlite, postgres, tiered)")
	}
	if !g.deadTable && c.Publisher == nil {
		return nil, errors.New("guard: dead letters go to a topic, and Publisher is nil: give the broker, or a store with the table dead_letter and DeadLetterTopic false")
	}
	g.storeName = tell.StoreName(s)
	if g.c.Now == nil {
		g.c.Now = time.Now
	}
	if g.c.Observer == nil {
		g.c.Observer = observe.None{}
	}
	if g.c.Log == nil {
		g.c.Log = slog.Default()
	}
	return g, nil
}

// Scope is the guard's scope.
func (g *Guard) Scope() string { return g.c.Scope }

// Store is the guard's store.
func (g *Guard) Store() store.Store { return g.store }

// CanPark says whether lanes can be parked: the store has a table for what waits, and no Delays takes its place.
func (g *Guard) CanPark() bool { return g.retryTable }

// timeout is the time limit of a delivery's handler.
func (g *Guard) timeout(r *Rules) time.Duration {
	if r.HandlerTimeout > 0 {
		return r.HandlerTimeout
	}
	return g.c.HandlerTimeout
}

// lease is how long a claim of a route holds.
func (g *Guard) lease(r *Rules) time.Duration {
	if r.Mode == Idempotent {
		return g.c.Lease
	}
	return g.timeout(r) + LeaseMargin
}
