package tiered

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Hint is a memory in front of a database: redis.Hints. It may lose anything at any time. An error means that
// nothing is known of what was done.
type Hint interface {
	// Look answers DUPLICATE or IN_PROGRESS where the memory may (DEDUP-031); Kind is 0 where the database has
	// to be asked, and then the memory has noted that the claim is being made.
	Look(ctx context.Context, claims []store.Claim) ([]store.Grant, error)
	// Succeeded notes claims that are SUCCESS in the database; only what the memory noted for the same owner
	// becomes one.
	Succeeded(ctx context.Context, completions []store.Completion) error
	// Failed takes back what was noted for these owners: whoever comes next asks the database.
	Failed(ctx context.Context, leases []store.Lease) error
	// Extended extends what was noted for these owners.
	Extended(ctx context.Context, renewals []store.Renewal) error
	// Forgotten forgets keys. The fence is the database's by then: what was claimed under a lower one, and
	// succeeds late, is not noted.
	Forgotten(ctx context.Context, leases []store.Lease) error
	Close() error
}

// Config is a store's. The zero value is ready to use.
type Config struct {
	// Timeout is how long the memory may take for an answer; 0 or less is 50 ms.
	Timeout time.Duration
	// Failures is how many answers in a row may fail or be late before the database is alone; 0 or less is 3.
	Failures int
	// Probe is how long it is alone before the memory is tried again; 0 or less is 1 s.
	Probe time.Duration
	// ForgetTimeout is how long Forget waits for the memory; 0 or less is 5 s.
	ForgetTimeout time.Duration
	// Name is the label "store" of the metric; "" is "redis".
	Name     string
	Observer observe.Observer
	Logger   *slog.Logger // nil: slog.Default()
	// Now is the clock of Probe; nil is time.Now. Leases are on the clocks of database and memory.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 50 * time.Millisecond
	}
	if c.Failures <= 0 {
		c.Failures = 3
	}
	if c.Probe <= 0 {
		c.Probe = time.Second
	}
	if c.ForgetTimeout <= 0 {
		c.ForgetTimeout = 5 * time.Second
	}
	if c.Name == "" {
		c.Name = "redis"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// ErrHintsRemain says that the database has forgotten keys, and the memory could not be told.
var ErrHintsRemain = errors.New("the database has forgotten the keys, but the memory in front of it may still answer that they are done: forget them again once it can be reached, or flush its hints")

// Store is the database behind a memory. Its methods may be called from several goroutines. Retries, dead
// letters, the outbox, and reading and cleaning of records are the database's own.
type Store[Tx any] struct {
	store.Full[Tx]
	hint   Hint
	config Config
	memory *breaker

	mu   sync.Mutex
	open map[any]*[]store.Completion // by transaction: what it has completed
}

// New puts hint in front of truth. Close closes both.
func New[Tx any](hint Hint, truth store.Full[Tx], config Config) *Store[Tx] {
	config = config.withDefaults()
	s := &Store[Tx]{Full: truth, hint: hint, config: config, open: make(map[any]*[]store.Completion)}
	s.memory = newBreaker(hint, config, tell.Teller{Observer: config.Observer, Log: config.Logger})
	return s
}

// Claim asks the memory, and the database for all that the memory may not decide.
func (s *Store[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants := make([]store.Grant, len(claims))
	which := lookable(claims)
	noted := make([]bool, len(claims)) // or perhaps, where the answer was lost
	if len(which) > 0 {
		// A copy: an answer that is late is not waited for, and claims is the caller's again by then.
		looked := slices.Clone(pick(claims, which))
		asked := s.memory.ask(ctx, func(ctx context.Context) (func(), error) {
			answers, err := s.hint.Look(ctx, looked)
			return func() {
				for n, i := range which {
					grants[i] = answers[n]
					grants[i].Hinted = answers[n].Kind != 0
				}
			}, err
		})
		for _, i := range which {
			noted[i] = asked && grants[i].Kind == 0
		}
	}
	var rest []int
	for i := range claims {
		if grants[i].Kind == 0 {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return grants, nil
	}
	answers, err := s.Full.Claim(ctx, pick(claims, rest))
	if err != nil {
		s.takeBack(ctx, claims, noted)
		return nil, err
	}
	for n, i := range rest {
		grants[i] = answers[n]
		noted[i] = noted[i] && grants[i].Kind != idem.AdmitProceed
	}
	s.takeBack(ctx, claims, noted)
	return grants, nil
}

// lookable are the claims that the memory is asked for: of one key, that no other claim of the batch names,
// outside of lanes, whose heads the database has to know.
func lookable(claims []store.Claim) []int {
	type scoped struct{ scope, key string }
	named := make(map[scoped]int, len(claims))
	for i := range claims {
		c := &claims[i]
		named[scoped{c.Scope, c.Key}]++
		if c.Dual() {
			named[scoped{c.Scope, c.Previous}]++
		}
	}
	which := make([]int, 0, len(claims))
	for i := range claims {
		c := &claims[i]
		if !c.Dual() && !c.Lane.Set() && named[scoped{c.Scope, c.Key}] == 1 {
			which = append(which, i)
		}
	}
	return which
}

func pick(claims []store.Claim, which []int) []store.Claim {
	if len(which) == len(claims) {
		return claims
	}
	picked := make([]store.Claim, len(which))
	for n, i := range which {
		picked[n] = claims[i]
	}
	return picked
}

func leaseOf(c *store.Claim) store.Lease {
	return store.Lease{Scope: c.Scope, Key: c.Key, Owner: c.Owner}
}

// takeBack marks FAILED what the memory noted and the database refused, also as a DUPLICATE: what that answer
// rests on may be forgotten, or cleaned, before the memory has noted it. (DEDUP-031)
func (s *Store[Tx]) takeBack(ctx context.Context, claims []store.Claim, noted []bool) {
	var leases []store.Lease
	for i := range claims {
		if noted[i] {
			leases = append(leases, leaseOf(&claims[i]))
		}
	}
	s.failed(ctx, leases)
}

func (s *Store[Tx]) succeeded(ctx context.Context, done []store.Completion) {
	if len(done) > 0 {
		s.memory.tell(ctx, func(ctx context.Context) error { return s.hint.Succeeded(ctx, done) })
	}
}

func (s *Store[Tx]) failed(ctx context.Context, leases []store.Lease) {
	if len(leases) > 0 {
		s.memory.tell(ctx, func(ctx context.Context) error { return s.hint.Failed(ctx, leases) })
	}
}

// Complete makes records SUCCESS in the database, then in the memory.
func (s *Store[Tx]) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	completed, err := s.Full.Complete(ctx, completions)
	if err != nil {
		return nil, err
	}
	var done []store.Completion
	var lost []store.Lease
	for i := range completions {
		switch c := &completions[i]; {
		case c.Lane.Set() || !mayBeNoted(&c.Lease):
		case completed[i]:
			done = append(done, *c)
		default:
			lost = append(lost, c.Lease)
		}
	}
	s.succeeded(ctx, done)
	s.failed(ctx, lost)
	return completed, nil
}

// mayBeNoted says whether the memory was asked for the claim of a lease.
func mayBeNoted(l *store.Lease) bool { return l.Owner != "" && l.Previous == "" }

// Settle ends deliveries in the database. The memory forgets their claims, whatever the answer.
func (s *Store[Tx]) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	settled, err := s.Full.Settle(ctx, settlements)
	var over []store.Lease
	for i := range settlements {
		if x := &settlements[i]; !x.Lane.Set() && mayBeNoted(&x.Lease) && (err != nil || settled[i] != store.SettledUnparked) {
			over = append(over, x.Lease)
		}
	}
	s.failed(ctx, over)
	return settled, err
}

// Renew extends leases in the database, then in the memory.
func (s *Store[Tx]) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	renewed, err := s.Full.Renew(ctx, renewals)
	if err != nil {
		return nil, err
	}
	var held []store.Renewal
	var lost []store.Lease
	for i := range renewals {
		switch r := &renewals[i]; {
		case !mayBeNoted(&r.Lease):
		case renewed[i]:
			held = append(held, *r)
		default:
			lost = append(lost, r.Lease)
		}
	}
	if len(held) > 0 {
		s.memory.tell(ctx, func(ctx context.Context) error { return s.hint.Extended(ctx, held) })
	}
	s.failed(ctx, lost)
	return renewed, nil
}

// Close closes memory and database.
func (s *Store[Tx]) Close() error { return errors.Join(s.hint.Close(), s.Full.Close()) }
