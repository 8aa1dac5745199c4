package retry

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/topics"
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

func (c *Config) complete() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Lease", c.Lease}, {"Timeout", c.Timeout}, {"Poll", c.Poll}, {"MaxDelay", c.MaxDelay}} {
		if f.value < 0 {
			return fmt.Errorf("%s is %v: it has to be positive, or 0 for the default", f.name, f.value)
		}
	}
	if c.Batch < 0 {
		return fmt.Errorf("Batch is %d: it has to be positive, or 0 for the default", c.Batch)
	}
	c.Batch = cmp.Or(c.Batch, 200)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Lease = cmp.Or(c.Lease, max(time.Minute, 6*c.Timeout))
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.MaxDelay = cmp.Or(c.MaxDelay, time.Minute)
	c.Sweep = cmp.Or(c.Sweep, 30*time.Second)
	c.Gauges = cmp.Or(c.Gauges, 15*time.Second)
	if c.Lease < 4*c.Timeout {
		return fmt.Errorf("Lease is %v and Timeout %v: a claim has to outlast a query, a publication and the mark: make Lease at least %v",
			c.Lease, c.Timeout, 4*c.Timeout)
	}
	if c.Token == nil {
		c.Token = rand.Text
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// NewScheduler makes a scheduler of the rows of r, which publishes to p.
func NewScheduler(r store.Retries, p broker.Publisher, c Config) (*Scheduler, error) {
	if r == nil {
		return nil, errors.New("retry scheduler: no store: give one that has the table msg_retry")
	}
	if p == nil {
		return nil, errors.New("retry scheduler: no publisher: give a broker")
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("retry scheduler: %w", err)
	}
	c.StoreName = cmp.Or(c.StoreName, tell.StoreName(r))
	alias, err := topics.NewAlias(c.Alias)
	if err != nil {
		return nil, fmt.Errorf("retry scheduler: Alias: %w", err)
	}
	return newScheduler(r, p, c, alias), nil
}
