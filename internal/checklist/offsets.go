package checklist

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// offsets watches what a group commits.
type offsets struct {
	kafka  *kafka.Broker
	group  string
	topics []string

	// asking is held over a look: of two at once the first answer may come last, and look like a way back.
	asking sync.Mutex

	mu      sync.Mutex
	last    map[broker.TopicPartition]int64
	commits []history.Commit
}

// watch looks from time to time, until ctx ends. A broker that is away is asked again.
func (o *offsets) watch(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = o.look(ctx)
		pause(ctx, 200*time.Millisecond)
	}
}

// look writes down each change.
func (o *offsets) look(ctx context.Context) ([]kafka.Lag, error) {
	o.asking.Lock()
	defer o.asking.Unlock()
	lags, err := o.kafka.Lag(ctx, o.group, o.topics...)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range lags {
		if before, seen := o.last[l.TopicPartition]; !seen || before != l.Committed {
			o.last[l.TopicPartition] = l.Committed
			o.commits = append(o.commits, history.Commit{Group: o.group, Topic: l.Topic, Partition: l.Partition, Offset: l.Committed})
		}
	}
	return lags, nil
}

// unread names the messages behind what the group has committed, and where they are.
func (b *bench) unread(ctx context.Context, each func(key, at string)) error {
	lags, err := b.offsets.look(ctx)
	if err != nil {
		return err
	}
	for _, l := range lags {
		for offset := l.Committed; offset < l.End; {
			batch, next, err := b.kafka.Scan(ctx, l.TopicPartition, offset, 1<<20)
			if err != nil {
				return err
			}
			for _, m := range batch.Messages {
				each(headerOf(m.Headers, "idempotency_key"),
					fmt.Sprintf("offset %d of %s/%d, which the group had committed up to %d", m.Offset, l.Topic, l.Partition, l.Committed))
			}
			offset = next
		}
	}
	return nil
}

// take gives the changes, in order, and begins anew with the last of each partition.
func (o *offsets) take() []history.Commit {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.commits
	o.commits = nil
	for at, offset := range o.last {
		o.commits = append(o.commits, history.Commit{Group: o.group, Topic: at.Topic, Partition: at.Partition, Offset: offset})
	}
	return taken
}

// pause waits, or until ctx ends, and says whether it waited.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
