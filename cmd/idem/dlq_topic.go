package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
)

// deadTopic are the flags of commands that work on the dead letters of a topic, too.
type deadTopic struct {
	topic string
	kafka kafkaFlags
}

func (d *deadTopic) add(command *cobra.Command) {
	command.Flags().StringVar(&d.topic, "topic", "", "dead letters of this topic of Kafka, TOPIC.dlq.SCOPE, and not of the table")
	d.kafka.addServer(command, "brokers")
}

// deadLetterPart is what a topic of dead letters has between origin and scope.
var deadLetterPart = broker.DeadLetterTopic("", "")

// topicLetters are the dead letters of a topic.
type topicLetters struct {
	broker               *kafka.Broker
	topic, origin, scope string
	// records tell which had another life; nil where there is no database.
	records deadletter.Records
}

// open connects. The scope says where the topic's name can be read in two ways.
func (d *deadTopic) open(place connect.Flags, scope string, write bool) (*topicLetters, error) {
	t := &topicLetters{topic: d.topic}
	at := strings.LastIndex(d.topic, deadLetterPart)
	if scope != "" {
		at = len(d.topic) - len(deadLetterPart+scope)
	}
	if at > 0 {
		t.origin, t.scope = d.topic[:at], strings.TrimPrefix(d.topic[at:], deadLetterPart)
	}
	if t.scope == "" || broker.DeadLetterTopic(t.origin, t.scope) != d.topic || scope != "" && t.scope != scope {
		return nil, fmt.Errorf("--topic %s: a topic of dead letters is TOPIC%sSCOPE", d.topic, deadLetterPart)
	}
	d.kafka.context = place.Context
	var err error
	t.broker, err = d.kafka.open(write)
	return t, err
}

// recent are the newest dead letters that a filter selects, limit at most. It reads each partition from its end.
func (t *topicLetters) recent(ctx context.Context, filter store.DeadLetterFilter, limit int) ([]store.DeadLetter, error) {
	spans, err := t.broker.Spans(ctx, t.topic, filter.Since, filter.Until)
	if err != nil {
		return nil, err
	}
	var all []store.DeadLetter
	for _, span := range spans {
		letters, err := t.newest(ctx, span, &filter, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, letters...)
	}
	slices.SortStableFunc(all, func(a, b store.DeadLetter) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all[:min(limit, len(all))], nil
}

// whyNone says what of a filter none of the newest dead letters has.
func (t *topicLetters) whyNone(ctx context.Context, f *letterFilter) string {
	letters, err := t.recent(ctx, store.DeadLetterFilter{Redriven: true}, 1000)
	if err != nil {
		return ""
	}
	var v store.Values
	for i := range letters {
		if d := &letters[i]; !slices.Contains(v.EventTypes, d.EventType) {
			v.EventTypes = append(v.EventTypes, d.EventType)
		}
		if code := codeOf(letters[i].Reason); !slices.Contains(v.Codes, code) {
			v.Codes = append(v.Codes, code)
		}
	}
	return f.whyNone(v)
}

// newest are those of a partition, in pieces from its end on.
func (t *topicLetters) newest(ctx context.Context, span kafka.Span, filter *store.DeadLetterFilter, limit int) (letters []store.DeadLetter, err error) {
	piece := int64(max(limit, 1000))
	for to := span.To; to > span.From && len(letters) < limit; to -= piece {
		found, err := t.between(ctx, span.TopicPartition, max(to-piece, span.From), to, filter)
		if err != nil {
			return nil, err
		}
		letters = append(found, letters...)
	}
	return letters[max(len(letters)-limit, 0):], nil
}

// between are those at the offsets [from, to), in their order.
func (t *topicLetters) between(ctx context.Context, at broker.TopicPartition, from, to int64, filter *store.DeadLetterFilter) (letters []store.DeadLetter, err error) {
	for from < to {
		batch, next, err := t.broker.Scan(ctx, at, from, scanBytes)
		if err != nil {
			return nil, err
		}
		if next <= from {
			break
		}
		from = next
		var found []store.DeadLetter
		for i := range batch.Messages {
			if d := deadletter.Letter(&batch.Messages[i], t.scope, t.origin); d.SourceOffset < to && deadletter.Selects(filter, &d) && hasCode(&d, filter.ReasonPrefix) {
				found = append(found, d)
			}
		}
		if found, err = t.waiting(ctx, found, filter.Redriven); err != nil {
			return nil, err
		}
		letters = append(letters, found...)
	}
	return letters, nil
}

// hasCode says that a reason is a whole code and how the detail begins, as in the table: NO_RATE is none of NO_RATES.
func hasCode(d *store.DeadLetter, reason string) bool {
	return reason == "" || codeOf(d.Reason) == codeOf(reason)
}

// waiting leaves out those that had another life since.
func (t *topicLetters) waiting(ctx context.Context, letters []store.DeadLetter, redriven bool) ([]store.DeadLetter, error) {
	if t.records == nil || redriven {
		return letters, nil
	}
	var left []store.DeadLetter
	for some := range slices.Chunk(letters, pageSize) {
		keys := make([]string, len(some))
		for i := range some {
			keys[i] = some[i].Key
		}
		records, err := t.records.Records(ctx, t.scope, keys)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if !deadletter.Done(records[i], &some[i]) {
				left = append(left, some[i])
			}
		}
	}
	return left, nil
}

