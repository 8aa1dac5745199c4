package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// check says whether the move keeps the order.
func (g *Grow) check(ctx context.Context) error {
	counts, err := g.Broker.partitions(ctx, []string{g.Old}, patience{g.Broker.config.UnknownTopicFor, g.Broker.config.RequestTimeout})
	if err != nil {
		return err
	}
	if g.Partitions <= counts[g.Old] {
		return refuse("%s has %d partitions, and %s would have %d: it needs more", g.Old, counts[g.Old], g.New, g.Partitions)
	}
	config, err := g.topicConfig(ctx, g.Old)
	if err != nil {
		return err
	}
	if policy, ok := config["cleanup.policy"]; ok && strings.Contains(policy, "compact") {
		return refuse("%s is compacted: the last message of each key is to stay, and the new topic would not have it", g.Old)
	}
	if err := g.checkNew(ctx); err != nil {
		return err
	}
	return g.checkGroups(ctx)
}

// checkNew looks at a new topic that is there before we have made it.
func (g *Grow) checkNew(ctx context.Context) error {
	counts, missing, err := g.Broker.count(ctx, []string{g.New})
	switch {
	case err != nil:
		return err
	case missing != "" && g.State.Step == "":
		return nil
	case missing != "":
		// Known to whoever made it; the brokers tell each other.
		if counts, err = g.Broker.partitions(ctx, []string{g.New}, patience{g.Broker.config.UnknownTopicFor, g.Broker.config.RequestTimeout}); errors.Is(err, broker.ErrUnknownTopic) {
			return refuse("%s was created, and is gone", g.New)
		} else if err != nil {
			return err
		}
	}
	if counts[g.New] != g.Partitions {
		return refuse("%s is there and has %d partitions, not %d", g.New, counts[g.New], g.Partitions)
	}
	if g.State.Step == "" || g.State.Step == StepCreated {
		empty, err := g.empty(ctx, g.New)
		if err == nil && !empty {
			return refuse("%s has messages, and %s is not fenced: somebody writes to both, and the order within a key is lost", g.New, g.Old)
		}
		return err
	}
	return nil
}

// empty says that a topic has never had a message.
func (g *Grow) empty(ctx context.Context, topic string) (bool, error) {
	ends, err := g.ends(ctx, topic)
	return !slices.ContainsFunc(ends, func(end int64) bool { return end > 0 }), err
}

// ends are the offsets behind the last messages, by partition.
func (g *Grow) ends(ctx context.Context, topic string) ([]int64, error) {
	counts, err := g.Broker.partitions(ctx, []string{topic}, patience{0, g.Broker.config.RequestTimeout})
	if err != nil {
		return nil, err
	}
	var ids []int32
	for p := range counts[topic] {
		ids = append(ids, p)
	}
	bounds, err := g.Broker.bounds(ctx, map[string][]int32{topic: ids})
	if err != nil {
		return nil, err
	}
	ends := make([]int64, len(ids))
	for at, bound := range bounds {
		ends[at.Partition] = bound.last
	}
	return ends, nil
}

// checkGroups looks for groups that nobody has named, and for those that read the new topic.
func (g *Grow) checkGroups(ctx context.Context) error {
	reading, err := g.readers(ctx)
	if err != nil {
		return err
	}
	var named []string
	for _, group := range g.Groups {
		named = append(named, group.Name)
		if g.State.Step != StepDrained && slices.Contains(reading[g.New], group.Name) {
			return refuse("group %s reads %s already, and %s is not drained: stop it, and remove what it has committed by kafka-consumer-groups --delete-offsets --group %s --topic %s", group.Name, g.New, g.Old, group.Name, g.New)
		}
	}
	for _, name := range reading[g.Old] {
		if !slices.Contains(named, name) && !slices.Contains(g.Ignore, name) {
			return refuse("group %s reads %s too: name it, or ignore it where nobody runs it any more", name, g.Old)
		}
	}
	return nil
}

// readers are the groups that have committed offsets of the topics, or have members that subscribe to them.
func (g *Grow) readers(ctx context.Context) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*g.Broker.config.RequestTimeout)
	defer cancel()
	client := g.Broker.client
	listed, err := client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err == nil {
		err = listed.Error
	}
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	partitions := map[string][]int32{}
	for _, topic := range []string{g.Old, g.New} {
		counts, _, err := g.Broker.count(ctx, []string{topic})
		if err != nil {
			return nil, err
		}
		for p := range counts[topic] {
			partitions[topic] = append(partitions[topic], p)
		}
	}
	readers := map[string][]string{}
	for _, group := range listed.Groups {
		topics, err := g.reads(ctx, group.GroupID, partitions)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", group.GroupID, err)
		}
		for _, topic := range topics {
			readers[topic] = append(readers[topic], group.GroupID)
		}
	}
	return readers, nil
}

// reads are those of the topics that a group reads.
func (g *Grow) reads(ctx context.Context, group string, partitions map[string][]int32) ([]string, error) {
	seen := map[string]bool{}
	committed, err := g.Broker.committed(ctx, group, partitions)
	if err != nil {
		return nil, err
	}
	for at := range committed {
		seen[at.Topic] = true
	}
	described, err := g.Broker.describeGroup(ctx, group)
	// Groups of another protocol, such as Connect's, cannot be described in this way; theirs is what they have
	// committed.
	var code kafka.Error
	if err != nil && !errors.As(err, &code) {
		return nil, err
	}
	for _, m := range described.Members {
		for _, topic := range m.Topics {
			seen[topic] = true
		}
	}
	var topics []string
	for _, topic := range []string{g.Old, g.New} {
		if seen[topic] {
			topics = append(topics, topic)
		}
	}
	return topics, nil
}
