package config

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Facts are what a schema cannot know. A fact that is not declared is nil, and rules that need it are off.
type Facts struct {
	// Languages are those that code is generated in. All of them, where it is nil.
	Languages []string
	// Default is about every message, and Events about those of an event type; a fact of Events goes first.
	Default Fact
	Events  map[string]Fact
}

// Fact is what is declared about the messages of an event type.
type Fact struct {
	// EventsPerSecondPerBizKey is the most events of one type with one biz key in a second, at their peak.
	EventsPerSecondPerBizKey *int64
	// Consumers is how many processes consume a topic in one group.
	Consumers *int64
	// DedupRetention is how long a dedup record is kept, TopicRetention how long the topic keeps a message.
	DedupRetention, TopicRetention *time.Duration
	// KeyReaders says who may read a key: "operators", or "everyone".
	KeyReaders *string
}

// known is what is known of a fact.
type known struct {
	key      string
	read     func(*Fact, *yaml.Node) string
	inherit  func(to *Fact, from Fact)
	declared func(Fact) bool
}

// facts are the facts by their keys in idem.yaml. Each has a line here and a field in Fact.
var facts = []known{
	of("events_per_second_per_biz_key", func(f *Fact) **int64 { return &f.EventsPerSecondPerBizKey }, atLeastOne),
	of("consumers", func(f *Fact) **int64 { return &f.Consumers }, atLeastOne),
	of("dedup_retention", func(f *Fact) **time.Duration { return &f.DedupRetention }, duration),
	of("topic_retention", func(f *Fact) **time.Duration { return &f.TopicRetention }, duration),
	of("key_readers", func(f *Fact) **string { return &f.KeyReaders }, oneOf("operators", "everyone")),
}

// of is a fact: its key, its field, and how its value is read.
func of[T any](key string, field func(*Fact) **T, parse func(text string) (T, string)) (fact known) {
	fact.key = key
	fact.read = func(f *Fact, node *yaml.Node) string {
		value, wrong := parse(node.Value)
		*field(f) = &value
		return wrong
	}
	fact.inherit = func(to *Fact, from Fact) {
		if *field(to) == nil {
			*field(to) = *field(&from)
		}
	}
	fact.declared = func(f Fact) bool { return *field(&f) != nil }
	return fact
}

// Keys are the facts that idem.yaml may declare.
func Keys() []string {
	var keys []string
	for _, k := range facts {
		keys = append(keys, k.key)
	}
	return keys
}

// languages are all that code can be generated in.
var languages = []string{"go", "java", "python"}

// Generates says whether code is generated in a language.
func (f Facts) Generates(language string) bool {
	return f.Languages == nil || slices.Contains(f.Languages, language)
}

// Of is what is declared about an event type.
func (f Facts) Of(eventType string) Fact {
	fact := f.Events[eventType]
	for _, k := range facts {
		k.inherit(&fact, f.Default)
	}
	return fact
}

// Declared says whether a fact is declared of any event type.
func (f Facts) Declared(key string) bool {
	for _, k := range facts {
		if k.key != key {
			continue
		}
		if k.declared(f.Default) {
			return true
		}
		for _, fact := range f.Events {
			if k.declared(fact) {
				return true
			}
		}
	}
	return false
}

// Missing are those of the facts that are declared of no event type.
func (f Facts) Missing(keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), f.Declared)
}
