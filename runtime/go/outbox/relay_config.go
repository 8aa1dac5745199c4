package outbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/rounds"
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
	// Trouble, if any, is told after each round of Run what hinders it, nil where nothing does; then Run leaves it to
	// Trouble to log it. It is called by one goroutine.
	Trouble func(err error)
	// Log gets what fails: what fails in each round, once in 10 seconds. Nil: slog.Default().
	Log *slog.Logger
}

// NewRelay makes a relay of the rows of o, which publishes to p.
func NewRelay(o store.Outbox, p broker.Publisher, c RelayConfig) (*Relay, error) {
	for _, d := range c.Delays {
		if d < 0 {
			return nil, fmt.Errorf("outbox relay: Delays has %v: each has to be 0 or more", d)
		}
	}
	if c.Delays == nil {
		c.Delays = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	}
	c.Revive = cmp.Or(c.Revive, 5*time.Minute)
	loop, err := rounds.New(rounds.Config{
		Name: "outbox relay", Store: o, Table: "outbox", Publisher: p, Batch: c.Batch, Lease: c.Lease, Timeout: c.Timeout,
		Poll: cmp.Or(c.Poll, 500*time.Millisecond), Gauges: c.Gauges, Alias: c.Alias, Token: c.Token, Now: c.Now, StoreName: c.StoreName,
		Observer: c.Observer, Trouble: c.Trouble, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	r := &Relay{store: o, delays: c.Delays, loop: loop}
	loop.Every(c.Revive, c.Revive, r.revive)
	loop.Measure(r.gauges)
	return r, nil
}
