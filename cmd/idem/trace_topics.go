package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// readTopics adds the messages of a key.
func (f *traceFlags) readTopics(ctx context.Context, std streams, life *lifeOf, since time.Time) error {
	f.kafka.context = f.place.Context
	log, err := f.kafka.open(false)
	if err != nil {
		return err
	}
	defer log.Close()
	topics, err := withFollowUps(ctx, log, f.topics, life.scopes)
	if err != nil {
		return readingFailed(err)
	}
	scan := &keyScan{log: log, key: life.key, most: f.maxMessages, progress: newProgress(std.err), sum: life.addMessage}
	for _, topic := range topics {
		spans, err := log.Spans(ctx, topic, since, time.Time{})
		if err != nil {
			return readingFailed(err)
		}
		if f.bizKey != "" {
			p, err := idem.KafkaPartition(f.bizKey, int32(len(spans)))
			if err != nil {
				return fmt.Errorf("--biz-key: %w", err)
			}
			spans = spans[p : p+1]
		}
		scan.add(spans)
	}
	err = scan.run(ctx)
	scan.progress.clear()
	if err != nil {
		return readingFailed(err)
	}
	if scan.left > 0 {
		fmt.Fprintf(std.err, "%d messages were read, which is --max-messages, and up to %d were not: a later --since, or --biz-key, has fewer\n", scan.read, scan.left)
	}
	return nil
}

