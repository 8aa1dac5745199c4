package guard

import (
	"fmt"
	"strings"
)

// MaxTopic is the most bytes of a topic's name on Kafka.
const MaxTopic = 249

// RetryTopic is where the deliveries to come of a topic go. (RETRY-030)
func RetryTopic(origin, scope string) string { return origin + ".retry." + scope }

// DeadLetterTopic is where the dead letters of a topic go. (RETRY-030)
func DeadLetterTopic(origin, scope string) string { return origin + ".dlq." + scope }

// Origin is the topic where a message began: topic itself, or what it is the retry topic of. The topic header
// says the same on one cluster; a mirrored topic may have another name than the one that its messages say, and
// a consumer reads that of its own cluster.
func Origin(topic, scope string) string {
	if rest, ok := strings.CutSuffix(topic, scope); ok {
		if origin, ok := strings.CutSuffix(rest, ".retry."); ok {
			return origin
		}
	}
	return topic
}

// CheckTopic says whether the names that come of a topic fit. Consumers ask at the start. (RETRY-030)
func CheckTopic(origin, scope string) error {
	if name := RetryTopic(origin, scope); len(name) > MaxTopic {
		return fmt.Errorf("topic %s: its retry topic %s has %d bytes, and Kafka allows %d: shorten the topic or the scope", origin, name, len(name), MaxTopic)
	}
	return nil
}
