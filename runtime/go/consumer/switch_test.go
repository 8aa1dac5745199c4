package consumer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestPausedRouteWaitsAndOthersGoOn(t *testing.T) {
	inWorld(t, func(w *world) {
		var done tally
		k, _ := w.run(w.config(),
			Idempotent(func(_ context.Context, m *payment) error { done.add("payment"); return nil }),
			Idempotent(func(_ context.Context, m *refund) error { done.add("refund"); return nil }))
		settleDown(time.Second)
		require.ErrorContains(t, k.Pause("nothing"), "payment")
		require.NoError(t, k.Pause("payment"))
		w.pay(0, 10)
		w.send("payments", "refund", "r1", "r1", "x")
		settleDown(time.Minute)
		require.Equal(t, []string{"refund"}, done.list())
		require.True(t, k.Health().Routes[0].Paused)
		require.Equal(t, 10, k.Health().Routes[0].Waiting)
		require.NoError(t, k.Resume("payment"))
		settleDown(2 * time.Second)
		require.Equal(t, 10, done.of("payment"))
		require.EqualValues(t, 11, w.committed("payments"))
	})
}

func TestKillSwitchStopsHandlersAndLosesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		var begun, done tally
		c := w.config()
		c.Workers = 3
		k, _ := w.run(c, Tx(func(ctx context.Context, tx *memory.Tx, m *payment) error {
			v := m.GetValue()
			begun.add(v)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Second):
			}
			tx.Do(func() { done.add(v) })
			return nil
		}))
		w.pay(0, 10)
		settleDown(time.Second)
		require.NoError(t, k.Kill("payment"))
		settleDown(time.Minute)
		require.Len(t, begun.list(), 3)
		require.Empty(t, done.list())
		for i := range 3 {
			require.Equal(t, []string{"IN_PROGRESS/DEFER"}, w.seen.outcomes("k"+strconv.Itoa(i)), "at no cost")
		}
		require.NoError(t, k.Resume("payment"))
		settleDown(2 * time.Minute)
		for i := range 10 {
			require.Equal(t, 1, done.of(strconv.Itoa(i)))
		}
		require.EqualValues(t, 10, w.committed("payments"))
	})
}

// RETRY-031: an outage does not empty a topic into the dead letters.
func TestOutageLeavesNoDeadLetters(t *testing.T) {
	for _, order := range []guard.Order{guard.Unordered, guard.Block, guard.Park} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			inWorld(t, func(w *world) {
				var calls, done tally
				var down atomic.Bool
				down.Store(true)
				k, _ := w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
					if calls.add(m.GetValue()); down.Load() {
						return errDown
					}
					done.add(m.GetValue())
					return nil
				}, Route{Order: order}))
				w.pay(0, 500)
				settleDown(time.Hour) // retries alone would be used up after about a minute
				require.Empty(t, w.deadLetters())
				require.Equal(t, "open", k.Health().Routes[0].Breaker)
				require.Less(t, len(calls.list()), 200, "one probe in half a minute")
				require.Contains(t, w.logged(), "route rests")
				down.Store(false)
				settleDown(10 * time.Minute)
				require.Equal(t, "closed", k.Health().Routes[0].Breaker)
				for i := range 500 {
					require.Equal(t, 1, done.of(strconv.Itoa(i)))
				}
				require.EqualValues(t, 500, w.committed("payments"))
				require.Empty(t, w.deadLetters())
			})
		})
	}
}

// RETRY-031: one message of another key each time.
func TestProbesAreOfOneMessageOfAnotherKeyEachTime(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error { calls.add(m.GetValue()); return errDown }, Route{
			Order: guard.Block, Hold: time.Hour, Breaker: Breaker{Failures: 3, Pause: time.Second, MaxPause: time.Second},
		}))
		w.pay(0, 5)
		settleDown(time.Minute)
		probes := calls.list()[5:]
		require.Greater(t, len(probes), 20)
		for i := 1; i < len(probes); i++ {
			require.NotEqual(t, probes[i-1], probes[i])
		}
		for i := range 5 {
			for _, outcome := range w.seen.outcomes("k" + strconv.Itoa(i))[1:] {
				require.Equal(t, "IN_PROGRESS/DEFER", outcome, "a failed probe costs nothing")
			}
		}
	})
}

func TestOneBadKeyDoesNotOpenTheBreaker(t *testing.T) {
	inWorld(t, func(w *world) {
		k, _ := w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "0" {
				return errDown
			}
			return nil
		}))
		w.pay(0, 1)
		settleDown(10 * time.Minute)
		require.Len(t, w.deadLetters(), 1)
		require.Equal(t, "closed", k.Health().Routes[0].Breaker)
	})
}

