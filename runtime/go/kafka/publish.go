package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Publish sends each partition's messages in their order, one batch after the other, and the partitions side
// by side. A batch that may have arrived is sent again until it is confirmed, so consumers can see one
// twice.
func (b *Broker) Publish(ctx context.Context, messages []broker.Message) []error {
	if len(messages) == 0 {
		return nil
	}
	p := publication{broker: b, messages: messages, errs: make([]error, len(messages))}
	shares := p.share(ctx)
	if len(shares) == 1 {
		shares[0].send(ctx)
	} else {
		var wait sync.WaitGroup
		for _, s := range shares {
			wait.Go(func() { s.send(ctx) })
		}
		wait.Wait()
	}
	if !p.failed.Load() {
		return nil
	}
	return p.errs
}

// publication is one call of Publish.
type publication struct {
	broker   *Broker
	messages []broker.Message
	errs     []error // each entry is written by one goroutine
	failed   atomic.Bool
}

func (p *publication) fail(i int, err error) {
	p.errs[i] = fmt.Errorf("publish to %s: %w", p.messages[i].Topic, err)
	p.failed.Store(true)
}

// share is what goes to one partition, in its order.
type share struct {
	publication *publication
	broker.TopicPartition
	of []int // indexes of messages
	// keys of messages that failed for a reason of their own; what comes behind them is not sent.
	failed map[string]bool
}

var turn atomic.Uint32

// share deals the messages out. Those of one call without a key go to one partition, which is another one
// each time.
func (p *publication) share(ctx context.Context) []*share {
	counts := map[string]int32{}
	unknown := map[string]error{}
	byPartition := map[broker.TopicPartition]*share{}
	var shares []*share
	keyless := turn.Add(1)
	for i := range p.messages {
		m := &p.messages[i]
		n, ok := counts[m.Topic]
		if !ok && unknown[m.Topic] == nil {
			found, err := p.count(ctx, m.Topic)
			if err != nil {
				unknown[m.Topic] = err
			}
			n = found
			counts[m.Topic] = n
		}
		if err := unknown[m.Topic]; err != nil {
			p.fail(i, err)
			continue
		}
		partition := broker.PartitionOf(m.Key, n)
		if partition < 0 {
			partition = int32(keyless % uint32(n))
		}
		at := broker.TopicPartition{Topic: m.Topic, Partition: partition}
		s := byPartition[at]
		if s == nil {
			s = &share{publication: p, TopicPartition: at}
			byPartition[at] = s
			shares = append(shares, s)
		}
		s.of = append(s.of, i)
	}
	return shares
}

func (p *publication) count(ctx context.Context, topic string) (int32, error) {
	if err := broker.CheckTopic(topic); err != nil {
		return 0, err
	}
	counts, err := p.broker.partitions(ctx, []string{topic}, patience{p.broker.config.UnknownTopicFor, p.broker.config.RetryFor})
	return counts[topic], err
}

// send sends the share in batches, and stops at the first that fails for no reason of its own.
func (s *share) send(ctx context.Context) {
	p := s.publication
	for rest := s.of; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) {
			size += sizeOf(&p.messages[rest[n]])
			if n > 0 && size > p.broker.config.MaxBatchBytes {
				break
			}
			n++
		}
		if err := s.batch(ctx, rest[:n]); err != nil {
			for _, i := range rest[n:] {
				p.fail(i, fmt.Errorf("%w: %w", broker.ErrBehindFailed, err))
			}
			return
		}
		rest = rest[n:]
	}
}

// batch sends some messages at once. Where the broker refuses the batch for what is in it, it is halved
// until what is refused is alone. The error, which all of them have got, is one that concerns the
// partition.
func (s *share) batch(ctx context.Context, of []int) error {
	p := s.publication
	of = s.sendable(of)
	if len(of) == 0 {
		return nil
	}
	err := p.broker.produce(ctx, s.TopicPartition, p.messages, of)
	if errors.Is(err, kafka.MessageSizeTooLarge) && p.broker.fenced(ctx, s.Topic) {
		err = errFenced
	}
	switch {
	case err == nil:
		return nil
	case !faultOfRecord(err):
		err = p.broker.explain(err)
		for _, i := range of {
			p.fail(i, err)
		}
		return err
	case len(of) == 1:
		s.failOne(of[0], p.broker.ofRecord(ctx, &p.messages[of[0]], err))
		return nil
	}
	half := len(of) / 2
	if err := s.batch(ctx, of[:half]); err != nil {
		for _, i := range of[half:] {
			p.fail(i, fmt.Errorf("%w: %w", broker.ErrBehindFailed, err))
		}
		return err
	}
	return s.batch(ctx, of[half:])
}

// sendable leaves out, and fails, what is too large or behind a message of its key that failed.
func (s *share) sendable(of []int) []int {
	p := s.publication
	limit := p.broker.config.MaxMessageBytes
	kept := of[:0:0]
	for _, i := range of {
		m := &p.messages[i]
		switch size := sizeOf(m); {
		case m.Key != nil && s.failed[string(m.Key)]:
			p.fail(i, broker.ErrBehindFailed)
		case size > limit:
			s.failOne(i, &TooLargeError{Topic: m.Topic, Size: size, Limit: limit})
		default:
			kept = append(kept, i)
		}
	}
	return kept
}

func (s *share) failOne(i int, err error) {
	s.publication.fail(i, err)
	if key := s.publication.messages[i].Key; key != nil {
		if s.failed == nil {
			s.failed = map[string]bool{}
		}
		s.failed[string(key)] = true
	}
}
