package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Log is what is read of Kafka; *kafka.Broker is one.
type Log interface {
	Partitions(ctx context.Context, topics ...string) (map[string]int32, error)
	Spans(ctx context.Context, topic string, since, until time.Time) ([]kafka.Span, error)
	Scan(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, int64, error)
}

// Topics say what is read of topics.
type Topics struct {
	Names []string
	// Since and Until bound the broker's timestamps; zero for no bound.
	Since, Until time.Time
	// Follow goes on with what comes, also in partitions that are added, until ctx ends.
	Follow bool
	// MaxMessage is the most bytes of a payload that is read.
	MaxMessage int
}

// How often --follow looks for added partitions, and for how long afterwards nobody knows by which count a producer
// places its records: the metadata.max.age.ms of Kafka's clients.
const (
	growthEvery = 5 * time.Second
	learnWithin = 5 * time.Minute
)

// fetchBytes is about how much one fetch brings; a message that is larger comes all the same.
const fetchBytes = 1 << 20

// topics reads partitions, one after the other up to where they end at the beginning; then all at once.
type topics struct {
	log    Log
	topics Topics
	parts  []*part
	// next is the part that is read, of those that there were at the beginning.
	next, first int

	follow sync.Once
	more   chan arrival
	grown  chan map[string]int32
	// last is the latest timestamp that was read and is not in the future; zero where there is none.
	last time.Time
}

// part is a partition that is read.
type part struct {
	kafka.Span
	source *Source
	// partitions is how many the topic has, for records from unsure on; of those before it nobody knows.
	partitions int32
	unsure     time.Time
}

// arrival is what a partition brought.
type arrival struct {
	part     *part
	messages []broker.Message
	err      error
}

// Kafka reads topics, for no group: it joins none, and commits nothing.
func Kafka(ctx context.Context, log Log, t Topics) (Reader, error) {
	r := &topics{log: log, topics: t, more: make(chan arrival), grown: make(chan map[string]int32)}
	for _, name := range t.Names {
		spans, err := log.Spans(ctx, name, t.Since, t.Until)
		if err != nil {
			return nil, err
		}
		for _, span := range spans {
			r.add(span, int32(len(spans)))
		}
	}
	r.first = len(r.parts)
	return r, nil
}

func (r *topics) add(span kafka.Span, partitions int32) *part {
	source := &Source{ID: uint32(len(r.parts)), Name: fmt.Sprintf("%s/%d", span.Topic, span.Partition), Log: true}
	p := &part{Span: span, source: source, partitions: partitions}
	r.parts = append(r.parts, p)
	return p
}

func (r *topics) Close() error { return nil }

func (r *topics) Read(ctx context.Context, b *Batch) error {
	for r.next < r.first {
		p := r.parts[r.next]
		if p.From >= p.To {
			r.next++
			continue
		}
		messages, err := r.scan(ctx, p)
		if err != nil {
			return err
		}
		for n := len(messages); n > 0 && messages[n-1].Offset >= p.To; n-- {
			messages, p.From = messages[:n-1], p.To // for --follow they are read again
		}
		if len(messages) > 0 {
			return r.fill(b, p, messages)
		}
	}
	if !r.topics.Follow {
		return io.EOF
	}
	r.follow.Do(func() {
		for _, p := range r.parts {
			go r.watch(ctx, p)
		}
		go r.watchGrowth(ctx)
	})
	for {
		select {
		case a := <-r.more:
			if a.err != nil {
				return r.goOn(a.err)
			}
			return r.fill(b, a.part, a.messages)
		case counts := <-r.grown:
			if err := r.grow(ctx, counts); err != nil {
				return r.goOn(err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watchGrowth tells how many partitions the topics have, again and again. That a broker is away, the partitions say.
func (r *topics) watchGrowth(ctx context.Context) {
	tick := time.NewTicker(growthEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		counts, err := r.log.Partitions(ctx, r.topics.Names...)
		if err != nil {
			continue
		}
		select {
		case r.grown <- counts:
		case <-ctx.Done():
			return
		}
	}
}

// grow begins to watch the partitions that were added, from their first message on.
func (r *topics) grow(ctx context.Context, counts map[string]int32) error {
	for _, topic := range r.topics.Names {
		var known int32
		for _, p := range r.parts {
			if p.Topic == topic {
				known = max(known, p.Partition+1)
			}
		}
		if counts[topic] <= known {
			continue
		}
		spans, err := r.log.Spans(ctx, topic, r.topics.Since, time.Time{})
		if err != nil {
			return err
		}
		for _, span := range spans {
			if span.Partition >= known {
				go r.watch(ctx, r.add(span, 0))
			}
		}
		for _, p := range r.parts {
			if p.Topic == topic {
				p.partitions, p.unsure = int32(len(spans)), time.Now().Add(learnWithin)
			}
		}
	}
	return nil
}

// overlap is what a following run is to read again: a partition may be behind the latest timestamp of the others by
// as long as its broker was not heard of.
const overlap = time.Minute

// goOn adds to an error how another run follows on this one.
func (r *topics) goOn(err error) error {
	if r.last.IsZero() || errors.Is(err, context.Canceled) {
		return err
	}
	since := r.last.Add(-overlap).UTC().Format(time.RFC3339)
	return fmt.Errorf("%w; to go on, run it again with --since %s, a minute before the last message that was read", err, since)
}

// scan reads on. A partition of which nothing more can be read now, since a transaction is open, ends there.
func (r *topics) scan(ctx context.Context, p *part) ([]broker.Message, error) {
	batch, next, err := r.log.Scan(ctx, p.TopicPartition, p.From, fetchBytes)
	if err != nil {
		return nil, err
	}
	p.From = next
	if len(batch.Messages) == 0 && next >= batch.End {
		p.To = min(p.To, next)
	}
	return batch.Messages, nil
}

// watch waits for messages of a partition.
func (r *topics) watch(ctx context.Context, p *part) {
	for ctx.Err() == nil {
		messages, err := r.scan(ctx, p)
		if err == nil && len(messages) == 0 {
			continue
		}
		select {
		case r.more <- arrival{p, messages, err}:
		case <-ctx.Done():
		}
		if err != nil {
			return
		}
	}
}

func (r *topics) fill(b *Batch, p *part, messages []broker.Message) error {
	b.Source, b.Items = p.source, b.Items[:0]
	made := make([]Message, len(messages))
	now := time.Now()
	for i := range messages {
		m := &messages[i]
		if len(m.Value) > r.topics.MaxMessage {
			return tooLong(fmt.Sprintf("%s@%d", p.source.Name, m.Offset), uint64(len(m.Value)), r.topics.MaxMessage)
		}
		if m.Time.After(r.last) && m.Time.Before(now) {
			r.last = m.Time
		}
		partitions := p.partitions
		if m.Time.Before(p.unsure) {
			partitions = 0
		}
		made[i] = Message{
			Number: m.Offset, Topic: m.Topic, Partition: m.Partition, Partitions: partitions, Time: m.Time,
			Key: m.Key, HasKey: true, Headers: m.Headers, HasHeaders: true, Payload: m.Value,
		}
		b.Items = append(b.Items, Item{Number: m.Offset, ready: &made[i]})
	}
	return nil
}
