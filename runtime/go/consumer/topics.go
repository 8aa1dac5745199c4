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
// those that are missing wraps broker.ErrUnknownTopic, and has the command that makes them.
func (c *Consumer) checkTopics(ctx context.Context) error {
	var missing, commands []string
	deadLetters := c.config.Guard.DeadLetterTopic || !c.store.FollowUps()
	for _, origin := range c.config.Topics {
		names := []string{origin}
		if !c.config.Shadow {
			names = append(names, broker.RetryTopic(origin, c.config.Scope))
			if deadLetters {
				names = append(names, broker.DeadLetterTopic(origin, c.config.Scope))
			}
		}
		before := len(missing)
		for _, topic := range names {
			switch _, err := c.partitions(ctx, topic); {
			case errors.Is(err, broker.ErrUnknownTopic):
				missing = append(missing, topic)
			case err != nil:
				return err
			}
		}
		if len(missing) > before {
			commands = append(commands, c.createCommand(origin, deadLetters))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; create what is missing by\n\t%s", broker.ErrUnknownTopic, strings.Join(missing, ", "), strings.Join(commands, "\n\t"))
}

func (c *Consumer) partitions(ctx context.Context, topic string) (int32, error) {
	counts, err := c.broker.Partitions(ctx, topic)
	return counts[topic], err
}

// createCommand makes a topic and what goes with it; what is there stays as it is.
func (c *Consumer) createCommand(origin string, deadLetters bool) string {
	command := "idem topic create " + origin
	if !c.config.Shadow {
		command += " --group " + c.config.Scope
		if deadLetters {
			command += " --dead-letters"
		}
	}
	return command
}
