package kafka

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// fenceLimit is the max.message.bytes of a fenced topic. No batch is so small, so each write fails,
// whatever client it is from and whatever acknowledgement it asks for, and reading is as before.
const fenceLimit = 1

const messageLimitName = "max.message.bytes"

// companion is a retry or dead-letter topic of the old topic, and its name for the new one.
type companion struct {
	from, to   string
	partitions int32
}

// companions are those that there are.
func (g *Grow) companions(ctx context.Context) ([]companion, error) {
	var found []companion
	for _, scope := range g.scopes() {
		for _, name := range []func(string, string) string{broker.RetryTopic, broker.DeadLetterTopic} {
			from, to := name(g.Old, scope), name(g.New, scope)
			if err := broker.CheckTopic(to); err != nil {
				return nil, err
			}
			counts, missing, err := g.Broker.count(ctx, []string{from})
			if err != nil {
				return nil, err
			}
			if missing == "" {
				found = append(found, companion{from, to, counts[from]})
			}
		}
	}
	return found, nil
}

// create makes the new topic and its companions. One that is there was made by the run before.
func (g *Grow) create(ctx context.Context) error {
	companions, err := g.companions(ctx)
	if err != nil {
		return err
	}
	for _, c := range append([]companion{{g.Old, g.New, g.Partitions}}, companions...) {
		if err := g.createOne(ctx, c); err != nil {
			return fmt.Errorf("create topic %s: %w", c.to, err)
		}
	}
	return nil
}

func (g *Grow) createOne(ctx context.Context, c companion) error {
	config, err := g.topicConfig(ctx, c.from)
	if err != nil {
		return err
	}
	if limit, err := strconv.Atoi(config[messageLimitName]); err == nil && limit <= fenceLimit {
		delete(config, messageLimitName)
		if g.State.Limit != nil {
			config[messageLimitName] = *g.State.Limit
		}
	}
	replicas, err := g.replicas(ctx, c.from)
	if err != nil {
		return err
	}
	topic := kafka.TopicConfig{Topic: c.to, NumPartitions: int(c.partitions), ReplicationFactor: replicas}
	for name, value := range config {
		topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	made, err := g.Broker.createTopic(ctx, topic)
	if made {
		g.report("created %s with %d partitions on %d replicas", c.to, c.partitions, replicas)
	}
	return err
}

func (g *Grow) replicas(ctx context.Context, topic string) (int, error) {
	answer, err := g.Broker.transport.RoundTrip(ctx, g.Broker.addr, &metadata.Request{TopicNames: []string{topic}})
	if err != nil {
		return 0, err
	}
	for _, t := range answer.(*metadata.Response).Topics {
		if t.Name == topic && len(t.Partitions) > 0 {
			return len(t.Partitions[0].ReplicaNodes), nil
		}
	}
	return 0, fmt.Errorf("topic %s: %w", topic, broker.ErrUnknownTopic)
}

// topicConfig is what is set for the topic itself.
func (g *Grow) topicConfig(ctx context.Context, topic string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.Broker.config.RequestTimeout)
	defer cancel()
	answer, err := g.Broker.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", topic, err)
	}
	config := map[string]string{}
	for _, resource := range answer.Resources {
		if resource.Error != nil {
			return nil, fmt.Errorf("configuration of %s: %w", topic, resource.Error)
		}
		for _, e := range resource.ConfigEntries {
			const ofTopic = 1 // DYNAMIC_TOPIC_CONFIG
			throttle := e.ConfigName == "leader.replication.throttled.replicas" || e.ConfigName == "follower.replication.throttled.replicas"
			if e.ConfigSource == ofTopic && !e.IsSensitive && !e.ReadOnly && !throttle {
				config[e.ConfigName] = e.ConfigValue
			}
		}
	}
	return config, nil
}

// fence keeps all producers off the old topic, and waits until its ends stay where they are.
func (g *Grow) fence(ctx context.Context) error {
	config, err := g.topicConfig(ctx, g.Old)
	if err != nil {
		return err
	}
	limit, own := config[messageLimitName]
	if limit != strconv.Itoa(fenceLimit) {
		// Remembered before it is overwritten.
		g.State.Limit = nil
		if own {
			g.State.Limit = &limit
		}
		if err := g.save(); err != nil {
			return err
		}
		if err := g.setLimit(ctx, strconv.Itoa(fenceLimit)); err != nil {
			return err
		}
	}
	g.report("%s is fenced: it takes no more messages. Producers that go on need an outbox; the others fail until they write to %s", g.Old, g.New)
	var before []int64
	for {
		ends, err := g.ends(ctx, g.Old)
		if err != nil {
			return err
		}
		if before != nil && slices.Equal(before, ends) {
			g.State.Ends = ends
			return nil
		}
		before = ends
		if !wait.For(ctx, g.Settle) {
			return ctx.Err()
		}
	}
}

func (g *Grow) unfence(ctx context.Context) error {
	config, err := g.topicConfig(ctx, g.Old)
	if err != nil || config[messageLimitName] != strconv.Itoa(fenceLimit) {
		return err
	}
	if g.State.Limit == nil {
		return g.setLimit(ctx, "")
	}
	return g.setLimit(ctx, *g.State.Limit)
}

// setLimit sets the old topic's max.message.bytes, or removes it, and waits until it can be seen.
func (g *Grow) setLimit(ctx context.Context, value string) error {
	change := kafka.IncrementalAlterConfigsRequestConfig{Name: messageLimitName, Value: value, ConfigOperation: kafka.ConfigOperationSet}
	if value == "" {
		change.ConfigOperation = kafka.ConfigOperationDelete
	}
	ask, cancel := context.WithTimeout(ctx, 3*g.Broker.config.RequestTimeout)
	defer cancel()
	answer, err := g.Broker.client.IncrementalAlterConfigs(ask, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: g.Old, Configs: []kafka.IncrementalAlterConfigsRequestConfig{change}}}})
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", messageLimitName, g.Old, err)
	}
	for _, resource := range answer.Resources {
		if resource.Error != nil {
			return fmt.Errorf("set %s of %s: %w", messageLimitName, g.Old, resource.Error)
		}
	}
	for {
		config, err := g.topicConfig(ask, g.Old)
		if err != nil {
			return err
		}
		if config[messageLimitName] == value {
			return nil
		}
		if !wait.For(ask, 50*time.Millisecond) {
			return ask.Err()
		}
	}
}
