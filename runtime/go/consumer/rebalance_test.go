package consumer

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// watched is a broker whose commits are seen to: none goes back.
type watched struct {
	broker.Broker
	fail func(format string, args ...any)

	mu        sync.Mutex
	committed map[broker.TopicPartition]int64
	commits   int
}

func watch(t *testing.T, b broker.Broker) *watched {
	return &watched{Broker: b, fail: t.Errorf, committed: map[broker.TopicPartition]int64{}}
}

func (b *watched) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	g, err := b.Broker.Group(ctx, name, topics)
	return watchedGroup{g, b}, err
}

type watchedGroup struct {
	broker.Group
	b *watched
}

func (g watchedGroup) Join(ctx context.Context) (broker.Generation, error) {
	generation, err := g.Group.Join(ctx)
	return watchedGeneration{generation, g.b}, err
}

type watchedGeneration struct {
	broker.Generation
	b *watched
}

func (g watchedGeneration) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	err := g.Generation.Commit(ctx, offsets)
	g.b.mu.Lock()
	defer g.b.mu.Unlock()
	for p, offset := range offsets {
		if err == nil && offset < g.b.committed[p] {
			g.b.fail("%v goes back from %d to %d", p, g.b.committed[p], offset)
		}
		if err == nil {
			g.b.committed[p], g.b.commits = offset, g.b.commits+1
		}
	}
	return err
}

// CONS-001, CONS-002.
func TestRebalanceInMidHandlerLosesAndDoublesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.topic("payments", 6)
		b := watch(w.T, w.broker)
		var effects tally
		handler := func() Handler {
			return Tx(func(ctx context.Context, tx *memory.Tx, m *payment) error {
				v := m.GetValue()
				n, _ := strconv.Atoi(v)
				time.Sleep(time.Duration(n%7) * 100 * time.Millisecond)
				tx.Do(func() { effects.add(v) })
				return nil
			})
		}
		_, stop1 := w.runOn(b, w.store, w.config(), handler())
		w.pay(0, 400)
		settleDown(300 * time.Millisecond)
		_, stop2 := w.runOn(b, w.store, w.config(), handler())
		settleDown(300 * time.Millisecond)
		_, stop3 := w.runOn(b, w.store, w.config(), handler())
		for range 5 {
			w.broker.Rebalance("g")
			settleDown(700 * time.Millisecond)
		}
		stop1()
		settleDown(200 * time.Millisecond)
		w.pay(400, 500)
		settleDown(2 * time.Second)
		stop3()
		settleDown(2 * time.Minute)
		for i := range 500 {
			require.Equal(t, 1, effects.of(strconv.Itoa(i)), "message %d", i)
		}
		total := int64(0)
		for p := range int32(6) {
			offset, _ := w.broker.Committed("g", broker.TopicPartition{Topic: "payments", Partition: p})
			total += offset
		}
		require.EqualValues(t, 500, total)
		stop2()
	})
}

// CONS-002: what is settled after its generation has ended moves no offset, and is settled all the same.
func TestFault02LateAcknowledgementIsDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		b := watch(w.T, w.broker)
		var calls tally
		release := make(chan struct{})
		c := w.config()
		c.RebalanceTimeout = time.Second
		handler := func() Handler {
			return Idempotent(func(_ context.Context, m *payment) error {
				if calls.add(m.GetValue()) == 1 && m.GetValue() == "0" {
					<-release // deaf to its context
				}
				return nil
			})
		}
		k, _ := w.runOn(b, w.store, c, handler())
		w.pay(0, 5)
		settleDown(2 * time.Second)
		w.broker.Rebalance("g")
		settleDown(10 * time.Second)
		require.Equal(t, "running", k.Health().Phase, "it is in the next generation")
		require.Equal(t, 1, calls.of("0"), "the copy waits in its process for the call that goes on")
		require.EqualValues(t, 0, w.committed("payments"))
		close(release)
		settleDown(5 * time.Second)
		require.EqualValues(t, 5, w.committed("payments"))
		require.Equal(t, []string{"OK/ACK", "DUPLICATE/ACK"}, w.seen.outcomes("k0"))
	})
}

func TestRebalanceStopsWhatIsTooSlow(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		c := w.config()
		c.RebalanceTimeout = 2 * time.Second
		w.run(c, Idempotent(func(ctx context.Context, m *payment) error {
			if calls.add(m.GetValue()) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}, Route{HandlerTimeout: time.Hour}))
		w.pay(0, 1)
		settleDown(time.Second)
		w.broker.Rebalance("g")
		settleDown(30 * time.Second)
		require.Equal(t, "IN_PROGRESS/DEFER", w.seen.outcomes("k0")[0], "it costs no retry")
		require.Equal(t, 1, w.seen.count(func(d *observe.Delivery) bool { return d.Outcome == idem.OutcomeOK }))
		require.EqualValues(t, 1, w.committed("payments"))
	})
}

// TestFault03CommitBeforeAGenerationIsLeft: what is done is committed when the process leaves, also before the
// interval, and a topic that grows is read from its new partitions' beginning.
func TestFault03CommitBeforeAGenerationIsLeft(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.CommitInterval = time.Hour
		var calls tally
		handler := func() Handler {
			return Idempotent(func(_ context.Context, m *payment) error { calls.add(m.GetValue()); return nil })
		}
		_, stop := w.run(c, handler())
		w.pay(0, 100)
		settleDown(time.Second)
		require.EqualValues(t, 0, w.committed("payments"))
		stop()
		require.EqualValues(t, 100, w.committed("payments"))

		w.run(c, handler())
		settleDown(time.Second)
		w.topic("payments", 4) // grows
		w.pay(100, 200)
		settleDown(20 * time.Second)
		for i := range 200 {
			require.Equal(t, 1, calls.of(strconv.Itoa(i)))
		}
	})
}

func TestLastCommitIsTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		var failures atomic.Int64
		b := broker.NewMemory(broker.MemoryConfig{Faults: broker.MemoryFaults{Commit: func(context.Context, string, map[broker.TopicPartition]int64) error {
			if failures.Add(1) <= 2 {
				return errors.New("coordinator is loading")
			}
			return nil
		}}})
		w.broker = b
		w.topic("payments", 1)
		c := w.config()
		c.CommitInterval = time.Hour
		_, stop := w.run(c, Idempotent(func(context.Context, *payment) error { return nil }))
		w.pay(0, 10)
		settleDown(time.Second)
		stop()
		require.EqualValues(t, 10, w.committed("payments"))
	})
}
