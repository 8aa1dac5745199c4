// Package topics says where messages of a topic go that has moved.
package topics

import (
	"fmt"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Alias is where topics have moved to. The nil one moves none.
type Alias map[string]string

// NewAlias follows aliases to their end, and refuses names that are none, and circles.
func NewAlias(names map[string]string) (Alias, error) {
	a := make(Alias, len(names))
	for from, to := range names {
		if err := broker.CheckTopic(from); err != nil {
			return nil, fmt.Errorf("of %q: %w", from, err)
		}
		if err := broker.CheckTopic(to); err != nil {
			return nil, fmt.Errorf("of %q: %w", from, err)
		}
		for range names {
			next, ok := names[to]
			if !ok {
				break
			}
			to = next
		}
		if _, ok := names[to]; ok {
			return nil, fmt.Errorf("of %q leads in a circle by %q: remove one of its links", from, to)
		}
		a[from] = to
	}
	return a, nil
}

// Of is where messages for a topic go.
func (a Alias) Of(topic string) string {
	if to, ok := a[topic]; ok {
		return to
	}
	return topic
}

// OfRetry is where messages for a scope's retry topic go: an alias of its own counts first, then one of
// its origin.
func (a Alias) OfRetry(topic, scope string) string {
	if len(a) == 0 {
		return topic
	}
	if to, ok := a[topic]; ok {
		return to
	}
	if origin, ok := broker.OriginOf(topic, scope); ok {
		if to, ok := a[origin]; ok {
			return broker.RetryTopic(to, scope)
		}
	}
	return topic
}
