package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Missing is a publisher that remembers which topics do not exist: a broker may look for them for seconds
// each time, while all else waits. It is for one goroutine.
type Missing struct {
	publisher broker.Publisher
	remember  time.Duration
	until     map[string]time.Time
}

// NewMissing remembers for some time.
func NewMissing(p broker.Publisher, remember time.Duration) *Missing {
	return &Missing{publisher: p, remember: remember, until: map[string]time.Time{}}
}

// Publish publishes what is not for a topic that was missing a moment ago.
func (k *Missing) Publish(ctx context.Context, messages []broker.Message) []error {
	if len(k.until) == 0 {
		return k.learn(messages, k.publisher.Publish(ctx, messages))
	}
	now := time.Now()
	for topic, until := range k.until {
		if !until.After(now) {
			delete(k.until, topic)
		}
	}
	errs := make([]error, len(messages))
	left := make([]broker.Message, 0, len(messages))
	index := make([]int, 0, len(messages))
	for i := range messages {
		if _, missing := k.until[messages[i].Topic]; missing {
			errs[i] = fmt.Errorf("publish to %s: %w, looked for less than %v ago", messages[i].Topic, broker.ErrUnknownTopic, k.remember)
			continue
		}
		left = append(left, messages[i])
		index = append(index, i)
	}
	if len(left) == len(messages) {
		return k.learn(messages, k.publisher.Publish(ctx, messages))
	}
	if len(left) == 0 {
		return errs
	}
	answers := k.learn(left, k.publisher.Publish(ctx, left))
	if answers != nil && len(answers) != len(left) {
		return answers // for another number of messages: nothing is confirmed
	}
	for i := range answers {
		errs[index[i]] = answers[i]
	}
	return errs
}

func (k *Missing) learn(messages []broker.Message, errs []error) []error {
	if len(errs) != len(messages) {
		return errs
	}
	for i, err := range errs {
		if errors.Is(err, broker.ErrUnknownTopic) {
			k.until[messages[i].Topic] = time.Now().Add(k.remember)
		}
	}
	return errs
}
