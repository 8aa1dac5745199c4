package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Span is the offsets [From, To) of a partition.
type Span struct {
	broker.TopicPartition
	From, To int64
}

// Spans are the offsets of a topic's partitions, in their order: of the messages with a timestamp from since
// on, and before until; a zero time is no bound. To is never beyond what is there now.
func (b *Broker) Spans(ctx context.Context, topic string, since, until time.Time) ([]Span, error) {
	spans, err := b.spans(ctx, topic, since, until)
	if err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", topic, b.explain(err))
	}
	return spans, nil
}

func (b *Broker) spans(ctx context.Context, topic string, since, until time.Time) ([]Span, error) {
	counts, err := b.partitions(ctx, []string{topic}, patience{time.Second, b.config.RequestTimeout})
	if err != nil {
		return nil, err
	}
	ids := make([]int32, counts[topic])
	for p := range ids {
		ids[p] = int32(p)
	}
	bounds, err := b.bounds(ctx, map[string][]int32{topic: ids})
	if err != nil {
		return nil, err
	}
	from, err := b.offsetsAt(ctx, map[string][]int32{topic: ids}, since)
	if err != nil {
		return nil, err
	}
	to, err := b.offsetsAt(ctx, map[string][]int32{topic: ids}, until)
	if err != nil {
		return nil, err
	}
	spans := make([]Span, len(ids))
	for i, p := range ids {
		at := broker.TopicPartition{Topic: topic, Partition: p}
		spans[i] = Span{at, bounds[at].first, bounds[at].last}
		if offset, known := from[at]; known {
			spans[i].From = offset
		} else if !since.IsZero() {
			spans[i].From = spans[i].To
		}
		if offset, known := to[at]; known {
			spans[i].To = max(min(offset, spans[i].To), spans[i].From)
		}
	}
	return spans, nil
}

// EndsAt is where partitions ended at a time: the first offset whose timestamp is at or after it. A partition that
// has no such message is left out: it ended where it ends now.
func (b *Broker) EndsAt(ctx context.Context, partitions []broker.TopicPartition, at time.Time) (map[broker.TopicPartition]int64, error) {
	ends, err := b.offsetsAt(ctx, byTopic(partitions), at)
	if err != nil {
		return nil, fmt.Errorf("offsets at %s: %w", at.Format(time.RFC3339), b.explain(err))
	}
	return ends, nil
}

func byTopic(partitions []broker.TopicPartition) map[string][]int32 {
	all := map[string][]int32{}
	for _, p := range partitions {
		all[p.Topic] = append(all[p.Topic], p.Partition)
	}
	return all
}

// offsetsAt is the first offset of each partition whose timestamp is at or after a time; none where there is
// no such message, or no time.
func (b *Broker) offsetsAt(ctx context.Context, partitions map[string][]int32, at time.Time) (map[broker.TopicPartition]int64, error) {
	if at.IsZero() || len(partitions) == 0 {
		return nil, nil
	}
	request := &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{}}
	for topic, ids := range partitions {
		for _, p := range ids {
			request.Topics[topic] = append(request.Topics[topic], kafka.TimeOffsetOf(int(p), at))
		}
	}
	return patiently(ctx, b, func(ctx context.Context) (map[broker.TopicPartition]int64, error) {
		answer, err := b.client.ListOffsets(ctx, request)
		if err != nil {
			return nil, err
		}
		offsets := map[broker.TopicPartition]int64{}
		for topic, all := range answer.Topics {
			for _, p := range all {
				if p.Error != nil {
					return nil, p.Error
				}
				for offset := range p.Offsets {
					if offset >= 0 { // -1 is none
						offsets[broker.TopicPartition{Topic: topic, Partition: int32(p.Partition)}] = offset
					}
				}
			}
		}
		return offsets, nil
	})
}

// Scan reads messages at an offset, for no group: nothing is joined, and nothing is committed. It returns
// where to go on, too, which is behind what a transaction aborted or compaction removed. It waits for at most
// MaxWait, and for a few seconds more where a broker is away.
func (b *Broker) Scan(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, int64, error) {
	start := time.Now()
	for try := 0; ; try++ {
		f, err := b.fetchOnce(ctx, at, offset, maxBytes)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			var from int64
			if from, err = b.earliest(ctx, at, offset); err == nil && from > offset {
				offset = from
				continue
			}
		}
		if err == nil {
			return broker.Batch{Messages: f.messages, End: max(f.end, f.next)}, f.next, nil
		}
		if hopeless(err) || ctx.Err() != nil || time.Since(start) > fetchPatience {
			return broker.Batch{}, offset, fmt.Errorf("read %s/%d at offset %d: %w", at.Topic, at.Partition, offset, b.explain(ended(ctx, err)))
		}
		b.refresh()
		if !wait.For(ctx, backoff(try)) {
			return broker.Batch{}, offset, ctx.Err()
		}
	}
}

// earliest is where to go on where retention has removed what was asked for.
func (b *Broker) earliest(ctx context.Context, at broker.TopicPartition, offset int64) (int64, error) {
	bounds, err := b.bounds(ctx, map[string][]int32{at.Topic: {at.Partition}})
	if err != nil {
		return offset, err
	}
	if first := bounds[at].first; offset < first {
		return first, nil
	}
	return offset, fmt.Errorf("%w: the partition ends at %d", kafka.OffsetOutOfRange, bounds[at].last)
}
