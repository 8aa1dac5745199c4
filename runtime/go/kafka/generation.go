package kafka

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// generation is one share, by kafka-go's Generation. A function of ours runs in that one until the share is
// closed: until then kafka-go keeps the connection that commits need, and does not join again.
type generation struct {
	group       *group
	kafka       *kafka.Generation
	assignments []broker.Assignment
	// ctx ends with the generation; fetches are under it.
	ctx context.Context
	end context.CancelFunc
	// fence is held for reading by each commit. The generation ends under it, so a commit is either over
	// before, or refused.
	fence    sync.RWMutex
	released chan struct{}
	once     sync.Once

	// commits go one after the other, so that the broker gets them in this order.
	commits   sync.Mutex
	committed map[broker.TopicPartition]int64

	mu sync.Mutex
	// passed are offsets asked for behind which there was nothing to deliver up to another one.
	passed map[broker.TopicPartition]passage
}

type passage struct{ from, to int64 }

// begin takes a generation over from kafka-go; nil where it has ended meanwhile.
func (g *group) begin(ctx context.Context, next *kafka.Generation) (*generation, error) {
	n := &generation{group: g, kafka: next, released: make(chan struct{}),
		committed: map[broker.TopicPartition]int64{}, passed: map[broker.TopicPartition]passage{}}
	n.ctx, n.end = context.WithCancel(context.Background())
	over := make(chan bool, 1)
	next.Start(func(kafkaCtx context.Context) {
		over <- kafkaCtx.Err() != nil
		n.hold(kafkaCtx)
	})
	next.Start(n.watch)
	if <-over {
		n.release()
		return nil, nil
	}
	err := n.assign(ctx)
	if n.ctx.Err() != nil {
		n.release()
		return nil, nil
	}
	if err == nil {
		g.mu.Lock()
		if g.closed {
			err = broker.ErrClosed
		} else {
			g.current = n
		}
		g.mu.Unlock()
	}
	if err != nil {
		n.release()
		return nil, err
	}
	return n, nil
}

// hold keeps the generation until it is over and closed.
func (n *generation) hold(kafkaCtx context.Context) {
	select {
	case <-kafkaCtx.Done():
	case <-n.released:
	}
	n.fence.Lock()
	n.end()
	n.fence.Unlock()
	<-n.released
}

// watch ends the generation where a topic has other partitions than the leader, this process, has dealt out.
func (n *generation) watch(kafkaCtx context.Context) {
	dealt := n.group.dealt.get()
	if len(dealt) == 0 {
		<-kafkaCtx.Done()
		return
	}
	b := n.group.broker
	topics := slices.Sorted(maps.Keys(dealt))
	for wait.For(kafkaCtx, b.config.PartitionWatchInterval) {
		counts, _, err := b.count(kafkaCtx, topics)
		if err != nil {
			continue // the next look may succeed
		}
		for _, topic := range topics {
			// A topic that is not there now is deleted, or about to be known; either way it has nothing to read.
			if now := counts[topic]; now != dealt[topic] && now > 0 {
				b.log.Info("kafka: partitions changed, the group rebalances", slog.String("group", n.group.name),
					slog.String("topic", topic), slog.Int("before", int(dealt[topic])), slog.Int("now", int(now)))
				return
			}
		}
	}
}

// assign finds the earliest offsets where none are committed.
func (n *generation) assign(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	unset := map[string][]int32{}
	for topic, partitions := range n.kafka.Assignments {
		for _, p := range partitions {
			n.assignments = append(n.assignments, broker.Assignment{
				TopicPartition: broker.TopicPartition{Topic: topic, Partition: int32(p.ID)}, Offset: p.Offset})
			if p.Offset < 0 {
				unset[topic] = append(unset[topic], int32(p.ID))
			}
		}
	}
	if len(unset) > 0 {
		earliest, err := n.earliest(ctx, unset)
		if err != nil {
			return err
		}
		for i := range n.assignments {
			if a := &n.assignments[i]; a.Offset < 0 {
				a.Offset = earliest[a.TopicPartition]
			}
		}
	}
	slices.SortFunc(n.assignments, func(a, b broker.Assignment) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return nil
}

// earliest tries again until the leaders answer.
func (n *generation) earliest(ctx context.Context, partitions map[string][]int32) (map[broker.TopicPartition]int64, error) {
	for {
		bounds, err := n.group.broker.bounds(ctx, partitions)
		if err == nil {
			earliest := make(map[broker.TopicPartition]int64, len(bounds))
			for at, bound := range bounds {
				earliest[at] = bound.first
			}
			return earliest, nil
		}
		if hopeless(err) || ctx.Err() != nil {
			return nil, err
		}
	}
}

func (n *generation) Assignments() []broker.Assignment { return slices.Clone(n.assignments) }

func (n *generation) Done() <-chan struct{} { return n.ctx.Done() }

func (n *generation) isClosed() bool {
	select {
	case <-n.released:
		return true
	default:
		return false
	}
}

func (n *generation) release() { n.once.Do(func() { close(n.released) }) }

// Close gives the share back. Where the generation is over, the group waits for this member to join
// again, for SessionTimeout at most; where it is not, the member leaves the group.
func (n *generation) Close() error {
	if n.ctx.Err() == nil && !n.isClosed() {
		n.group.leave(n)
	}
	n.release()
	<-n.ctx.Done() // commits under way are done, and no other one begins
	return nil
}
