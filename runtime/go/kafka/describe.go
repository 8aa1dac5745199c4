package kafka

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/describegroups"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// TopicDescription is what a cluster says of a topic.
type TopicDescription struct {
	Name       string
	Partitions []PartitionDescription // in their order
	// Config is each setting that is in force, with the cluster's defaults. ConfigErr says why it is not known.
	Config    map[string]string
	ConfigErr error
}

// PartitionDescription is where a partition is.
type PartitionDescription struct {
	Leader   int32 // -1 where there is none
	Replicas []int32
	InSync   []int32
}

// DescribeTopics describes those of the topics that there are, and says how many brokers the cluster has. Where this user
// may not see whether a topic is there, its error is kafka-go's TopicAuthorizationFailed.
func (b *Broker) DescribeTopics(ctx context.Context, names ...string) ([]TopicDescription, int, error) {
	topics, brokers, err := b.describeTopics(ctx, names)
	if err != nil {
		return nil, 0, fmt.Errorf("describe %s: %w", strings.Join(names, ", "), b.explain(err))
	}
	return topics, brokers, nil
}

func (b *Broker) describeTopics(ctx context.Context, names []string) ([]TopicDescription, int, error) {
	answer, err := patiently(ctx, b, func(ctx context.Context) (*metadata.Response, error) {
		answer, err := b.transport.RoundTrip(ctx, b.addr, &metadata.Request{TopicNames: append([]string{}, names...)})
		if err != nil {
			return nil, err
		}
		return answer.(*metadata.Response), nil
	})
	if err != nil {
		return nil, 0, err
	}
	var topics []TopicDescription
	for _, t := range answer.Topics {
		switch code := kafka.Error(t.ErrorCode); {
		case errors.Is(code, kafka.UnknownTopicOrPartition):
			continue
		case t.ErrorCode != 0 && !code.Temporary():
			return nil, 0, fmt.Errorf("topic %s: %w", t.Name, code)
		}
		slices.SortFunc(t.Partitions, func(a, b metadata.ResponsePartition) int { return cmp.Compare(a.PartitionIndex, b.PartitionIndex) })
		d := TopicDescription{Name: t.Name}
		for _, p := range t.Partitions {
			d.Partitions = append(d.Partitions, PartitionDescription{p.LeaderID, p.ReplicaNodes, p.IsrNodes})
		}
		d.Config, d.ConfigErr = b.settings(ctx, t.Name)
		topics = append(topics, d)
	}
	for _, name := range names {
		if err := b.hidden(ctx, topics, name); err != nil {
			return nil, 0, err
		}
	}
	return topics, len(answer.Brokers), nil
}

// hidden is an error where a topic is missing since this user may not see it: what the client knows of the cluster has
// only what may be seen. Its settings are refused by another error than those of a topic that is not there.
func (b *Broker) hidden(ctx context.Context, described []TopicDescription, name string) error {
	if slices.ContainsFunc(described, func(d TopicDescription) bool { return d.Name == name }) {
		return nil
	}
	if _, err := b.settings(ctx, name); errors.Is(err, kafka.TopicAuthorizationFailed) {
		return fmt.Errorf("topic %s is not there, or may not be seen: %w", name, kafka.TopicAuthorizationFailed)
	}
	return nil
}

// settings are all settings of a topic.
func (b *Broker) settings(ctx context.Context, topic string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	answer, err := b.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", topic, b.explain(err))
	}
	settings := map[string]string{}
	for _, resource := range answer.Resources {
		if resource.Error != nil {
			return nil, fmt.Errorf("configuration of %s: %w", topic, b.explain(resource.Error))
		}
		for _, e := range resource.ConfigEntries {
			settings[e.ConfigName] = e.ConfigValue
		}
	}
	return settings, nil
}

// GroupDescription is what a cluster says of a consumer group.
type GroupDescription struct {
	// State is Stable, Empty, PreparingRebalance, CompletingRebalance; with group.protocol=consumer Assigning and
	// Reconciling; or Dead where there is no such group.
	State   string
	Members []GroupMember
}

