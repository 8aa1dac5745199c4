package outbox

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
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// RelayConfig configures a Relay. The zero value has sound defaults.
type RelayConfig struct {
	// Batch is how many rows one round claims at most. Default 200.
	Batch int
	// Lease is how long claimed rows are this relay's. At least four times Timeout. Default 1 minute.
	Lease time.Duration
	// Timeout limits each query and each publication. Default 10 seconds.
	Timeout time.Duration
	// Poll is how often Run looks for new rows, once it has found nothing to do. Default 500 ms.
	Poll time.Duration
	// Delays are the waits between the tries of a row; the one after the last is the last try. Default 1 s,
	// 2 s, 4 s.
	Delays []time.Duration
	// Revive is how often failed rows are tried once more without anybody asking, so that an outage needs
	// nobody to end. Negative: never, only by RetryFailed. Default 5 minutes.
	Revive time.Duration
	// Gauges is how often the rows are counted for the metrics. Negative: never. Default 15 seconds.
	Gauges time.Duration
	// Alias is where messages of a topic go that has moved, {"orders": "orders-2"}. Aliases may follow each
	// other.
	Alias map[string]string
	// Token makes the random tokens of claims. Default: 26 characters of crypto/rand.
	Token func() string
	// Now is asked for when to count and to revive, and for the age of the oldest row. Default time.Now.
	Now func() time.Time
	// StoreName is the label store of the gauges. Default: the store's package, such as "postgres".
	StoreName string
	// Observer gets OutboxPending, OutboxFailed and OutboxOldest, and OutboxSent by topic.
	Observer observe.Observer
	// Log gets what fails. Nil: slog.Default().
	Log *slog.Logger
}

// NewRelay makes a relay of the rows of o, which publishes to p.
func NewRelay(o store.Outbox, p broker.Publisher, c RelayConfig) (*Relay, error) {
	if o == nil {
		return nil, errors.New("outbox relay: no store: give one that has the table outbox")
	}
	if p == nil {
		return nil, errors.New("outbox relay: no publisher: give a broker")
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("outbox relay: %w", err)
	}
	c.StoreName = cmp.Or(c.StoreName, tell.StoreName(o))
	alias, err := topics.NewAlias(c.Alias)
	if err != nil {
		return nil, fmt.Errorf("outbox relay: Alias: %w", err)
	}
	return &Relay{
		store: o, publisher: p, config: c, alias: alias, tell: tell.Teller{Observer: c.Observer, Log: c.Log}, bell: wait.NewBell(),
	}, nil
}

func (c *RelayConfig) complete() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Lease", c.Lease}, {"Timeout", c.Timeout}, {"Poll", c.Poll}} {
		if f.value < 0 {
			return fmt.Errorf("%s is %v: it has to be positive, or 0 for the default", f.name, f.value)
		}
	}
	if c.Batch < 0 {
		return fmt.Errorf("Batch is %d: it has to be positive, or 0 for the default", c.Batch)
	}
	for _, d := range c.Delays {
		if d < 0 {
			return fmt.Errorf("Delays has %v: each has to be 0 or more", d)
		}
	}
	if c.Delays == nil {
		c.Delays = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	}
	c.Batch = cmp.Or(c.Batch, 200)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Lease = cmp.Or(c.Lease, max(time.Minute, 6*c.Timeout))
	c.Poll = cmp.Or(c.Poll, 500*time.Millisecond)
	c.Revive = cmp.Or(c.Revive, 5*time.Minute)
	c.Gauges = cmp.Or(c.Gauges, 15*time.Second)
	if c.Lease < 4*c.Timeout {
		return fmt.Errorf("Lease is %v and Timeout %v: a claim has to outlast a query, a publication and the removal: make Lease at least %v",
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
