package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/topics"
	"github.com/idem-spec/idem/runtime/go/store"
)

// DelayConfig says which delay topics there are.
type DelayConfig struct {
	// Scope is the consumer's. Required.
	Scope string
	// Origins are the origin topics whose retries come here. At least one.
	Origins []string
	// Buckets are the delays that have a topic, in whole seconds. A delivery waits in the topic of the
	// longest one that is no longer than its delay, or of the shortest one. Default 1 s, 10 s, 1 min, 10 min,
	// 1 h.
	Buckets []time.Duration
	// Alias is where retries of a topic go that has moved, as in Config.
	Alias map[string]string
	// Timeout limits each publication. Default 10 seconds.
	Timeout time.Duration
}

// DelayTopics publishes deliveries to topics in which they wait, for teams that want no table; it is the
// guard's Delayer. Each origin has a topic for each bucket, "<origin>.delay-<seconds>.<scope>", which has
// to exist, to keep messages for longer than the longest delay, and to take as large ones as the origin. A
// Forwarder brings them to the retry topic. Lanes need a table: there is no Park here.
type DelayTopics struct {
	publisher broker.Publisher
	config    DelayConfig
	alias     topics.Alias
	// stops are the delay topics by name, and names those of an origin in the order of the buckets.
	stops map[string]stop
	names map[string][]string
}

// stop is where the messages of a delay topic go.
type stop struct {
	origin, retryTopic string
}

// NewDelayTopics checks the names, which may have 249 bytes. (RETRY-030)
func NewDelayTopics(p broker.Publisher, c DelayConfig) (*DelayTopics, error) {
	d := &DelayTopics{publisher: p, config: c, stops: map[string]stop{}, names: map[string][]string{}}
	if err := d.complete(); err != nil {
		return nil, fmt.Errorf("delay topics: %w", err)
	}
	return d, nil
}

func (d *DelayTopics) complete() (err error) {
	c := &d.config
	switch {
	case d.publisher == nil:
		return errors.New("no publisher: give a broker")
	case c.Scope == "":
		return errors.New("Scope is empty: give the consumer's")
	case len(c.Origins) == 0:
		return errors.New("Origins is empty: give the topics that the consumer reads")
	case c.Timeout < 0:
		return fmt.Errorf("Timeout is %v: it has to be positive, or 0 for the default", c.Timeout)
	}
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	if len(c.Buckets) == 0 {
		c.Buckets = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}
	}
	c.Buckets = slices.Compact(slices.Sorted(slices.Values(c.Buckets)))
	for _, b := range c.Buckets {
		if b < time.Second || b%time.Second != 0 {
			return fmt.Errorf("Buckets has %v: each is at least one second, and whole ones", b)
		}
	}
	if d.alias, err = topics.NewAlias(c.Alias); err != nil {
		return fmt.Errorf("Alias: %w", err)
	}
	for _, origin := range c.Origins {
		if err := d.add(origin); err != nil {
			return fmt.Errorf("Origins: %w", err)
		}
	}
	return nil
}

func (d *DelayTopics) add(origin string) error {
	if err := broker.CheckTopic(origin); err != nil {
		return err
	}
	retryTopic := broker.RetryTopic(origin, d.config.Scope)
	to := d.alias.OfRetry(retryTopic, d.config.Scope)
	if err := broker.CheckTopic(to); err != nil {
		return err
	}
	var names []string
	for _, b := range d.config.Buckets {
		name := origin + ".delay-" + strconv.FormatInt(int64(b/time.Second), 10) + "." + d.config.Scope
		if err := broker.CheckTopic(name); err != nil {
			return err
		}
		d.stops[name] = stop{origin: origin, retryTopic: to}
		names = append(names, name)
	}
	d.names[origin] = names
	return nil
}

// Topics are the delay topics, sorted, for whoever creates them.
func (d *DelayTopics) Topics() []string {
	var names []string
	for name := range d.stops {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ErrParkNeedsTable says that a message should wait behind the head of its lane, which only a table can
// do: use a store that has msg_retry, or a route that does not park.
var ErrParkNeedsTable = errors.New("parking needs a table: use a store with follow-ups, or Order Block or Unordered")

// PublishRetries publishes deliveries to wait, those that are due at once to their retry topic. The answer
// is nil where all are confirmed, else it has one entry for each row. What is confirmed is durable: the
// delivery before it may be acknowledged. (DEDUP-021)
func (d *DelayTopics) PublishRetries(ctx context.Context, rows []store.Retry) []error {
	messages := make([]broker.Message, 0, len(rows))
	index := make([]int, 0, len(rows))
	var errs []error
	fail := func(i int, err error) {
		if errs == nil {
			errs = make([]error, len(rows))
		}
		errs[i] = err
	}
	for i := range rows {
		m, err := d.message(&rows[i])
		if err != nil {
			fail(i, err)
			continue
		}
		messages = append(messages, m)
		index = append(index, i)
	}
	if len(messages) == 0 {
		return errs
	}
	for i, err := range confirm.Publish(ctx, d.publisher, messages, nil, d.config.Timeout) {
		if err != nil {
			fail(index[i], fmt.Errorf("publish to wait: %w", err))
		}
	}
	return errs
}

func (d *DelayTopics) message(row *store.Retry) (broker.Message, error) {
	if row.Park {
		return broker.Message{}, ErrParkNeedsTable
	}
	origin, ok := broker.OriginOf(row.Topic, d.config.Scope)
	if !ok || d.names[origin] == nil {
		return broker.Message{}, fmt.Errorf("delay topics of scope %q: %q is no retry topic of theirs: add its origin to Origins",
			d.config.Scope, row.Topic)
	}
	m := broker.Message{Key: row.MessageKey, Value: row.Payload, Headers: row.Headers}
	m.Topic = d.waitIn(origin, row.Due)
	return m, nil
}

// waitIn is the topic for what has still to wait: the retry topic where it is due.
func (d *DelayTopics) waitIn(origin string, left time.Duration) string {
	names := d.names[origin]
	if left <= 0 {
		return d.stops[names[0]].retryTopic
	}
	i := 0
	for i+1 < len(names) && d.config.Buckets[i+1] <= left {
		i++
	}
	return names[i]
}

// bucketOf is the delay of a delay topic.
func (d *DelayTopics) bucketOf(topic string) time.Duration {
	return d.config.Buckets[max(0, slices.Index(d.names[d.stops[topic].origin], topic))]
}
