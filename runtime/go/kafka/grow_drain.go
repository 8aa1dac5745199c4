package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// sent waits until the outbox has no message for the old topic. Those that it has go to the new one by the
// relay's alias; whoever wrote to it directly before would overtake them.
func (g *Grow) sent(ctx context.Context) error {
	if g.Tables != nil {
		err := g.until(ctx, func(ctx context.Context) (string, error) {
			n, err := g.Tables.Outbox(ctx, []string{g.Old})
			if err != nil || n == 0 {
				return "", err
			}
			return fmt.Sprintf("the outbox has %d messages for %s, which takes none: run its relay with the alias %s=%s, and stop the producers that write to %s", n, g.Old, g.Old, g.New, g.Old), nil
		})
		if err != nil {
			return err
		}
	}
	g.report("producers may write to %s now", g.New)
	return nil
}

// drain waits until nothing of the old topic is left to do.
//
// A message that is not done moves between the logs and the tables, and one look at each of them could miss
// it. So the logs are looked at twice, with the tables in between: it cannot have been in no log's rest at
// first, in no table then, and have come to no log's end since.
func (g *Grow) drain(ctx context.Context) error {
	return g.until(ctx, func(ctx context.Context) (string, error) {
		left, before, err := g.logs(ctx)
		if err != nil || left != "" {
			return left, err
		}
		left, err = g.rows(ctx)
		if err != nil || left != "" {
			return left, err
		}
		left, after, err := g.logs(ctx)
		if err != nil || left != "" {
			return left, err
		}
		if !maps.Equal(before, after) {
			return "messages were published to retry topics meanwhile", nil
		}
		return "", nil
	})
}

// rows is what the tables have left.
func (g *Grow) rows(ctx context.Context) (string, error) {
	if g.Tables == nil {
		return "", nil
	}
	scopes := g.scopes()
	retryTopics := []string{}
	for _, scope := range scopes {
		retryTopics = append(retryTopics, broker.RetryTopic(g.Old, scope))
	}
	topics := append([]string{g.Old}, retryTopics...)
	unsent, err := g.Tables.Outbox(ctx, topics)
	if err != nil {
		return "", err
	}
	rows, lanes, err := g.Tables.Retries(ctx, topics, scopes)
	switch {
	case err != nil:
		return "", err
	case unsent > 0:
		return fmt.Sprintf("the outbox has %d messages for %s again: stop the producers that write to it, and run the relay with the alias %s=%s", unsent, g.Old, g.Old, g.New), nil
	case rows > 0 || lanes > 0:
		return fmt.Sprintf("%d retries and %d parked lanes of %s", rows, lanes, g.Old), nil
	}
	return "", nil
}

// logs is what the groups have left to read, of the old topic and those of its retries. The ends are those
// of the retry topics.
func (g *Grow) logs(ctx context.Context) (left string, ends map[broker.TopicPartition]int64, err error) {
	now, err := g.ends(ctx, g.Old)
	if err != nil {
		return "", nil, err
	}
	if !slices.Equal(now, g.State.Ends) {
		return "", nil, refuse("%s was written to behind its fence: its ends are %v and were %v; somebody has raised its %s", g.Old, now, g.State.Ends, messageLimitName)
	}
	ends = map[broker.TopicPartition]int64{}
	for _, group := range g.Groups {
		topics, err := g.topicsOf(ctx, group)
		if err != nil {
			return "", nil, err
		}
		for reader, topics := range topics {
			unread, err := g.unread(ctx, reader, topics, ends)
			if err != nil || unread != "" {
				return unread, nil, err
			}
		}
	}
	return "", ends, nil
}

// unread is what a group has left of some topics.
func (g *Grow) unread(ctx context.Context, group string, topics []string, ends map[broker.TopicPartition]int64) (string, error) {
	lags, err := g.Broker.positions(ctx, group, topics)
	if err != nil {
		return "", err
	}
	for _, l := range lags {
		ends[l.TopicPartition] = l.End
		if l.Behind == 0 {
			continue
		}
		more, err := g.Broker.anyBetween(ctx, l.TopicPartition, l.Committed, l.End)
		if err != nil {
			return "", err
		}
		if more {
			return fmt.Sprintf("group %s is at offset %d of %d in %s/%d", group, l.Committed, l.End, l.Topic, l.Partition), nil
		}
	}
	return "", nil
}

// anyBetween says that there is something to deliver: offsets may be those of markers and of aborted messages.
func (b *Broker) anyBetween(ctx context.Context, at broker.TopicPartition, from, end int64) (bool, error) {
	for from < end {
		f, err := b.fetchOnce(ctx, at, from, 1<<20)
		if err != nil {
			return false, err
		}
		if len(f.messages) > 0 || f.next == from {
			return true, nil
		}
		from = f.next
	}
	return false, nil
}

// topicsOf are the topics to be read to the end for a group, by who reads them: itself the old topic and its
// retry topic, and the forwarder of delay topics those.
func (g *Grow) topicsOf(ctx context.Context, group GrowGroup) (map[string][]string, error) {
	own := []string{g.Old}
	retry := broker.RetryTopic(g.Old, group.Scope)
	if _, missing, err := g.Broker.count(ctx, []string{retry}); err != nil {
		return nil, err
	} else if missing == "" {
		own = append(own, retry)
	}
	all, err := g.Broker.topics(ctx)
	if err != nil {
		return nil, err
	}
	topics := map[string][]string{group.Name: own}
	for _, topic := range all {
		if strings.HasPrefix(topic, g.Old+".delay-") && strings.HasSuffix(topic, "."+group.Scope) {
			topics[group.DelayGroup] = append(topics[group.DelayGroup], topic)
		}
	}
	return topics, nil
}

// finish lets each group begin the new topic at its first message. The runtime's consumers do so anyway;
// others may be configured to begin at the last.
func (g *Grow) finish(ctx context.Context) error {
	commits := make([]kafka.OffsetCommit, g.Partitions)
	for i := range commits {
		commits[i] = kafka.OffsetCommit{Partition: i}
	}
	for _, group := range g.Groups {
		if err := g.begin(ctx, group.Name, commits); err != nil {
			g.report("group %s has no offsets of %s yet (%v): its consumers have to begin at the earliest, which idem's do", group.Name, g.New, err)
		}
	}
	return nil
}

func (g *Grow) begin(ctx context.Context, group string, commits []kafka.OffsetCommit) error {
	ctx, cancel := context.WithTimeout(ctx, g.Broker.config.RequestTimeout)
	defer cancel()
	ids := make([]int32, len(commits))
	for i := range ids {
		ids[i] = int32(i)
	}
	committed, err := g.Broker.committed(ctx, group, map[string][]int32{g.New: ids})
	if err != nil || len(committed) > 0 {
		return err // by the run before, or by its consumers
	}
	// Generation -1 is nobody's; the broker takes it while the group has no members.
	answer, err := g.Broker.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{g.New: commits}})
	if err != nil {
		return err
	}
	for _, p := range answer.Topics[g.New] {
		if p.Error != nil {
			return p.Error
		}
	}
	return nil
}

// topics are the names of all topics.
func (b *Broker) topics(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	answer, err := b.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range answer.Topics {
		names = append(names, t.Name)
	}
	return names, nil
}
