package main

import (
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// topicRedrive is a redrive of dead letters of a topic, as it was logged.
type topicRedrive struct {
	store string
	store.LoggedOperation
}

// addTopicRedrives adds those that redrove a message of the key from a topic, and says which of these messages are
// duplicates. Dead letters of the table say both themselves.
func (l *lifeOf) addTopicRedrives() {
	for i := range l.events {
		if m := l.events[i].Message; m != nil && l.isDuplicate(m) {
			m.Duplicate = true
			l.events[i].What += ", a duplicate: the key had its effect at " + l.records[m.TargetScope].UpdatedAt.UTC().Format(time.RFC3339)
		}
	}
	for i := range l.redrives {
		o := &l.redrives[i]
		if slices.ContainsFunc(l.events, func(e lifeEvent) bool { return e.Message != nil && o.redrove(e.Message, e.At) }) {
			j := operationOf(o.store, &o.LoggedOperation)
			l.add(lifeEvent{At: o.BegunAt, Kind: lifeOperation, Store: o.store, What: operationText(&o.LoggedOperation), Operation: &j})
		}
	}
}

// redrove says that the operation names a dead letter, or had a filter and published this message.
func (o *topicRedrive) redrove(m *messageJSON, at time.Time) bool {
	words := strings.Fields(o.Target) // "topic NAME ids 3/42 …", or a filter
	if len(words) < 3 || words[0] != "topic" {
		return false
	}
	if words[2] == "ids" {
		return m.Topic == words[1] && slices.Contains(words[3:], placeText(m.Partition, m.Offset))
	}
	origin, ok := strings.CutSuffix(m.Topic, broker.RetryTopic("", m.TargetScope))
	return ok && m.RedriveCount > 0 && broker.DeadLetterTopic(origin, m.TargetScope) == words[1] && !at.Before(o.BegunAt) && !at.After(o.EndedAt)
}

// isDuplicate says that a message was redriven from a topic, and neither had the effect of its key nor ended again.
func (l *lifeOf) isDuplicate(m *messageJSON) bool {
	r := l.records[m.TargetScope]
	origin, isRetry := strings.CutSuffix(m.Topic, broker.RetryTopic("", m.TargetScope))
	if r == nil || r.State != idem.StateSuccess || !isRetry || m.RedriveCount <= r.RedriveCount {
		return false
	}
	return !slices.ContainsFunc(l.events, func(e lifeEvent) bool {
		inTable := e.DeadLetter != nil && e.DeadLetter.Scope == m.TargetScope
		again := e.Message != nil && e.Message.Topic == broker.DeadLetterTopic(origin, m.TargetScope) && e.Message.RedriveCount >= m.RedriveCount
		return inTable || again
	})
}
