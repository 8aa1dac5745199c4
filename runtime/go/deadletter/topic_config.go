package deadletter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/member"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/topics"
	"github.com/idem-spec/idem/runtime/go/store"
)

// TopicConfig says what to redrive from a dead-letter topic. Scope, Origin and Name are required.
type TopicConfig struct {
	Config
	// Scope is the consumer's, and Origin the topic whose dead letters in "<origin>.dlq.<scope>" are read.
	Scope, Origin string
	// Name is that of this campaign, such as "2026-07-rates". Its group "<scope>.redrive.<name>" remembers how
	// far it came: the same name goes on, a new one begins at the start of the topic.
	Name string
	// Filter selects. Since and Until are by the time at which the broker got the dead letter. A topic does
	// not keep the outcome: filter by ReasonPrefix.
	Filter store.DeadLetterFilter
	// Select, if any, leaves out those for which it is false. It is called from several goroutines.
	Select func(d *store.DeadLetter) bool
	// DryRun counts in Report.Matched, and neither publishes nor commits.
	DryRun bool
	// Sample, if any, is called with each dead letter that DryRun selects, from one goroutine at a time.
	Sample func(d *store.DeadLetter)
	// Alias is where retries of a topic go that has moved, as in retry.Config.
	Alias map[string]string
	// MaxBytes is the most that one fetch brings. Default 1 MiB.
	MaxBytes int
}

// FromTopic redrives dead letters from a topic: it reads those that are there now, publishes the selected
// ones to the retry topic, by their own keys, however many partitions either topic has, and commits what the
// broker has confirmed or the filter leaves out. What is redriven stays in the topic; a dead letter whose
// record says that it was redriven, or has succeeded, is skipped, so other campaigns may read the same
// topic. It returns where all is done, and where ctx is done: call it again, with the same Name, to go on.
// Config.Limit costs another reading, before; Config.After has no meaning here.
func FromTopic(ctx context.Context, b broker.Broker, records Records, c TopicConfig) (Report, error) {
	r, err := newTopicRun(b, records, c)
	if err != nil {
		return Report{}, fmt.Errorf("redrive from a topic: %w", err)
	}
	if !c.DryRun && r.config.Limit > 0 {
		dry := *r
		dry.dryRun, dry.sample, dry.report = true, nil, &topicReport{}
		planned, err := dry.run(ctx, b)
		if err != nil {
			return Report{}, fmt.Errorf("redrive from %s: count: %w", r.topic, err)
		}
		if planned.Matched > r.config.Limit {
			return Report{Matched: planned.Matched}, fmt.Errorf("redrive from %s: %d selected, Limit %d: %w",
				r.topic, planned.Matched, r.config.Limit, ErrTooMany)
		}
	}
	report, err := r.run(ctx, b)
	if err != nil {
		return report, fmt.Errorf("redrive from %s: %w", r.topic, err)
	}
	return report, nil
}

// topicRun is one reading of a topic.
type topicRun struct {
	runner
	publisher         broker.Publisher
	topic, retryTopic string
	group             string
	scope, origin     string
	filter            store.DeadLetterFilter
	selected          func(*store.DeadLetter) bool
	dryRun            bool
	sample            func(*store.DeadLetter)
	maxBytes          int
	report            *topicReport
}

// topicReport is shared by the partitions.
type topicReport struct {
	mu     sync.Mutex
	report Report
	pace   pacer
}

func newTopicRun(b broker.Broker, records Records, c TopicConfig) (*topicRun, error) {
	switch {
	case b == nil:
		return nil, errors.New("no broker")
	case records == nil:
		return nil, errors.New("no records: give the store that the consumer uses")
	case c.Scope == "" || c.Origin == "":
		return nil, fmt.Errorf("Scope is %q and Origin %q: both are needed to know the topic", c.Scope, c.Origin)
	case c.Name == "":
		return nil, errors.New("Name is empty: name the campaign, so that it can be stopped and go on")
	case c.Filter.Scope != "" && c.Filter.Scope != c.Scope:
		return nil, fmt.Errorf("filter: scope %q is not %q, whose topic it is", c.Filter.Scope, c.Scope)
	case c.Filter.Outcome != "":
		return nil, fmt.Errorf("filter: outcome %q: a topic does not keep it: filter by ReasonPrefix", c.Filter.Outcome)
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	alias, err := topics.NewAlias(c.Alias)
	if err != nil {
		return nil, fmt.Errorf("Alias: %w", err)
	}
	r := &topicRun{
		runner:    runner{records: records, config: c.Config, tell: tell.Teller{Log: c.Log}},
		publisher: b, scope: c.Scope, origin: c.Origin, filter: c.Filter, selected: c.Select, dryRun: c.DryRun, sample: c.Sample,
		topic:      broker.DeadLetterTopic(c.Origin, c.Scope),
		retryTopic: alias.OfRetry(broker.RetryTopic(c.Origin, c.Scope), c.Scope),
		group:      c.Scope + ".redrive." + c.Name,
		maxBytes:   c.MaxBytes,
		report:     &topicReport{pace: pacer{rate: c.Rate}},
	}
	if r.maxBytes <= 0 {
		r.maxBytes = 1 << 20
	}
	for _, name := range []string{r.topic, r.retryTopic} {
		if err := broker.CheckTopic(name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *topicRun) run(ctx context.Context, b broker.Broker) (Report, error) {
	g, err := b.Group(ctx, r.group, []string{r.topic})
	if err != nil {
		return Report{}, fmt.Errorf("join as %q: %w", r.group, err)
	}
	err = member.Run(ctx, g, &member.Config{
		Name: "redrive", MaxBytes: r.maxBytes, Commit: 500 * time.Millisecond, Timeout: r.config.Timeout,
		Backoff: 100 * time.Millisecond, BackoffMax: 10 * time.Second,
		Work: r.work, Finish: true, Tell: r.tell,
	})
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	return r.report.report, errors.Join(ctx.Err(), err)
}

// Letter reads a dead letter of a topic from its headers, leniently: faulty ones are why it is there. Its source is where
// it is in the topic of dead letters; a topic does not keep the outcome.
func Letter(m *broker.Message, scope, origin string) store.DeadLetter {
	return store.DeadLetter{
		Scope: scope, Key: valueOf(m.Headers, idem.IdempotencyKey), EventType: valueOf(m.Headers, idem.EventType),
		BizKey: valueOf(m.Headers, idem.BizKey), EventID: valueOf(m.Headers, idem.EventID),
		SourceTopic: m.Topic, SourcePartition: m.Partition, SourceOffset: m.Offset,
		RedriveCount: countOf(m.Headers, idem.RedriveCount), RetryCount: countOf(m.Headers, idem.RetryCount),
		HoldCount: countOf(m.Headers, idem.HoldCount), Reason: valueOf(m.Headers, idem.RejectReason),
		Topic: origin, MessageKey: m.Key, Headers: m.Headers, Payload: m.Value, CreatedAt: m.Time,
	}
}
