package kafka

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Commit is fenced here and at the broker. An offset below one that this generation has committed is left
// out: commits that overtake each other never set the group back.
func (n *generation) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	if err := n.commit(ctx, offsets); err != nil {
		return fmt.Errorf("commit %d partitions of group %q: %w", len(offsets), n.group.name, n.group.broker.explain(err))
	}
	return nil
}

func (n *generation) commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for at := range offsets {
		if !n.has(at) {
			return fmt.Errorf("%s/%d is not this member's partition", at.Topic, at.Partition)
		}
	}
	n.fence.RLock()
	defer n.fence.RUnlock()
	n.commits.Lock()
	defer n.commits.Unlock()
	if n.ctx.Err() != nil {
		return broker.ErrGenerationOver
	}
	byTopic := map[string]map[int]int64{}
	for at, offset := range offsets {
		if before, ok := n.committed[at]; ok && offset <= before {
			continue
		}
		if byTopic[at.Topic] == nil {
			byTopic[at.Topic] = map[int]int64{}
		}
		byTopic[at.Topic][int(at.Partition)] = offset
	}
	err := n.kafka.CommitOffsets(byTopic)
	if err != nil && generationOver(err) {
		return fmt.Errorf("%w: %w", broker.ErrGenerationOver, err)
	} else if err != nil {
		return err
	}
	for topic, partitions := range byTopic {
		for partition, offset := range partitions {
			n.committed[broker.TopicPartition{Topic: topic, Partition: int32(partition)}] = offset
		}
	}
	return nil
}
