package rounds

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
)

// Config is what the configurations of a relay and of a scheduler have in common, field by field.
type Config struct {
	// Name begins errors and log lines: "outbox relay".
	Name string
	// Store has the table of the rows.
	Store     any
	Table     string
	Publisher broker.Publisher

	Batch                                  int
	Lease, Timeout, Poll, MaxDelay, Gauges time.Duration
	Alias                                  map[string]string
	Token                                  func() string
	Now                                    func() time.Time
	StoreName                              string
	Observer                               observe.Observer
	// Trouble, if any, is told in place of the log, after each round, what hinders it.
	Trouble func(err error)
	Log     *slog.Logger
}

// New makes a Loop. The error names the field, and what would be right.
func New(c Config) (*Loop, error) {
	if c.Store == nil {
		return nil, fmt.Errorf("%s: no store: give one that has the table %s", c.Name, c.Table)
	}
	if c.Publisher == nil {
		return nil, errors.New(c.Name + ": no publisher: give a broker")
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	alias, err := topics.NewAlias(c.Alias)
	if err != nil {
		return nil, fmt.Errorf("%s: Alias: %w", c.Name, err)
	}
	return &Loop{Config: c, Topics: alias, Tell: tell.Teller{Observer: c.Observer, Log: c.Log}, bell: wait.NewBell()}, nil
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
	c.MaxDelay = cmp.Or(c.MaxDelay, time.Minute)
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
	c.StoreName = cmp.Or(c.StoreName, tell.StoreName(c.Store))
	return nil
}
