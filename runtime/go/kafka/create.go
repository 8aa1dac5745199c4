package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// CreateTopic makes a topic with the cluster's own defaults, its replication too where replicas is 0, and
// says whether it was made: one that is there stays as it is. It returns once the topic can be used.
func (b *Broker) CreateTopic(ctx context.Context, name string, partitions int32, replicas int) (bool, error) {
	return b.create(ctx, name, partitions, replicas, nil)
}

// CreateCompanion is CreateTopic for a retry or dead-letter topic of another one: it takes what that one takes, with the
// headers that are added.
func (b *Broker) CreateCompanion(ctx context.Context, origin, name string, partitions int32, replicas int) (bool, error) {
	var entries []kafka.ConfigEntry
	if limit := b.messageLimit(ctx, origin); limit > 0 {
		entries = []kafka.ConfigEntry{{ConfigName: messageLimitName, ConfigValue: strconv.Itoa(limit + broker.HeaderRoom)}}
	}
	return b.create(ctx, name, partitions, replicas, entries)
}

func (b *Broker) create(ctx context.Context, name string, partitions int32, replicas int, entries []kafka.ConfigEntry) (bool, error) {
	made, err := b.createTopic(ctx, kafka.TopicConfig{
		Topic: name, NumPartitions: int(partitions), ReplicationFactor: cmp.Or(replicas, -1), ConfigEntries: entries,
	})
	if err != nil {
		return false, fmt.Errorf("create topic %s: %w", name, err)
	}
	return made, nil
}

func (b *Broker) createTopic(ctx context.Context, topic kafka.TopicConfig) (bool, error) {
	ask, cancel := context.WithTimeout(ctx, 3*b.config.RequestTimeout)
	defer cancel()
	answer, err := b.client.CreateTopics(ask, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}})
	if err == nil {
		err = answer.Errors[topic.Topic]
	}
	if errors.Is(err, kafka.TopicAlreadyExists) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, err = b.partitions(ctx, []string{topic.Topic}, patience{b.config.UnknownTopicFor, b.config.RequestTimeout})
	return err == nil, err
}
