package consumer

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

var errStore = errors.New("dial tcp 127.0.0.1:5432: connect: connection refused")

// frail is a store that can be down.
type frail struct {
	*memory.Store
	down atomic.Bool
	// lost says that what was done is not answered.
	lost atomic.Bool
}

func (s *frail) Check(ctx context.Context) error {
	if s.down.Load() {
		return errStore
	}
	return s.Store.Check(ctx)
}

func (s *frail) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	if s.down.Load() {
		return nil, errStore
	}
	grants, err := s.Store.Claim(ctx, claims)
	if s.lost.Load() {
		return nil, errStore
	}
	return grants, err
}

func (s *frail) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	if s.down.Load() {
		return nil, errStore
	}
	done, err := s.Store.Complete(ctx, completions)
	if s.lost.Load() {
		return nil, errStore
	}
	return done, err
}

func (s *frail) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	if s.down.Load() {
		return nil, errStore
	}
	done, err := s.Store.Settle(ctx, settlements)
	if s.lost.Load() {
		return nil, errStore
	}
	return done, err
}

// recordsOnly is a store without follow-ups, as Redis is.
type recordsOnly struct{ store.Store }

func (recordsOnly) FollowUps() bool { return false }

func TestStoreThatIsDownIsWaitedFor(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run("lost replies "+strconv.FormatBool(lost), func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := &frail{Store: w.store}
				var calls tally
				k, _ := w.runOn(w.broker, s, w.config(), Idempotent(func(_ context.Context, m *payment) error {
					if calls.add(m.GetValue()); m.GetValue() == "13" {
						return idem.NonRetryable("GONE", errDown)
					}
					return nil
				}))
				w.pay(0, 100)
				settleDown(time.Second)
				s.down.Store(!lost)
				s.lost.Store(lost)
				w.pay(100, 200)
				settleDown(90 * time.Second)
				require.EqualValues(t, 100, w.committed("payments"))
				require.False(t, k.Health().OK)
				require.Contains(t, k.Health().Down["claim"], "connection refused")
				require.Contains(t, w.logged(), "messages wait, and none is lost")
				require.Less(t, strings.Count(w.logged(), "messages wait, and none is lost"), 12, "not all the time")
				s.down.Store(false)
				s.lost.Store(false)
				settleDown(10 * time.Second)
				require.EqualValues(t, 200, w.committed("payments"))
				require.True(t, k.Health().OK)
				require.Empty(t, k.Health().Down)
				for i := range 200 {
					require.Equal(t, 1, calls.of(strconv.Itoa(i)))
				}
				require.Len(t, w.deadLetters(), 1)
			})
		})
	}
}

// CONS-003: what is handled while the store goes down is settled when it is back, and not before.
func TestSettlementIsTriedUntilItIsDurable(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &frail{Store: w.store}
		var calls tally
		w.runOn(w.broker, s, w.config(), Idempotent(func(_ context.Context, m *payment) error {
			s.down.Store(true)
			if calls.add(m.GetValue()); m.GetValue() == "1" {
				return errDown
			}
			return nil
		}))
		w.pay(0, 2)
		settleDown(20 * time.Second)
		require.EqualValues(t, 0, w.committed("payments"))
		require.Contains(t, w.logged(), "not yet acknowledged")
		s.down.Store(false)
		settleDown(5 * time.Second)
		require.EqualValues(t, 2, w.committed("payments"))
		require.Equal(t, "RETRYABLE/RETRY", w.seen.outcomes("k1")[0])
		require.Equal(t, 1, calls.of("0"))
	})
}

func TestShutdownWhileTheStoreIsDownAcknowledgesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &frail{Store: w.store}
		_, stop := w.runOn(w.broker, s, w.config(), Idempotent(func(_ context.Context, m *payment) error { s.down.Store(true); return nil }))
		w.pay(0, 5)
		settleDown(5 * time.Second)
		begun := time.Now()
		stop()
		require.LessOrEqual(t, time.Since(begun), 30*time.Second)
		require.EqualValues(t, 0, w.committed("payments"))
	})
}

func TestStoreThatIsDownAtTheStart(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &frail{Store: w.store}
		s.down.Store(true)
		k, _ := w.runOn(w.broker, s, w.config(), Idempotent(func(context.Context, *payment) error { return nil }))
		w.pay(0, 5)
		settleDown(20 * time.Second)
		require.Equal(t, "preparing", k.Health().Phase)
		require.Contains(t, w.logged(), "the store is not ready")
		s.down.Store(false)
		settleDown(10 * time.Second)
		require.EqualValues(t, 5, w.committed("payments"))
	})
}

func TestBrokerThatIsDownIsWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		down.Store(true)
		refuse := func() error {
			if down.Load() {
				return errors.New("dial tcp 127.0.0.1:9092: connect: connection refused")
			}
			return nil
		}
		w.broker = broker.NewMemory(broker.MemoryConfig{Faults: broker.MemoryFaults{
			Join:   func(context.Context, string) error { return refuse() },
			Fetch:  func(context.Context, string, broker.TopicPartition, int64) error { return refuse() },
			Commit: func(context.Context, string, map[broker.TopicPartition]int64) error { return refuse() },
		}})
		w.topic("payments", 2)
		k, _ := w.run(w.config(), Idempotent(func(context.Context, *payment) error { return nil }))
		w.pay(0, 10)
		settleDown(10 * time.Second)
		require.Equal(t, "joining", k.Health().Phase)
		down.Store(false)
		settleDown(10 * time.Second)
		down.Store(true)
		w.pay(10, 20)
		settleDown(10 * time.Second)
		require.Contains(t, w.logged(), "messages are not fetched")
		down.Store(false)
		settleDown(10 * time.Second)
		require.Equal(t, 20, w.seen.count(func(d *observe.Delivery) bool { return d.Outcome == idem.OutcomeOK }))
		require.Empty(t, k.Health().Down)
	})
}

