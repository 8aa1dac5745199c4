package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// latency is from the publication of a message to its effect where nothing else is going on: a handler that is called,
// and a transaction that is committed. The broker is in memory for all, so that it adds as little as it can.
func latency(ctx context.Context, s size) (report, error) {
	d, err := open(ctx, callers+handlers, postgres.Config{})
	if err != nil {
		return report{}, err
	}
	defer d.drop()
	var r report
	for _, c := range []struct {
		title string
		sides []waiter
	}{
		{"idle latency to a handler", []waiter{
			{"idem, store in memory", idemWaits(func(func()) store.Store { return memory.New(memory.Config{}) }, func(arrived func()) consumer.Handler {
				return consumer.Idempotent(func(context.Context, *refundsv1.RefundAsked) error { arrived(); return nil })
			})},
			{"the bare broker: a loop of fetches", bareWaits(func(context.Context, *broker.Message) error { return nil })},
		}},
		{"idle latency to a transaction on PostgreSQL", []waiter{
			{"idem, consumer.Tx", idemWaits(func(arrived func()) store.Store { return signalling{d.store, arrived} }, func(func()) consumer.Handler {
				return consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *refundsv1.RefundAsked) error {
					_, err := tx.Exec(ctx, accountUpdate, 1)
					return err
				})
			})},
			{"the bare broker: BEGIN, INSERT of the key, UPDATE, COMMIT", bareWaits(func(ctx context.Context, m *broker.Message) error {
				for _, h := range m.Headers {
					if h.Name == keyHeader {
						return d.insertOne(ctx, string(h.Value), 1)
					}
				}
				return errors.New("a message has no key")
			})},
		}},
	} {
		made, err := waits(ctx, c.title, s, c.sides)
		if err != nil {
			return report{}, err
		}
		r.Comparisons = append(r.Comparisons, made...)
	}
	return r, nil
}

// waiter consumes from a broker until ctx ends, and says on a channel that a message had its effect.
type waiter struct {
	name string
	run  func(ctx context.Context, m *broker.Memory, arrived chan<- time.Time) error
}

// waits has the sides take turns of messages that come one by one.
func waits(ctx context.Context, title string, s size, sides []waiter) ([]comparison, error) {
	p50 := comparison{Title: title + ", p50", Unit: "µs"}
	p99 := comparison{Title: title + ", p99", Unit: "µs"}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(sides))
	brokers, arrived := make([]*broker.Memory, len(sides)), make([]chan time.Time, len(sides))
	for i, side := range sides {
		m := broker.NewMemory(broker.MemoryConfig{})
		defer m.Close()
		for _, name := range []string{topic, broker.RetryTopic(topic, group)} {
			if err := m.CreateTopic(name, 1); err != nil {
				return nil, err
			}
		}
		brokers[i], arrived[i] = m, make(chan time.Time, 1)
		go func() { ended <- side.run(ctx, m, arrived[i]) }()
		p50.Contenders = append(p50.Contenders, contender{Name: side.name})
		p99.Contenders = append(p99.Contenders, contender{Name: side.name})
	}
	for round := range s.rounds + 1 {
		for i := range sides {
			all := messages(s.of(400))
			took := make([]time.Duration, 0, len(all))
			for j := range all {
				time.Sleep(200 * time.Microsecond) // it is idle
				began := time.Now()
				if err := errors.Join(brokers[i].Publish(ctx, all[j:j+1])...); err != nil {
					return nil, err
				}
				select {
				case at := <-arrived[i]:
					took = append(took, at.Sub(began))
				case err := <-ended:
					return nil, errors.Join(errors.New("a consumer has ended"), err)
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			if round > 0 {
				p50.Contenders[i].Rounds = append(p50.Contenders[i].Rounds, micros(quantile(took, 0.5)))
				p99.Contenders[i].Rounds = append(p99.Contenders[i].Rounds, micros(quantile(took, 0.99)))
			}
		}
	}
	cancel()
	var err error
	for range sides {
		err = errors.Join(err, <-ended)
	}
	return []comparison{p50, p99}, err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// idemWaits runs a consumer. A handler says by itself that it was called, and signalling that it was committed.
func idemWaits(with func(arrived func()) store.Store, handler func(arrived func()) consumer.Handler) func(context.Context, *broker.Memory, chan<- time.Time) error {
	return func(ctx context.Context, m *broker.Memory, arrived chan<- time.Time) error {
		tell := func() { arrived <- time.Now() }
		c, err := consumer.New(m, with(tell), consumer.Config{Group: group, Topics: []string{topic}}, handler(tell))
		if err != nil {
			return err
		}
		return c.Run(ctx)
	}
}

// signalling says when a transaction was committed.
type signalling struct {
	*postgres.Store
	committed func()
}

func (s signalling) InTx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	err := s.Store.InTx(ctx, fn)
	if err == nil {
		s.committed()
	}
	return err
}

// bareWaits is a loop of fetches.
func bareWaits(effect func(ctx context.Context, m *broker.Message) error) func(context.Context, *broker.Memory, chan<- time.Time) error {
	return func(ctx context.Context, m *broker.Memory, arrived chan<- time.Time) error {
		g, err := m.Group(ctx, group, []string{topic})
		if err != nil {
			return err
		}
		defer g.Close()
		n, err := g.Join(ctx)
		if err != nil {
			return err
		}
		defer n.Close()
		at := n.Assignments()[0]
		for {
			b, err := n.Fetch(ctx, at.TopicPartition, at.Offset, 1<<20)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			for i := range b.Messages {
				if err := effect(ctx, &b.Messages[i]); err != nil {
					return err
				}
				arrived <- time.Now()
				at.Offset = b.Messages[i].Offset + 1
			}
		}
	}
}
