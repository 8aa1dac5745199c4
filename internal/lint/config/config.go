// Package config reads idem.yaml: what a repository says about itself.
package config

import "time"

// Facts are what a schema cannot know. A fact that is not declared is nil, and rules that need it are off.
type Facts struct {
	// Default is about every message, and Events about those of an event type; a fact of Events goes first.
	Default Fact
	Events  map[string]Fact
}

// Fact is what is declared about the messages of an event type.
type Fact struct {
	// EventsPerSecond is the most events of one type in a second, at their peak.
	EventsPerSecond *int64
	// Consumers is how many processes consume a topic in one group.
	Consumers *int64
	// DedupRetention is how long a dedup record is kept, TopicRetention how long the topic keeps a message.
	DedupRetention, TopicRetention *time.Duration
	// KeyReaders says who may read a key: "operators", or "everyone".
	KeyReaders *string
}

// Of is what is declared about an event type.
func (f Facts) Of(eventType string) Fact {
	fact, all := f.Events[eventType], f.Default
	if fact.EventsPerSecond == nil {
		fact.EventsPerSecond = all.EventsPerSecond
	}
	if fact.Consumers == nil {
		fact.Consumers = all.Consumers
	}
	if fact.DedupRetention == nil {
		fact.DedupRetention = all.DedupRetention
	}
	if fact.TopicRetention == nil {
		fact.TopicRetention = all.TopicRetention
	}
	if fact.KeyReaders == nil {
		fact.KeyReaders = all.KeyReaders
	}
	return fact
}
