package lag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// groups describes them, with the partitions that are of interest.
func (l *Looker) groups(ctx context.Context) ([]Group, error) {
	names := l.Groups
	if len(names) == 0 {
		var err error
		if names, err = l.Broker.GroupNames(ctx); err != nil {
			return nil, err
		}
	}
	l.read = map[string]bool{}
	found := make([]*Group, len(names))
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i, name := range names {
		work.Go(func() error {
			g, err := l.group(inner, name)
			if err != nil && len(l.Groups) == 0 && inner.Err() == nil {
				l.note("%v", err) // of others, who need not let us see it
				return nil
			}
			found[i] = g
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var groups []Group
	for _, g := range found {
		if g != nil && (len(g.Partitions) > 0 || len(l.Groups) > 0) {
			groups = append(groups, *g)
		}
	}
	return groups, l.checkTopics(groups)
}

// checkTopics says where a topic was asked for that no group reads.
func (l *Looker) checkTopics(groups []Group) error {
	for _, topic := range l.Topics {
		if !slices.ContainsFunc(groups, func(g Group) bool { return len(g.of(topic)) > 0 }) {
			return fmt.Errorf("topic %s: %w%s", topic, ErrNoTopic, instead(topic, "--topic", slices.Sorted(maps.Keys(l.read))))
		}
	}
	return nil
}

// instead continues an error about a name by what was probably meant, or how to see what there is.
func instead(name, flag string, known []string) string {
	return cmp.Or(lint.DidYouMean(name, known), ": look at its name; `idem lag` without "+flag+" shows those that there are")
}

func (l *Looker) group(ctx context.Context, name string) (*Group, error) {
	d, err := l.Broker.DescribeGroup(ctx, name)
	if err != nil {
		return nil, err
	}
	committed, err := l.Broker.Committed(ctx, name)
	if err != nil {
		return nil, err
	}
	g := &Group{Name: name, State: d.State, Members: d.Members}
	slices.SortFunc(g.Members, func(a, b kafka.GroupMember) int { return cmp.Compare(a.ID, b.ID) })
	if d.State == "Dead" {
		if len(committed) == 0 {
			if len(l.Groups) == 0 {
				return nil, nil // it went while we looked
			}
			known, _ := l.Broker.GroupNames(ctx) // where they may not be seen, none is near
			return nil, fmt.Errorf("group %s: %w%s", name, ErrNoGroup, instead(name, "--group", known))
		}
		g.Hidden = true
		l.note("group %s: its members are unknown: it uses the consumer protocol of KIP-848 (group.protocol=consumer), and these brokers do not describe it; kafka-consumer-groups --describe --members may show them", name)
	}
	topics := map[string]bool{}
	for at := range committed {
		topics[at.Topic] = true
	}
	owners := map[broker.TopicPartition]*kafka.GroupMember{}
	for i := range g.Members {
		m := &g.Members[i]
		for _, t := range m.Topics {
			topics[t] = true
		}
		for _, at := range m.Partitions {
			topics[at.Topic], owners[at] = true, m
		}
	}
	l.mu.Lock()
	maps.Copy(l.read, topics)
	l.mu.Unlock()
	counts, err := l.counts(ctx, slices.Sorted(maps.Keys(topics)))
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", name, err)
	}
	for _, topic := range slices.Sorted(maps.Keys(counts)) {
		for id := range counts[topic] {
			at := broker.TopicPartition{Topic: topic, Partition: id}
			p := Partition{TopicPartition: at, Committed: -1, Owner: owners[at]}
			if offset, ok := committed[at]; ok {
				p.Committed = offset
			}
			g.Partitions = append(g.Partitions, p)
		}
	}
	return g, nil
}

// counts are the partitions of the topics that are of interest and that there are.
func (l *Looker) counts(ctx context.Context, topics []string) (map[string]int32, error) {
	if len(l.Topics) > 0 {
		topics = slices.DeleteFunc(topics, func(t string) bool { return !slices.Contains(l.Topics, t) })
	}
	if len(topics) == 0 {
		return nil, nil
	}
	counts, err := l.Broker.Partitions(ctx, topics...)
	if !errors.Is(err, broker.ErrUnknownTopic) {
		return counts, err
	}
	described, _, err := l.Broker.DescribeTopics(ctx, topics...)
	if err != nil {
		return nil, err
	}
	counts = map[string]int32{}
	for _, d := range described {
		counts[d.Name] = int32(len(d.Partitions))
	}
	return counts, nil
}
