package rounds

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// removals is how often a removal is tried: without it the rows are published again.
const removals = 3

// Publish leaves, of the lease, the time for the claim's reply and for the removal. It goes on for Timeout when ctx
// is done: a publication that is given up may be there all the same, and would be doubled.
func (l *Loop) Publish(ctx context.Context, messages []broker.Message, spans []confirm.Span) []error {
	ctx, cancel := wait.Outlasting(ctx, l.Lease-3*l.Timeout, l.Timeout)
	defer cancel()
	return confirm.Publish(ctx, l.Publisher, messages, spans, l.Timeout)
}

// Count adds to a metric, by topic, what was confirmed.
func (l *Loop) Count(metric observe.Metric, n int, topic func(i int) string, errs []error) {
	if l.Observer == nil {
		return
	}
	byTopic := make(map[string]float64)
	for i := range n {
		if errs == nil || errs[i] == nil {
			byTopic[topic(i)]++
		}
	}
	for topic, n := range byTopic {
		l.Tell.Measure(metric, observe.Labels{Topic: topic}, n)
	}
}

// Remove has rows removed that the broker has confirmed, within Timeout, also when ctx is done.
func (l *Loop) Remove(ctx context.Context, remove func(ctx context.Context) error) error {
	ctx, cancel := wait.Detached(ctx, l.Timeout)
	defer cancel()
	for try := 1; ; try++ {
		err := remove(ctx)
		if err == nil || try == removals || !wait.For(ctx, time.Duration(try)*100*time.Millisecond) {
			return err
		}
	}
}
