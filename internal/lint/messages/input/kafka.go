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
	Spans(ctx context.Context, topic string, since, until time.Time) ([]kafka.Span, error)
	Scan(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, int64, error)
}

// Topics say what is read of topics.
type Topics struct {
	Names []string
	// Since and Until bound the broker's timestamps; zero for no bound.
	Since, Until time.Time
	// Follow goes on with what comes, until ctx ends.
	Follow bool
	// MaxMessage is the most bytes of a payload that is read.
	MaxMessage int
}

// fetchBytes is about how much one fetch brings; a message that is larger comes all the same.
const fetchBytes = 1 << 20

// topics reads partitions, one after the other up to where they end at the beginning; then all at once.
type topics struct {
	log    Log
	topics Topics
	parts  []*part
	next   int

	follow sync.Once
	more   chan arrival
	// last is the latest timestamp that was read and is not in the future; zero where there is none.
	last time.Time
}

// part is a partition that is read.
type part struct {
	kafka.Span
	source     *Source
	partitions int32
}

// arrival is what a partition brought.
type arrival struct {
	part     *part
	messages []broker.Message
	err      error
}

// Kafka reads topics, for no group: it joins none, and commits nothing.
func Kafka(ctx context.Context, log Log, t Topics) (Reader, error) {
	r := &topics{log: log, topics: t, more: make(chan arrival)}
	for _, name := range t.Names {
		spans, err := log.Spans(ctx, name, t.Since, t.Until)
		if err != nil {
			return nil, err
		}
		for _, span := range spans {
			source := &Source{ID: uint32(len(r.parts)), Name: fmt.Sprintf("%s/%d", span.Topic, span.Partition), Log: true}
			r.parts = append(r.parts, &part{span, source, int32(len(spans))})
		}
	}
	return r, nil
}

func (r *topics) Close() error { return nil }

func (r *topics) Read(ctx context.Context, b *Batch) error {
	for r.next < len(r.parts) {
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
	})
	select {
	case a := <-r.more:
		if a.err != nil {
			return r.goOn(a.err)
		}
		return r.fill(b, a.part, a.messages)
	case <-ctx.Done():
		return ctx.Err()
	}
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
		made[i] = Message{
			Number: m.Offset, Topic: m.Topic, Partition: m.Partition, Partitions: p.partitions, Time: m.Time,
			Key: m.Key, HasKey: true, Headers: m.Headers, HasHeaders: true, Payload: m.Value,
		}
		b.Items = append(b.Items, Item{Number: m.Offset, ready: &made[i]})
	}
	return nil
}
