package lag

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// bounds are the offsets that there are now. A topic that cannot be asked, since it is gone or a partition of it has no
// leader, is left out of the groups, with a note; where that is all there is, it is the error.
func (l *Looker) bounds(ctx context.Context, groups []Group) (map[broker.TopicPartition]kafka.Span, error) {
	every := partitionsOf(groups, all)
	bounds, err := l.Broker.Bounds(ctx, every)
	if err == nil || ctx.Err() != nil {
		return bounds, err
	}
	topics := map[string][]broker.TopicPartition{}
	for _, p := range every {
		topics[p.Topic] = append(topics[p.Topic], p)
	}
	if len(topics) == 1 {
		return nil, err
	}
	bounds = map[broker.TopicPartition]kafka.Span{}
	var mu sync.Mutex
	var work errgroup.Group
	work.SetLimit(len(topics)) // those that fail take their time
	for topic, partitions := range topics {
		work.Go(func() error {
			some, err := l.Broker.Bounds(ctx, partitions)
			if err != nil && ctx.Err() == nil {
				l.note("topic %s cannot be looked at: %v", topic, err)
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(bounds, some)
			return nil
		})
	}
	_ = work.Wait() // the goroutines return none
	if len(bounds) == 0 {
		return nil, err
	}
	for i := range groups {
		groups[i].Partitions = slices.DeleteFunc(groups[i].Partitions, func(p Partition) bool {
			_, known := bounds[p.TopicPartition]
			return !known
		})
	}
	return bounds, ctx.Err()
}
