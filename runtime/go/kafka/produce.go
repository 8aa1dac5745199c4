package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// produce sends one batch, and again while it may still succeed.
func (b *Broker) produce(ctx context.Context, at broker.TopicPartition, messages []broker.Message, of []int) error {
	deadline := time.Now().Add(b.config.RetryFor)
	var unknownSince time.Time
	var left error = errNotConfirmed // what is known of a batch that is given up
	for n := 0; ; n++ {
		if b.isClosed() {
			return broker.ErrClosed
		}
		err := b.produceOnce(ctx, at, messages, of)
		if mayHaveArrived(err) {
			left = errOutcomeUnknown
		}
		if !unknownTopic(err) {
			unknownSince = time.Time{}
		} else if unknownSince.IsZero() {
			unknownSince = time.Now()
		}
		switch {
		case err == nil:
			if n > 0 {
				b.log.InfoContext(ctx, "kafka: published after trying again", slog.String("topic", at.Topic), slog.Int("partition", int(at.Partition)), slog.Int("tries", n+1))
			}
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", left, ended(ctx, err))
		case faultOfRecord(err), hopeless(err):
			return err
		case unknownTopic(err) && time.Since(unknownSince) > b.config.UnknownTopicFor:
			return fmt.Errorf("topic %s, partition %d: %w", at.Topic, at.Partition, broker.ErrUnknownTopic)
		case time.Now().After(deadline):
			return fmt.Errorf("%w, after %d tries in %v: %w", left, n+1, b.config.RetryFor, err)
		}
		if n == 0 {
			b.log.WarnContext(ctx, "kafka: publishing again", slog.String("topic", at.Topic), slog.Int("partition", int(at.Partition)), slog.Any("error", b.explain(err)))
		}
		b.refresh()
		if !wait.For(ctx, backoff(n)) {
			return fmt.Errorf("%w: %w: %w", left, ctx.Err(), err)
		}
	}
}

func (b *Broker) produceOnce(ctx context.Context, at broker.TopicPartition, messages []broker.Message, of []int) error {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	compression, err := b.config.compression()
	if err != nil {
		return err
	}
	answer, err := b.transport.RoundTrip(ctx, b.addr, &produce.Request{
		Acks: int16(kafka.RequireAll),
		// Below what we wait for, so that the broker's answer arrives.
		Timeout: int32((b.config.RequestTimeout * 4 / 5).Milliseconds()),
		Topics: []produce.RequestTopic{{
			Topic: at.Topic,
			Partitions: []produce.RequestPartition{{
				Partition: at.Partition,
				RecordSet: protocol.RecordSet{
					Attributes: protocol.Attributes(compression) & 0x7,
					Records:    &outgoing{messages: messages, of: of},
				},
			}},
		}},
	})
	if err != nil {
		return b.cause(ctx, at.Topic, err)
	}
	topics := answer.(*produce.Response).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 {
		return errors.New("the broker's answer is for other partitions")
	}
	partition := &topics[0].Partitions[0]
	if partition.ErrorCode == 0 {
		return nil
	}
	if partition.ErrorMessage != "" {
		return fmt.Errorf("%w: %s", kafka.Error(partition.ErrorCode), partition.ErrorMessage)
	}
	return kafka.Error(partition.ErrorCode)
}

// ofRecord is the error of a message that the broker refused alone.
func (b *Broker) ofRecord(ctx context.Context, m *broker.Message, err error) error {
	if errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge) {
		return &TooLargeError{Topic: m.Topic, Size: sizeOf(m), Limit: b.messageLimit(ctx, m.Topic)}
	}
	return b.explain(err)
}

// errFenced is what publishing to a topic gives that Grow has fenced. Later tries may succeed, by an alias
// or where the fence is undone.
var errFenced = errors.New("the topic takes no more messages, since `idem topic grow` moves it: publish to the topic that it moves to")

func (b *Broker) fenced(ctx context.Context, topic string) bool {
	limit := b.messageLimit(ctx, topic)
	return 0 < limit && limit <= fenceLimit
}

// messageLimit is the topic's max.message.bytes, and 0 where it cannot be had, for want of rights too.
func (b *Broker) messageLimit(ctx context.Context, topic string) int {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	answer, err := b.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{"max.message.bytes"},
	}}})
	if err != nil {
		return 0
	}
	for _, resource := range answer.Resources {
		for _, entry := range resource.ConfigEntries {
			if limit, err := strconv.Atoi(entry.ConfigValue); err == nil && entry.ConfigName == "max.message.bytes" {
				return limit
			}
		}
	}
	return 0
}