// withFollowUps are topics, and those of their retries and dead letters for scopes that there are.
func withFollowUps(ctx context.Context, log *kafka.Broker, topics, scopes []string) ([]string, error) {
	var may []string
	for _, topic := range topics {
		for _, scope := range scopes {
			may = append(may, broker.RetryTopic(topic, scope), broker.DeadLetterTopic(topic, scope))
		}
	}
	all := slices.Clone(topics)
	if len(may) > 0 {
		there, _, err := log.DescribeTopics(ctx, may...)
		if err != nil {
			return nil, err
		}
		for _, t := range there {
			all = append(all, t.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// scanners is how many partitions are read at a time, and scanBytes about how much one fetch brings.
const (
	scanners  = 4
	scanBytes = 1 << 20
)

// keyScan looks through partitions for messages of a key.
type keyScan struct {
	log      *kafka.Broker
	key      string
	spans    []kafka.Span
	progress *progress
	sum      func(m *broker.Message) // is told of each message of the key

	mu    sync.Mutex
	most  int64 // to read
	all   int64
	read  int64
	left  int64 // not read, since there were too many
	shown time.Time
}

func (s *keyScan) add(spans []kafka.Span) {
	for _, span := range spans {
		if span.From < span.To {
			s.spans = append(s.spans, span)
			s.all += span.To - span.From
		}
	}
}

func (s *keyScan) run(ctx context.Context) error {
	readers, ctx := errgroup.WithContext(ctx)
	readers.SetLimit(scanners)
	for _, span := range s.spans {
		readers.Go(func() error { return s.partition(ctx, span) })
	}
	return readers.Wait()
}

// partition reads one to where it ended at the beginning.
func (s *keyScan) partition(ctx context.Context, span kafka.Span) error {
	for span.From < span.To {
		if s.enough(span.To - span.From) {
			return nil
		}
		batch, next, err := s.log.Scan(ctx, span.TopicPartition, span.From, scanBytes)
		if err != nil {
			return err
		}
		if len(batch.Messages) == 0 && next >= batch.End { // a transaction is open: nothing more can be read now
			return nil
		}
		s.look(batch.Messages, span.To)
		span.From = next
	}
	return nil
}

// enough says that no more is to be read.
func (s *keyScan) enough(left int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read < s.most {
		return false
	}
	s.left += left
	return true
}

func (s *keyScan) look(messages []broker.Message, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		if m.Offset >= to {
			break
		}
		if s.read == s.most {
			s.left += int64(len(messages) - i)
			break
		}
		s.read++
		if header(m.Headers, idem.IdempotencyKey) == s.key {
			s.sum(m)
		}
	}
	if now := time.Now(); now.Sub(s.shown) > 100*time.Millisecond {
		s.shown = now
		s.progress.tell(fmt.Sprintf("read %d of %d messages", s.read, s.all))
	}
}

// messageJSON is a message of Kafka in --output json. Fields are added, and never renamed or removed.
type messageJSON struct {
	Topic        string `json:"topic"`
	Partition    int32  `json:"partition"`
	Offset       int64  `json:"offset"`
	EventType    string `json:"event_type"`
	EventID      string `json:"event_id"`
	BizKey       string `json:"biz_key"`
	TargetScope  string `json:"target_scope,omitempty"`
	RetryCount   int64  `json:"retry_count"`
	HoldCount    int64  `json:"hold_count"`
	RedriveCount int64  `json:"redrive_count"`
	RejectReason string `json:"reject_reason,omitempty"`
	PayloadBytes int    `json:"payload_bytes"`
	// PayloadSHA256 tells which messages of a key have the same payload.
	PayloadSHA256 string `json:"payload_sha256"`
	// OtherPayload says that it is not that of the first message of the key which was found.
	OtherPayload bool `json:"other_payload"`
	// Repaired says that a redrive has another payload than any dead letter of the key in its scope, where there is one.
	Repaired bool `json:"repaired"`
	// Duplicate says that it was redriven from a topic, and the key had its effect.
	Duplicate bool `json:"duplicate"`
}

// addMessage adds a message of Kafka at the broker's time. A count that is no number is 0.
func (l *lifeOf) addMessage(m *broker.Message) {
	number := func(id idem.HeaderID) int64 {
		n, _ := strconv.ParseInt(header(m.Headers, id), 10, 32)
		return n
	}
	j := messageJSON{
		Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, EventType: header(m.Headers, idem.EventType),
		EventID: header(m.Headers, idem.EventID), BizKey: string(m.Key), TargetScope: header(m.Headers, idem.TargetScope),
		RetryCount: number(idem.RetryCount), HoldCount: number(idem.HoldCount), RedriveCount: number(idem.RedriveCount),
		RejectReason: header(m.Headers, idem.RejectReason), PayloadBytes: len(m.Value), PayloadSHA256: payload.Digest(m.Value),
	}
	what := fmt.Sprintf("produced to %s, partition %d, offset %d", m.Topic, m.Partition, m.Offset)
	for _, c := range []struct {
		word string
		n    int64
	}{{"retry", j.RetryCount}, {"hold", j.HoldCount}, {"redrive", j.RedriveCount}} {
		if c.n > 0 {
			what += fmt.Sprintf(", %s %d", c.word, c.n)
		}
	}
	if j.EventID != "" {
		what += ", event " + show.Cut(j.EventID, 40)
	}
	l.add(lifeEvent{At: m.Time, Kind: lifeMessage, Scope: j.TargetScope, What: what, TraceID: traceID(m.Headers), Message: &j})
}

// comparePayloads says of messages of Kafka, in the order of time, which have another payload.
func (l *lifeOf) comparePayloads() {
	first := ""
	// redriven are the digests of dead letters that a message may be another life of.
	redriven := func(m *messageJSON) (of []string) {
		for i := range l.events {
			if d := l.events[i].DeadLetter; d != nil && d.Scope == m.TargetScope && int64(d.RedriveCount) < m.RedriveCount {
				of = append(of, d.PayloadSHA256)
			}
		}
		return of
	}
	for i := range l.events {
		m := l.events[i].Message
		if m == nil {
			continue
		}
		first = cmp.Or(first, m.PayloadSHA256)
		m.OtherPayload = m.PayloadSHA256 != first
		of := redriven(m)
		m.Repaired = len(of) > 0 && !slices.Contains(of, m.PayloadSHA256)
		switch {
		case m.Repaired && m.OtherPayload:
			l.events[i].What += ", another payload than the dead letter's and the first message's"
		case m.Repaired:
			l.events[i].What += ", another payload than the dead letter's"
		case m.OtherPayload:
			l.events[i].What += ", another payload than the first message's"
		}
	}
}
