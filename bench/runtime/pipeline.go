package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const group = "payments"

// pipeline is all of it in memory: publish, fetch, dedup, decode, a handler that does nothing, acknowledge, with
// retries and dead letters in place. All are given messages that are made already, from one goroutine.
func pipeline(ctx context.Context, s size) (report, error) {
	c, err := compare(ctx, "in-memory pipeline", "messages", s, 100_000, []side{
		{name: "idem, outside effects", round: idemPipeline(idempotent)},
		{name: "idem, outside effects, in order of each key", round: idemPipeline(blocking)},
		{name: "idem, transactions of the store", round: idemPipeline(inTx)},
		{name: "Watermill, router with poison queue, retry and deduplicator", round: watermill},
	})
	return report{Comparisons: c}, err
}

func idempotent(count func()) consumer.Handler {
	return consumer.Idempotent(func(context.Context, *refundsv1.RefundAsked) error { count(); return nil })
}

func blocking(count func()) consumer.Handler {
	return consumer.Idempotent(func(context.Context, *refundsv1.RefundAsked) error { count(); return nil }, consumer.Route{Order: guard.Block})
}

func inTx(count func()) consumer.Handler {
	return consumer.Tx(func(context.Context, *memory.Tx, *refundsv1.RefundAsked) error { count(); return nil })
}

func idemPipeline(handler func(count func()) consumer.Handler) func(ctx context.Context, n int) (usage, error) {
	return func(ctx context.Context, n int) (usage, error) {
		m := broker.NewMemory(broker.MemoryConfig{})
		defer m.Close()
		for _, name := range []string{topic, broker.RetryTopic(topic, group)} {
			if err := m.CreateTopic(name, partitions); err != nil {
				return usage{}, err
			}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		c, err := consumer.New(m, memory.New(memory.Config{}), consumer.Config{Group: group, Topics: []string{topic}}, handler(countdown(n, cancel, none)))
		if err != nil {
			return usage{}, err
		}
		all := batches(messages(n))
		failed := make(chan error, 1)
		measured := start(nil)
		go func() {
			defer close(failed)
			for _, batch := range all {
				if err := errors.Join(m.Publish(ctx, batch)...); err != nil {
					failed <- err
					cancel()
				}
			}
		}()
		if err := c.Run(ctx); err != nil {
			return usage{}, err
		}
		u := measured.stop(n)
		return u, <-failed
	}
}

// What countdown is told of calls after the last one.
const (
	none = false // there are as many messages as it counts: one more is an effect too many
	more = true  // there are more messages than it counts
)

// countdown calls done when it has been called n times.
func countdown(n int, done func(), further bool) func() {
	var left atomic.Int64
	left.Store(int64(n))
	return func() {
		switch l := left.Add(-1); {
		case l == 0:
			done()
		case l < 0 && !further:
			panic(fmt.Sprintf("%d effects of %d messages", int64(n)-l, n))
		}
	}
}