// noDelays takes retries of a store without a table, and forgets them.
type noDelays struct{}

func (noDelays) PublishRetries(context.Context, []store.Retry) []error { return nil }

// TestFault05DeadLetterThatCannotBePublishedHoldsItsOffset: CONS-003.
func TestFault05DeadLetterThatCannotBePublishedHoldsItsOffset(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		down.Store(true)
		w.broker = broker.NewMemory(broker.MemoryConfig{Faults: broker.MemoryFaults{Publish: func(_ context.Context, m *broker.Message) broker.PublishFault {
			if strings.HasPrefix(m.Topic, "payments.dlq") && down.Load() {
				return broker.PublishFault{Err: errors.New("not enough replicas")}
			}
			return broker.PublishFault{}
		}}})
		w.topic("payments", 1)
		require.NoError(t, w.broker.CreateTopic("payments.dlq.g", 1))
		c := w.config()
		c.Guard = guard.Config{Delays: noDelays{}}
		w.runOn(w.broker, recordsOnly{w.store}, c, Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "3" {
				return idem.NonRetryable("GONE", errDown)
			}
			return nil
		}))
		w.pay(0, 50)
		settleDown(30 * time.Second)
		require.EqualValues(t, 3, w.committed("payments"))
		require.Contains(t, w.logged(), "not enough replicas")
		down.Store(false)
		settleDown(10 * time.Second)
		require.EqualValues(t, 50, w.committed("payments"))
		require.Len(t, w.broker.Messages("payments.dlq.g"), 1)
	})
}

// TestFault20FailuresBesideTheMessageChangeNothing: an observer, a logger and a background task that panic, and
// payloads that nobody can read, leave every outcome as it is.
func TestFault20FailuresBesideTheMessageChangeNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Observer, c.Log = angry{}, angryLog()
		begun := atomic.Int64{}
		c.Background = []func(context.Context) error{func(context.Context) error { begun.Add(1); panic("out of cheese") }}
		var calls tally
		w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if n := calls.add(m.GetValue()); n == 1 {
				panic(m.GetValue())
			}
			return nil
		}))
		w.sendRaw("payments", "payment", "bad", "bad", []byte{0xff})
		w.pay(0, 8) // fewer than make the route rest
		settleDown(20 * time.Second)
		require.EqualValues(t, 9, w.committed("payments"))
		require.Len(t, w.deadLetters(), 1)
		for i := range 8 {
			require.Equal(t, 2, calls.of(strconv.Itoa(i)))
		}
		require.Greater(t, begun.Load(), int64(1), "it is begun again")
	})
}

// Retries may wait in topics while dead letters are in the table: what is redriven from there is in msg_retry.
func TestRedrivenDeadLettersComeBackWhereRetriesWaitInTopics(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		c := w.config()
		c.Guard.Delays = noDelays{}
		w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if calls.add(m.GetValue()) == 1 {
				return idem.NonRetryable("REPAIR_ME", errDown)
			}
			return nil
		}))
		w.pay(0, 1)
		settleDown(2 * time.Second)
		require.Len(t, w.deadLetters(), 1)
		r, err := deadletter.New(w.store, w.store, deadletter.Config{})
		require.NoError(t, err)
		report, err := r.Run(w.Context(), store.DeadLetterFilter{})
		require.NoError(t, err)
		require.EqualValues(t, 1, report.Redriven)
		settleDown(5 * time.Second)
		require.Equal(t, []string{"NON_RETRYABLE/DEAD_LETTER", "OK/ACK"}, w.seen.outcomes("k0"))
	})
}

// tableless is a store whose table msg_retry is gone, which Check does not look at.
type tableless struct {
	*memory.Store
	gone atomic.Bool
}

func (s *tableless) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	if s.gone.Load() {
		return nil, errStore
	}
	return s.Store.ClaimDue(ctx, token, limit, lease)
}

func TestWhatHindersTheSchedulerIsInHealthAndNowAndThenInTheLog(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &tableless{Store: w.store}
		s.gone.Store(true)
		k, _ := w.runOn(w.broker, s, w.config(), Idempotent(nothing))
		settleDown(35 * time.Second)
		require.Contains(t, k.Health().Down["retries"], errStore.Error())
		require.Equal(t, 4, strings.Count(w.logged(), "retries that are due wait"))
		s.gone.Store(false)
		settleDown(2 * time.Second)
		require.Empty(t, k.Health().Down)
		require.Equal(t, 1, strings.Count(w.logged(), "works again"))
	})
}

// silent is a store whose Check answers only once its caller has gone.
type silent struct{ *memory.Store }

func (silent) Check(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A stop before the store has answered is no outage.
func TestStopWhileTheStoreIsAskedIsNoOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.runOn(w.broker, silent{w.store}, w.config(), Idempotent(nothing))
		settleDown(time.Second)
		stop()
		require.NotContains(t, w.logged(), "WARN")
	})
}
