package consumer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// readTopics are the origins and, except of a shadow, their retry topics.
func (c *Consumer) readTopics() []string {
	topics := append([]string(nil), c.config.Topics...)
	if c.config.Shadow {
		return topics
	}
	for _, origin := range c.config.Topics {
		topics = append(topics, broker.RetryTopic(origin, c.config.Scope))
	}
	return topics
}

// checkTopics sees to it that all topics are there, those of dead letters too where they are used. The error of
// those that are missing wraps broker.ErrUnknownTopic, and has the commands that make them.
func (c *Consumer) checkTopics(ctx context.Context) error {
	var missing []string
	for _, origin := range c.config.Topics {
		partitions, err := c.partitions(ctx, origin)
		if errors.Is(err, broker.ErrUnknownTopic) {
			missing = append(missing, createCommand(origin, 0))
		} else if err != nil {
			return err
		}
		var follow []string
		if !c.config.Shadow {
			follow = append(follow, broker.RetryTopic(origin, c.config.Scope))
			if c.config.Guard.DeadLetterTopic || !c.store.FollowUps() {
				follow = append(follow, broker.DeadLetterTopic(origin, c.config.Scope))
			}
		}
		for _, topic := range follow {
			switch _, err := c.partitions(ctx, topic); {
			case errors.Is(err, broker.ErrUnknownTopic):
				missing = append(missing, createCommand(topic, partitions))
			case err != nil:
				return err
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: these topics are missing; create them, for example by\n\t%s", broker.ErrUnknownTopic, strings.Join(missing, "\n\t"))
}

func (c *Consumer) partitions(ctx context.Context, topic string) (int32, error) {
	counts, err := c.broker.Partitions(ctx, topic)
	return counts[topic], err
}

// createCommand makes a topic with Kafka's own tool.
func createCommand(topic string, partitions int32) string {
	count := "12"
	if partitions > 0 {
		count = fmt.Sprint(partitions)
	}
	return "kafka-topics.sh --bootstrap-server localhost:9092 --create --topic " + topic + " --partitions " + count + " --replication-factor 3"
}
