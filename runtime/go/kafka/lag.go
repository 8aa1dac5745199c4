package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Lag is how far a group is behind in one partition.
type Lag struct {
	broker.TopicPartition
	// Committed is where the group goes on; the earliest offset where it has committed none.
	Committed int64
	// End is the offset behind the last message.
	End int64
	// Behind is how many offsets are in between. Where a log has gaps there are fewer messages.
	Behind int64
	// Oldest is the age of the first message that is not committed, by the broker's timestamps; 0 where
	// there is none.
	Oldest time.Duration
}

// Lag looks at each partition of the topics, for a group that may have members anywhere or none.
func (b *Broker) Lag(ctx context.Context, group string, topics ...string) ([]Lag, error) {
	lags, err := b.lag(ctx, group, topics)
	if err != nil {
		return nil, fmt.Errorf("lag of group %q: %w", group, b.explain(err))
	}
	return lags, nil
}

func (b *Broker) lag(ctx context.Context, group string, topics []string) ([]Lag, error) {
	lags, err := b.positions(ctx, group, topics)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for i := range lags {
		l := &lags[i]
		if l.Behind == 0 {
			continue
		}
		f, err := b.fetchOnce(ctx, l.TopicPartition, l.Committed, 1)
		if err != nil {
			return nil, err
		}
		if len(f.messages) > 0 {
			l.Oldest = max(now.Sub(f.messages[0].Time), 0)
		}
	}
	return lags, nil
}

// positions is lag without ages.
func (b *Broker) positions(ctx context.Context, group string, topics []string) ([]Lag, error) {
	counts, err := b.partitions(ctx, topics, patience{time.Second, b.config.RequestTimeout})
	if err != nil {
		return nil, err
	}
	partitions := map[string][]int32{}
	for topic, n := range counts {
		for p := range n {
			partitions[topic] = append(partitions[topic], p)
		}
	}
	bounds, err := b.bounds(ctx, partitions)
	if err != nil {
		return nil, err
	}
	committed, err := b.committed(ctx, group, partitions)
	if err != nil {
		return nil, err
	}
	lags := make([]Lag, 0, len(bounds))
	for at, bound := range bounds {
		l := Lag{TopicPartition: at, Committed: bound.first, End: bound.last}
		if offset, ok := committed[at]; ok {
			// Where retention has removed messages there are only those that are left.
			l.Committed = max(offset, bound.first)
		}
		l.Behind = max(l.End-l.Committed, 0)
		lags = append(lags, l)
	}
	slices.SortFunc(lags, func(a, b Lag) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return lags, nil
}

// bound is what a partition has: messages at [first, last).
type bound struct{ first, last int64 }

// patiently asks again, for as long as one request may take, while leaders and coordinators change.
func patiently[T any](ctx context.Context, b *Broker, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	for try := 0; ; try++ {
		answer, err := ask(ctx)
		if err == nil || hopeless(err) || ctx.Err() != nil {
			return answer, err
		}
		b.refresh()
		if !wait.For(ctx, backoff(try)) {
			return answer, err
		}
	}
}

// bounds asks the leaders.
func (b *Broker) bounds(ctx context.Context, partitions map[string][]int32) (map[broker.TopicPartition]bound, error) {
	return patiently(ctx, b, func(ctx context.Context) (map[broker.TopicPartition]bound, error) {
		return b.boundsOnce(ctx, partitions)
	})
}

func (b *Broker) boundsOnce(ctx context.Context, partitions map[string][]int32) (map[broker.TopicPartition]bound, error) {
	request := &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{}}
	want := 0
	for topic, ids := range partitions {
		for _, p := range ids {
			request.Topics[topic] = append(request.Topics[topic], kafka.FirstOffsetOf(int(p)), kafka.LastOffsetOf(int(p)))
			want++
		}
	}
	bounds := make(map[broker.TopicPartition]bound, want)
	if want == 0 {
		return bounds, nil
	}
	answer, err := b.client.ListOffsets(ctx, request)
	if err != nil {
		return nil, err
	}
	for topic, all := range answer.Topics {
		for _, p := range all {
			if p.Error != nil {
				return nil, fmt.Errorf("offsets of %s/%d: %w", topic, p.Partition, p.Error)
			}
			bounds[broker.TopicPartition{Topic: topic, Partition: int32(p.Partition)}] = bound{p.FirstOffset, p.LastOffset}
		}
	}
	if len(bounds) != want {
		return nil, fmt.Errorf("offsets of %d partitions: the brokers answered for %d", want, len(bounds))
	}
	return bounds, nil
}

// committed is what a group has committed; what it has not is left out.
func (b *Broker) committed(ctx context.Context, group string, partitions map[string][]int32) (map[broker.TopicPartition]int64, error) {
	return patiently(ctx, b, func(ctx context.Context) (map[broker.TopicPartition]int64, error) {
		return b.committedOnce(ctx, group, partitions)
	})
}

func (b *Broker) committedOnce(ctx context.Context, group string, partitions map[string][]int32) (map[broker.TopicPartition]int64, error) {
	request := &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{}}
	for topic, ids := range partitions {
		for _, p := range ids {
			request.Topics[topic] = append(request.Topics[topic], int(p))
		}
	}
	answer, err := b.client.OffsetFetch(ctx, request)
	if err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	committed := map[broker.TopicPartition]int64{}
	for topic, all := range answer.Topics {
		for _, p := range all {
			if p.Error != nil {
				return nil, fmt.Errorf("committed offset of %s/%d: %w", topic, p.Partition, p.Error)
			}
			if p.CommittedOffset >= 0 {
				committed[broker.TopicPartition{Topic: topic, Partition: int32(p.Partition)}] = p.CommittedOffset
			}
		}
	}
	return committed, nil
}
