package retry

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/rounds"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Config configures a Scheduler. The zero value has sound defaults.
type Config struct {
	// Batch is how many rows one round claims at most. Default 200.
	Batch int
	// Lease is how long claimed rows are this scheduler's. Once it is over, those that are still there are
	// claimed, and published, again. At least four times Timeout. Default 1 minute.
	Lease time.Duration
	// Timeout limits each query and each publication, so that one that stalls does not hang the loop.
	// Default 10 seconds.
	Timeout time.Duration
	// Poll is how long Run waits at most before it looks again for rows that others have written; it wakes
	// earlier when a row that it knows of falls due. Default 1 second.
	Poll time.Duration
	// MaxDelay caps how long a row that cannot be published waits before it is tried again: 1 second at
	// first, then twice as long each time. Default 1 minute.
	MaxDelay time.Duration
	// Sweep is how often lanes are repaired whose head ended without a word. Negative: never. Default 30
	// seconds.
	Sweep time.Duration
	// Gauges is how often the rows are counted for the metrics. Negative: never. Default 15 seconds.
	Gauges time.Duration
	// Alias sends what belongs to one topic to another: a retry topic by its name, or, by the name of an
	// origin topic, each scope's retry topic of that origin. It is for a topic that moves, such as to one
	// with more partitions: {"orders": "orders-2"} sends rows for orders.retry.payments to
	// orders-2.retry.payments. Aliases may follow each other.
	Alias map[string]string
	// Token makes the random tokens of claims. Default: 26 characters of crypto/rand.
	Token func() string
	// Now is asked for when to sweep and to count; what is due is the store's to say. Default time.Now.
	Now func() time.Time
	// StoreName is the label store of the gauges. Default: the store's package, such as "postgres".
	StoreName string
	// Observer gets RetriesPending, RetriesParked and RetryOldestDue, and RetriesPublished by topic.
	Observer observe.Observer
	// Trouble, if any, is told after each round of Run what hinders it, nil where nothing does; then Run leaves it to
	// Trouble to log it. It is called by one goroutine.
	Trouble func(err error)
	// Log gets what fails: what fails in each round, once in 10 seconds. Nil: slog.Default().
	Log *slog.Logger
}

// NewScheduler makes a scheduler of the rows of r, which publishes to p.
func NewScheduler(r store.Retries, p broker.Publisher, c Config) (*Scheduler, error) {
	loop, err := rounds.New(rounds.Config{
		Name: "retry scheduler", Store: r, Table: "msg_retry", Publisher: p, Batch: c.Batch, Lease: c.Lease, Timeout: c.Timeout,
		Poll: cmp.Or(c.Poll, time.Second), MaxDelay: c.MaxDelay, Gauges: c.Gauges, Alias: c.Alias, Token: c.Token, Now: c.Now, StoreName: c.StoreName,
		Observer: c.Observer, Trouble: c.Trouble, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	loop.Publisher = confirm.NewMissing(p, missing)
	s := &Scheduler{retries: r, loop: loop}
	loop.Every(cmp.Or(c.Sweep, 30*time.Second), 0, s.sweep)
	loop.Measure(s.gauges)
	return s, nil
}