// at is the dead letter at a place; nil for none.
func (t *topicLetters) at(ctx context.Context, place string) (*store.DeadLetter, error) {
	partition, offset, err := placeIn(place)
	if err != nil {
		return nil, err
	}
	counts, err := t.broker.Partitions(ctx, t.topic)
	if err != nil || partition >= counts[t.topic] {
		return nil, err
	}
	p := broker.TopicPartition{Topic: t.topic, Partition: partition}
	bounds, err := t.broker.Bounds(ctx, []broker.TopicPartition{p})
	if err != nil || offset < bounds[p].From || offset >= bounds[p].To {
		return nil, err
	}
	letters, err := t.between(ctx, p, offset, offset+1, &store.DeadLetterFilter{Redriven: true})
	if err != nil || len(letters) == 0 {
		return nil, err
	}
	return &letters[0], nil
}

// placeOf is where a dead letter is in its topic, which is its id there.
func placeOf(d *store.DeadLetter) string {
	return placeText(d.SourcePartition, d.SourceOffset)
}

func placeText(partition int32, offset int64) string { return fmt.Sprintf("%d/%d", partition, offset) }

func placesOf(letters []store.DeadLetter) string {
	places := make([]string, len(letters))
	for i := range letters {
		places[i] = placeOf(&letters[i])
	}
	return strings.Join(places, " ")
}

var errPlace = errors.New("the id in a topic is PARTITION/OFFSET, as in the first column of ls")

func placeIn(text string) (partition int32, offset int64, err error) {
	left, right, _ := strings.Cut(text, "/")
	p, err := strconv.ParseInt(left, 10, 32)
	o, err2 := strconv.ParseInt(right, 10, 64)
	if cmp.Or(err, err2) != nil || p < 0 || o < 0 {
		return 0, 0, fmt.Errorf("%q: %w", text, errPlace)
	}
	return int32(p), o, nil
}

// checkTopicFilter says what a topic cannot be filtered by.
func checkTopicFilter(filter *store.DeadLetterFilter) error {
	if filter.Outcome != "" {
		return errors.New("--outcome and --topic: a topic does not keep the outcome: say --reject-reason, as in TOO_OLD")
	}
	return nil
}

// topicFailed is the error of a topic or a cluster that cannot be read.
func topicFailed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errPlace):
		return err
	case errors.Is(err, broker.ErrUnknownTopic):
		return failf("%w", err)
	}
	return brokenf("%w", err)
}