func TestShadowComputesAndNeverActs(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Shadow = true
		w.run(c, Tx(func(context.Context, *memory.Tx, *payment) error { panic("it acts") }))
		value := func(v string) []byte { b, _ := proto.Marshal(wrapperspb.String(v)); return b }
		w.sendRaw("payments", "payment", "payment:v1:1", "b", value("1"))
		w.sendRaw("payments", "payment", "payment:v1:1", "b", value("1"))
		w.sendRaw("payments", "payment", "legacy-2", "b", value("2"))
		w.sendRaw("payments", "payment", "payment:v1:3", "b", []byte{0xff})
		w.sendRaw("payments", "payment", "", "b", value("4"))
		settleDown(3 * time.Second)
		var told []string
		for _, d := range w.seen.deliveries {
			require.True(t, d.Shadow)
			told = append(told, d.Outcome.String()+" "+d.Reason)
		}
		require.Len(t, told, 5)
		require.Equal(t, []string{"OK ", "DUPLICATE ", "OK the schema's key is payment:v1:2"}, told[:3])
		require.Contains(t, told[3], "MALFORMED PAYLOAD_INVALID")
		require.Contains(t, told[4], "MALFORMED MISSING_KEY")
		require.Empty(t, w.deadLetters())
		records, err := w.store.Records(context.Background(), "g.shadow", []string{"payment:v1:1"})
		require.NoError(t, err)
		require.Nil(t, records[0])
		_, acts := w.broker.Committed("g", broker.TopicPartition{Topic: "payments"})
		require.False(t, acts, "the group that acts is not touched")
		offset, _ := w.broker.Committed("g.shadow", broker.TopicPartition{Topic: "payments"})
		require.EqualValues(t, 5, offset)
	})
}

func TestShadowRemembersTheLastKeys(t *testing.T) {
	t.Parallel()
	var s seen
	for i := range seenHalf * 3 {
		require.Equal(t, idem.OutcomeOK, s.add(strconv.Itoa(i), ""))
	}
	require.Equal(t, idem.OutcomeDuplicate, s.add(strconv.Itoa(seenHalf*3-1), ""))
	require.Equal(t, idem.OutcomeDuplicate, s.add(strconv.Itoa(seenHalf*2), ""))
	require.Equal(t, idem.OutcomeOK, s.add("0", ""))
	require.LessOrEqual(t, len(s.young)+len(s.old), 2*seenHalf)
	s.add("f", "00000001-0000000000000001")
	require.Equal(t, idem.OutcomeKeyReused, s.add("f", "00000001-0000000000000002"))
}

// TestFault17PausedPartitionGoesOnAfterARebalance: what was paused, by Pause or by a full window, is paused or fetched
// in the next generation as it should be.
func TestFault17PausedPartitionGoesOnAfterARebalance(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Window = 10
		var done tally
		k, _ := w.run(c, Idempotent(func(_ context.Context, m *payment) error { done.add(m.GetValue()); return nil }))
		require.NoError(t, k.Pause("payment"))
		w.pay(0, 100)
		settleDown(time.Second)
		require.Equal(t, 10, k.Health().Partitions[0].InWindow)
		w.broker.Rebalance("g")
		settleDown(5 * time.Second)
		require.Empty(t, done.list())
		require.NoError(t, k.Resume("payment"))
		settleDown(5 * time.Second)
		require.Len(t, done.list(), 100)
		require.EqualValues(t, 100, w.committed("payments"))
		for i := range 100 {
			require.Equal(t, 1, done.of(strconv.Itoa(i)))
		}
	})
}

func TestHealthEndpoint(t *testing.T) {
	inWorld(t, func(w *world) {
		k, stop := w.run(w.config(), Idempotent(func(context.Context, *payment) error { return nil }))
		w.pay(0, 3)
		settleDown(2 * time.Second)
		answer := httptest.NewRecorder()
		k.ServeHTTP(answer, nil)
		require.Equal(t, 200, answer.Code)
		var h Health
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &h))
		require.Equal(t, k.Health().Partitions, h.Partitions)
		require.Equal(t, PartitionHealth{Topic: "payments", Committed: 3, End: 3}, h.Partitions[0])
		stop()
		answer = httptest.NewRecorder()
		k.ServeHTTP(answer, nil)
		require.Equal(t, 503, answer.Code)
		require.Equal(t, "stopped", k.Health().Phase)
	})
}

func TestLagIsMeasuredByPartition(t *testing.T) {
	inWorld(t, func(w *world) {
		k, _ := w.run(w.config(), Idempotent(func(context.Context, *payment) error { return nil }))
		require.NoError(t, k.Pause("payment"))
		w.pay(0, 7)
		settleDown(2500 * time.Millisecond)
		lag := fmt.Sprint(observe.ConsumerLag, observe.Labels{Scope: "g", Topic: "payments"})
		w.seen.mu.Lock()
		defer w.seen.mu.Unlock()
		require.EqualValues(t, 7, w.seen.gauges[lag], "%v", w.seen.gauges)
	})
}

// What of a worker's chunk has not begun does not begin after Pause.
func TestPauseReachesTheChunks(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		var stopping atomic.Pointer[Consumer]
		c := w.config()
		c.Workers = 1
		k, _ := w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			calls.add(m.GetValue())
			if k := stopping.Load(); k != nil {
				return k.Pause("payment")
			}
			return nil
		}))
		w.pay(0, 3000) // the route is known to be fast now: chunks are large
		settleDown(3 * time.Second)
		require.Len(t, calls.list(), 3000)
		stopping.Store(k)
		w.pay(3000, 3300)
		settleDown(3 * time.Second)
		require.Len(t, calls.list(), 3001)
		stopping.Store(nil)
		require.NoError(t, k.Resume("payment"))
		settleDown(3 * time.Second)
		require.Len(t, calls.list(), 3300)
		require.EqualValues(t, 3300, w.committed("payments"))
	})
}
