package kafka

import (
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// GroupNames are the consumer groups that the cluster knows, in order: those of other protocols, such as Connect's,
// are left out.
func (b *Broker) GroupNames(ctx context.Context) ([]string, error) {
	names, err := patiently(ctx, b, func(ctx context.Context) ([]string, error) {
		answer, err := b.client.ListGroups(ctx, &kafka.ListGroupsRequest{})
		if err == nil {
			err = answer.Error
		}
		if err != nil {
			return nil, err
		}
		var names []string
		for _, g := range answer.Groups {
			if g.ProtocolType == "consumer" || g.ProtocolType == "" { // none where nobody ever joined
				names = append(names, g.GroupID)
			}
		}
		slices.Sort(names)
		return slices.Compact(names), nil
	})
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", b.explain(err))
	}
	return names, nil
}

// Committed is where a group goes on in each partition that it has committed for.
func (b *Broker) Committed(ctx context.Context, group string) (map[broker.TopicPartition]int64, error) {
	committed, err := b.committed(ctx, group, nil)
	if err != nil {
		return nil, fmt.Errorf("offsets of group %q: %w", group, b.explain(err))
	}
	return committed, nil
}

// Bounds are the offsets of partitions that there are, [From, To).
func (b *Broker) Bounds(ctx context.Context, partitions []broker.TopicPartition) (map[broker.TopicPartition]Span, error) {
	bounds, err := b.bounds(ctx, byTopic(partitions))
	if err != nil {
		return nil, b.explain(err)
	}
	spans := make(map[broker.TopicPartition]Span, len(bounds))
	for at, bound := range bounds {
		spans[at] = Span{at, bound.first, bound.last}
	}
	return spans, nil
}