// GroupMember is a process, or a thread of one, that reads for a group.
type GroupMember struct {
	ID, ClientID, Host string
	// Topics are those that it asked for, and Partitions what it was given.
	Topics     []string
	Partitions []broker.TopicPartition
}

// DescribeGroup describes a group.
func (b *Broker) DescribeGroup(ctx context.Context, name string) (GroupDescription, error) {
	d, err := patiently(ctx, b, func(ctx context.Context) (GroupDescription, error) { return b.describeGroup(ctx, name) })
	if err != nil {
		return GroupDescription{}, fmt.Errorf("describe group %q: %w", name, b.explain(err))
	}
	return d, nil
}

// describeGroup reads the members itself: the client's own reading ends at metadata of version 2 and later, which Java
// has had since 3.2.
func (b *Broker) describeGroup(ctx context.Context, name string) (GroupDescription, error) {
	answer, err := b.transport.RoundTrip(ctx, b.addr, &describegroups.Request{Groups: []string{name}})
	if err != nil {
		return GroupDescription{}, err
	}
	var d GroupDescription
	for _, g := range answer.(*describegroups.Response).Groups {
		if g.ErrorCode != 0 {
			return d, kafka.Error(g.ErrorCode)
		}
		d.State = g.GroupState
		for _, m := range g.Members {
			member := GroupMember{ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost}
			if g.ProtocolType == "consumer" {
				member.Topics = subscription(m.MemberMetadata)
				member.Partitions = assignment(m.MemberAssignment)
			}
			d.Members = append(d.Members, member)
		}
	}
	if d.State == "Dead" { // as groups of group.protocol=consumer are here
		if of, ok, err := b.describeConsumerGroup(ctx, name); ok || err != nil {
			return of, err
		}
	}
	return d, nil
}

// CommittedTopics are the topics of which a group has committed offsets, in their order.
func (b *Broker) CommittedTopics(ctx context.Context, group string) ([]string, error) {
	answer, err := patiently(ctx, b, func(ctx context.Context) (*kafka.OffsetFetchResponse, error) {
		answer, err := b.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group})
		if err == nil {
			err = answer.Error
		}
		return answer, err
	})
	if err != nil {
		return nil, fmt.Errorf("offsets of group %q: %w", group, b.explain(err))
	}
	var topics []string
	for topic, partitions := range answer.Topics {
		if slices.ContainsFunc(partitions, func(p kafka.OffsetFetchPartition) bool { return p.CommittedOffset >= 0 }) {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	return topics, nil
}

// subscription is the topics of a member's metadata, whatever its version has behind them.
func subscription(data []byte) (topics []string) {
	r := reader{data: data}
	r.int16() // version
	for n := r.int32(); n > 0 && !r.short; n-- {
		if topic := r.text(); !r.short {
			topics = append(topics, topic)
		}
	}
	return topics
}

// assignment is the partitions that a member was given.
func assignment(data []byte) (partitions []broker.TopicPartition) {
	r := reader{data: data}
	r.int16() // version
	for n := r.int32(); n > 0 && !r.short; n-- {
		topic := r.text()
		for m := r.int32(); m > 0 && !r.short; m-- {
			if p := r.int32(); !r.short {
				partitions = append(partitions, broker.TopicPartition{Topic: topic, Partition: p})
			}
		}
	}
	return partitions
}

// reader reads what Kafka's protocol is made of; what is missing is 0.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.short, r.data = true, nil
		return make([]byte, 8)
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }

func (r *reader) text() string {
	n := int(r.int16())
	if r.short {
		return ""
	}
	return string(r.take(n))
}

// What follows is of the flexible versions, as Kafka calls them.

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.short, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

// count is a length, which is written as one more; 0 where there is nothing.
func (r *reader) count() int { return max(int(min(r.uvarint(), math.MaxInt32))-1, 0) }

// compact is a text; empty where there is none.
func (r *reader) compact() string {
	n := r.count()
	if text := r.take(n); !r.short {
		return string(text)
	}
	return ""
}

// tags skips fields that later versions have added.
func (r *reader) tags() {
	for n := r.uvarint(); n > 0 && !r.short; n-- {
		r.uvarint()
		r.take(int(min(r.uvarint(), math.MaxInt32)))
	}
}
