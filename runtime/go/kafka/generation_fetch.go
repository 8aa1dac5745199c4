package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Fetch waits for at most MaxWait. A broker that is away makes it wait for a few seconds longer, and then
// an error.
func (n *generation) Fetch(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, error) {
	batch, err := n.fetch(ctx, at, offset, maxBytes)
	switch {
	case err == nil:
		return batch, nil
	case n.ctx.Err() != nil:
		err = broker.ErrGenerationOver
	case ctx.Err() != nil:
		return broker.Batch{}, ctx.Err()
	default:
		err = n.group.broker.explain(err)
	}
	return broker.Batch{}, fmt.Errorf("fetch %s/%d at offset %d for group %q: %w", at.Topic, at.Partition, offset, n.group.name, err)
}

// fetchPatience is how long a fetch tries again on its own.
const fetchPatience = 5 * time.Second

func (n *generation) fetch(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, error) {
	if n.ctx.Err() != nil {
		return broker.Batch{}, broker.ErrGenerationOver
	}
	if !n.has(at) {
		return broker.Batch{}, errors.New("the partition is not this member's")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	b := n.group.broker
	start, from := time.Now(), n.pass(at, offset)
	for try := 0; ; try++ {
		f, err := b.fetchOnce(ctx, at, from, maxBytes)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			if from, err = n.outOfRange(ctx, at, from); err == nil {
				continue
			}
		}
		switch {
		case err == nil && len(f.messages) > 0:
			return broker.Batch{Messages: f.messages, End: max(f.end, f.next)}, nil
		case err == nil && f.next > from: // markers and aborted messages alone
			from = f.next
			n.passedOver(at, offset, from)
			if time.Since(start) < b.config.MaxWait {
				continue
			}
			return broker.Batch{End: max(f.end, from)}, nil
		case err == nil:
			if f.records && !wait.For(ctx, b.config.MaxWait) { // a batch that compaction has emptied
				return broker.Batch{}, ctx.Err()
			}
			return broker.Batch{End: max(f.end, from)}, nil
		case hopeless(err) || ctx.Err() != nil || time.Since(start) > fetchPatience:
			return broker.Batch{}, err
		}
		b.refresh()
		if !wait.For(ctx, backoff(try)) {
			return broker.Batch{}, ctx.Err()
		}
	}
}

func (n *generation) has(at broker.TopicPartition) bool {
	return slices.ContainsFunc(n.assignments, func(a broker.Assignment) bool { return a.TopicPartition == at })
}

// pass is where to look for messages at offset.
func (n *generation) pass(at broker.TopicPartition, offset int64) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.passed[at]; p.from <= offset && offset < p.to {
		return p.to
	}
	return offset
}

func (n *generation) passedOver(at broker.TopicPartition, from, to int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.passed[at]; p.to == from {
		from = p.from
	}
	n.passed[at] = passage{from, to}
}

// outOfRange goes on with the earliest message where retention has removed what was asked for. An offset
// behind the end is an error: the log was cut, and only a person knows what that means.
func (n *generation) outOfRange(ctx context.Context, at broker.TopicPartition, offset int64) (int64, error) {
	bounds, err := n.group.broker.bounds(ctx, map[string][]int32{at.Topic: {at.Partition}})
	if err != nil {
		return offset, err
	}
	bound := bounds[at]
	if offset < bound.first {
		n.group.broker.log.ErrorContext(ctx, "kafka: messages were removed before this group consumed them: raise the topic's retention.ms",
			slog.String("group", n.group.name), slog.String("topic", at.Topic), slog.Int("partition", int(at.Partition)),
			slog.Int64("lost_from", offset), slog.Int64("lost_to", bound.first))
		return bound.first, nil
	}
	return offset, fmt.Errorf("%w: the partition ends at %d: it was cut or made anew; set the group's offset by kafka-consumer-groups --reset-offsets, or use a new group", kafka.OffsetOutOfRange, bound.last)
}
