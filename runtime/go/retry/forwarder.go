package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/member"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// ForwarderConfig configures a Forwarder. The zero value has sound defaults.
type ForwarderConfig struct {
	// Group is the consumer group of all forwarders of the scope. Default "<scope>.delay".
	Group string
	// Window is how many messages of a partition are looked at at once, at most. Default 1000.
	Window int
	// MaxBytes is the most that one fetch brings. Default 1 MiB.
	MaxBytes int
	// Commit is how often offsets are committed. Default 500 ms.
	Commit time.Duration
	// Timeout limits each publication and each commit. Default 10 seconds.
	Timeout time.Duration
	// Now is the clock that tells what is due, that of the services which wrote next_retry_time. Default
	// time.Now.
	Now func() time.Time
	// Observer gets RetriesPublished by topic.
	Observer observe.Observer
	// Log gets what fails. Nil: slog.Default().
	Log *slog.Logger
}

// Forwarder is a member of the group of the delay topics. It waits until each message is due, publishes it
// to the retry topic as it is, and commits once the broker has confirmed it, contiguously. Messages of a
// window go on when they are due, in whatever order. Where the window is full, a message at its front that
// has waited for as long as its bucket says, and is not due, is published to a delay topic again, of what it
// has left to wait: so none waits much longer than it should, and nothing is early. Without a
// next_retry_time that can be read a message is due.
//
// What cannot be published is tried again and again, and nothing is committed past it: others behind it go
// on, up to the window. After a rebalance or a restart those are published again, which the guard's records
// make harmless. Any number of forwarders may run, each for one goroutine.
type Forwarder struct {
	broker broker.Broker
	delay  *DelayTopics
	config ForwarderConfig
	tell   tell.Teller
}

// NewForwarder makes a forwarder of the topics of d.
func NewForwarder(b broker.Broker, d *DelayTopics, c ForwarderConfig) (*Forwarder, error) {
	switch {
	case b == nil:
		return nil, errors.New("forwarder: no broker")
	case d == nil:
		return nil, errors.New("forwarder: no delay topics: make them by NewDelayTopics")
	case c.Window < 0 || c.MaxBytes < 0 || c.Commit < 0 || c.Timeout < 0:
		return nil, fmt.Errorf("forwarder: Window %d, MaxBytes %d, Commit %v, Timeout %v: each has to be positive, or 0 for the default",
			c.Window, c.MaxBytes, c.Commit, c.Timeout)
	}
	c.Group = cmp.Or(c.Group, d.config.Scope+".delay")
	c.Window = cmp.Or(c.Window, 1000)
	c.MaxBytes = cmp.Or(c.MaxBytes, 1<<20)
	c.Commit = cmp.Or(c.Commit, 500*time.Millisecond)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Forwarder{broker: b, delay: d, config: c, tell: tell.Teller{Observer: c.Observer, Log: c.Log}}, nil
}

// Run works until ctx is done, and returns nil then. It is an error at the start where a topic is missing.
func (f *Forwarder) Run(ctx context.Context) error {
	names := f.delay.Topics()
	g, err := f.broker.Group(ctx, f.config.Group, names)
	if err != nil {
		return fmt.Errorf("forwarder: join %d delay topics as %q: %w", len(names), f.config.Group, err)
	}
	return member.Run(ctx, g, &member.Config{
		Name: "retry forwarder", MaxBytes: f.config.MaxBytes, Commit: f.config.Commit, Timeout: f.config.Timeout,
		Backoff: 100 * time.Millisecond, BackoffMax: 30 * time.Second,
		Work: f.work, Tell: f.tell,
	})
}

// waiting is a message in the window.
type waiting struct {
	broker.Message
	due  time.Time
	done bool
}

// dueOf is when a message is due, the zero time where it does not say.
func dueOf(m *broker.Message) time.Time {
	for i := range m.Headers {
		if m.Headers[i].Name == idem.NextRetryTime.String() && m.Headers[i].Value != nil {
			if due, err := time.Parse(time.RFC3339Nano, string(m.Headers[i].Value)); err == nil {
				return due
			}
		}
	}
	return time.Time{}
}
