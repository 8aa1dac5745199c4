package seam

import (
	"context"
	"sync"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Broker is a process's connection to b.
func Broker(b broker.Broker, h Hook) broker.Broker { return &seamedBroker{b, h} }

type seamedBroker struct {
	of broker.Broker
	h  Hook
}

func (b *seamedBroker) Publish(ctx context.Context, messages []broker.Message) []error {
	keys := keysOf(messages, func(m *broker.Message) string { return KeyOf(m.Headers) })
	if err := b.h(ctx, Step{Op: Publish, Keys: keys}); err != nil {
		return each(len(messages), err)
	}
	errs := b.of.Publish(ctx, messages)
	if err := b.h(ctx, Step{Op: Publish, Keys: keys, After: true}); err != nil {
		return each(len(messages), err)
	}
	return errs
}

func each(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func (b *seamedBroker) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	g, err := b.of.Group(ctx, name, topics)
	if err != nil {
		return nil, err
	}
	return &seamedGroup{g, b.h}, nil
}

func (b *seamedBroker) Partitions(ctx context.Context, topics ...string) (map[string]int32, error) {
	return around(ctx, b.h, Check, nil, func() (map[string]int32, error) { return b.of.Partitions(ctx, topics...) })
}

// Close leaves the broker open: it is that of others too.
func (b *seamedBroker) Close() error { return nil }

type seamedGroup struct {
	of broker.Group
	h  Hook
}

func (g *seamedGroup) Join(ctx context.Context) (broker.Generation, error) {
	if err := g.h(ctx, Step{Op: Join}); err != nil {
		return nil, err
	}
	generation, err := g.of.Join(ctx)
	if err != nil {
		return nil, err
	}
	return &seamedGeneration{of: generation, h: g.h, fetched: make(map[broker.TopicPartition][]fetched)}, nil
}

// Close leaves the group, also of a process that is dead: its session is over by then.
func (g *seamedGroup) Close() error { return g.of.Close() }

type seamedGeneration struct {
	of broker.Generation
	h  Hook

	mu      sync.Mutex
	fetched map[broker.TopicPartition][]fetched // and not committed
}

type fetched struct {
	offset int64
	key    string
}

func (g *seamedGeneration) Assignments() []broker.Assignment { return g.of.Assignments() }
func (g *seamedGeneration) Done() <-chan struct{}            { return g.of.Done() }
func (g *seamedGeneration) Close() error                     { return g.of.Close() }

func (g *seamedGeneration) Fetch(ctx context.Context, p broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, error) {
	batch, err := around(ctx, g.h, Fetch, nil, func() (broker.Batch, error) { return g.of.Fetch(ctx, p, offset, maxBytes) })
	if len(batch.Messages) > 0 {
		g.mu.Lock()
		defer g.mu.Unlock()
		for i := range batch.Messages {
			g.fetched[p] = append(g.fetched[p], fetched{batch.Messages[i].Offset, KeyOf(batch.Messages[i].Headers)})
		}
	}
	return batch, err
}

// Commit is about the keys of the messages that are committed by it.
func (g *seamedGeneration) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	keys := g.keys(offsets, false)
	return alone(ctx, g.h, CommitOffsets, keys, func() error {
		err := g.of.Commit(ctx, offsets)
		if err == nil {
			g.keys(offsets, true)
		}
		return err
	})
}

func (g *seamedGeneration) keys(offsets map[broker.TopicPartition]int64, forget bool) (keys []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, offset := range offsets {
		i := 0
		for ; i < len(g.fetched[p]) && g.fetched[p][i].offset < offset; i++ {
			keys = append(keys, g.fetched[p][i].key)
		}
		if forget {
			g.fetched[p] = g.fetched[p][i:]
		}
	}
	return keys
}
