package consumer

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// inOrder sends n messages of each of some biz keys, "a0", "b0", "a1"...
func (w *world) inOrder(n int, bizKeys ...string) {
	w.Helper()
	for i := range n {
		for _, b := range bizKeys {
			v := b + strconv.Itoa(i)
			w.send("payments", "payment", "key-"+v, b, v)
		}
	}
}

// requireOrder sees to it that the successes of each biz key are in the order sent.
func requireOrder(t *testing.T, done []string, n int, bizKeys ...string) {
	t.Helper()
	for _, b := range bizKeys {
		var own, want []string
		for _, v := range done {
			if strings.HasPrefix(v, b) {
				own = append(own, v)
			}
		}
		for i := range n {
			want = append(want, b+strconv.Itoa(i))
		}
		require.Equal(t, want, own)
	}
}

// TestFault16OrderOfKeysUnderRetries: in Block and in Park, later messages of a key wait for one that fails, in their
// order, and other keys go on.
func TestFault16OrderOfKeysUnderRetries(t *testing.T) {
	for name, route := range map[string]Route{
		"Block": {Order: guard.Block}, "Park": {Order: guard.Park}, "Block that parks": {Order: guard.Block, Hold: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.topic("payments", 4)
				var calls, done tally
				c := w.config()
				w.run(c, Idempotent(func(_ context.Context, m *payment) error {
					n := calls.add(m.GetValue())
					if v := m.GetValue(); v[0] != 'c' && strings.HasSuffix(v, "3") && n <= 3 {
						return errDown
					}
					done.add(m.GetValue())
					return nil
				}, route))
				w.inOrder(12, "a", "b", "c")
				settleDown(500 * time.Millisecond)
				requireOrder(t, done.list(), 12, "c")
				settleDown(2 * time.Minute)
				requireOrder(t, done.list(), 12, "a", "b", "c")
				require.Equal(t, 4, calls.of("a3"))
				require.Equal(t, 1, calls.of("a4"))
				require.Empty(t, w.deadLetters())
				retries, err := w.store.CountRetries(context.Background())
				require.NoError(t, err)
				require.Zero(t, retries.Pending+retries.Parked)
				parked := w.seen.count(func(d *observe.Delivery) bool { return d.Reason == "PARKED" })
				if name == "Block" {
					require.Zero(t, parked)
				} else {
					require.NotZero(t, parked)
				}
			})
		})
	}
}

// The counts of a message that is held in place are kept in its record: it ends as a dead letter after its
// retries, also across processes.
func TestBlockedMessageEndsAfterItsRetries(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls, done tally
		handler := func() Handler {
			return Idempotent(func(_ context.Context, m *payment) error {
				calls.add(m.GetValue())
				if m.GetValue() == "a0" {
					return errDown
				}
				done.add(m.GetValue())
				return nil
			}, Route{Order: guard.Block, Hold: time.Hour})
		}
		_, stop := w.run(w.config(), handler())
		w.inOrder(3, "a")
		settleDown(5 * time.Second) // 0 s, 1 s, 3 s
		require.Equal(t, 3, calls.of("a0"))
		stop()
		require.EqualValues(t, 0, w.committed("payments"))
		require.Empty(t, done.list())
		w.run(w.config(), handler())
		settleDown(5 * time.Minute)
		require.Equal(t, 6, calls.of("a0"), "five retries in all")
		require.Equal(t, []string{"a1", "a2"}, done.list())
		require.Len(t, w.deadLetters(), 1)
		require.EqualValues(t, 3, w.committed("payments"))
	})
}

// CONS-011.
func TestHoldStepsAsideInEveryOrder(t *testing.T) {
	for _, order := range []guard.Order{guard.Unordered, guard.Block, guard.Park} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			inWorld(t, func(w *world) {
				var done tally
				early := true
				w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
					if m.GetValue() == "a0" && early {
						early = false
						return idem.OutOfOrder(errDown)
					}
					done.add(m.GetValue())
					return nil
				}, Route{Order: order}))
				w.inOrder(3, "a")
				settleDown(500 * time.Millisecond)
				require.ElementsMatch(t, []string{"a1", "a2"}, done.list())
				settleDown(time.Minute)
				require.Equal(t, "a0", done.list()[2])
				require.Equal(t, []string{"OUT_OF_ORDER/HOLD", "OK/ACK"}, w.seen.outcomes("key-a0"))
			})
		})
	}
}

// CONS-012: a stuck key does not fill the window: it waits in the store before that.
func TestBlockedKeyParksBeforeItFillsTheWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Window = 40
		var done tally
		var down atomic.Bool
		down.Store(true)
		w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "a0" && down.Load() {
				return idem.Throttled(50*time.Second, errDown)
			}
			done.add(m.GetValue())
			return nil
		}, Route{Order: guard.Block}))
		w.inOrder(1, "a")
		settleDown(time.Second)
		w.inOrder(400, "b")
		for i := range 30 {
			v := "a" + strconv.Itoa(i+1)
			w.send("payments", "payment", "key-"+v, "a", v)
		}
		settleDown(5 * time.Second)
		require.Len(t, done.list(), 400, "all of the other key")
		require.EqualValues(t, 431, w.committed("payments"))
		down.Store(false)
		settleDown(3 * time.Minute)
		requireOrder(t, done.list(), 31, "a")
		require.Equal(t, []string{"THROTTLED/RETRY", "IN_PROGRESS/DEFER", "OK/ACK"}, w.seen.outcomes("key-a0"), "no call is made to get it there")
	})
}

// The same biz key in another topic is another lane, and messages without one wait for nobody.
func TestLanesAreByTopic(t *testing.T) {
	inWorld(t, func(w *world) {
		w.topic("refunds", 1)
		c := w.config()
		c.Topics = append(c.Topics, "refunds")
		var done tally
		w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "stuck" {
				return errDown
			}
			done.add(m.GetValue())
			return nil
		}, Route{Order: guard.Block, Hold: time.Hour}))
		w.send("payments", "payment", "k1", "17", "stuck")
		w.send("payments", "payment", "k2", "17", "behind")
		w.send("refunds", "payment", "k3", "17", "other topic")
		w.send("payments", "payment", "k4", "", "no key")
		w.send("payments", "payment", "k5", "", "no key either")
		settleDown(500 * time.Millisecond)
		require.ElementsMatch(t, []string{"other topic", "no key", "no key either"}, done.list())
	})
}

// A message that comes back by the retry topic is in the lane of its origin.
func TestRetryTopicSharesTheLaneOfItsOrigin(t *testing.T) {
	inWorld(t, func(w *world) {
		var done tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			time.Sleep(time.Second)
			done.add(m.GetValue())
			return nil
		}, Route{Order: guard.Block}))
		w.send("payments", "payment", "k1", "17", "first")
		settleDown(100 * time.Millisecond)
		w.send(broker.RetryTopic("payments", "g"), "payment", "k2", "17", "second", idem.Header{Name: "target_scope", Value: []byte("g")}, idem.Header{Name: "topic", Value: []byte("payments")})
		settleDown(1200 * time.Millisecond)
		require.Equal(t, []string{"first"}, done.list())
		settleDown(time.Second)
		require.Equal(t, []string{"first", "second"}, done.list())
	})
}

// RETRY-032: one without an idempotency key is held in its place too, and its tries are counted in the process.
func TestBlockedMessageWithoutAKeyEndsAfterItsRetries(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if calls.add(m.GetValue()); m.GetValue() == "bad" {
				return errDown
			}
			return nil
		}, Route{Order: guard.Block, MissingKey: guard.PassThrough}))
		w.send("payments", "payment", "", "17", "bad")
		w.send("payments", "payment", "", "17", "good")
		settleDown(20 * time.Second)
		require.Zero(t, calls.of("good"), "it waits")
		settleDown(2 * time.Minute)
		require.Equal(t, 6, calls.of("bad"))
		require.Equal(t, 1, calls.of("good"))
		require.Len(t, w.deadLetters(), 1)
		require.EqualValues(t, 2, w.committed("payments"))
	})
}

// What is due before the scheduler would look by itself is published when it is due.
func TestShortDelaysAreShort(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls, done tally
		var begun time.Time
		var took atomic.Int64
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if n := calls.add(m.GetValue()); m.GetValue() == "a0" && n <= 10 {
				return errDown
			}
			if done.add(m.GetValue()); len(done.list()) == 4 {
				took.Store(int64(time.Since(begun)))
			}
			return nil
		}, Route{Order: guard.Park}))
		settleDown(1500 * time.Millisecond)
		begun = time.Now()
		for i := range 4 {
			v := "a" + strconv.Itoa(i)
			w.send("payments", "payment", v, "a", v, idem.Header{Name: "backoff_schedule", Value: []byte("20")}, idem.Header{Name: "max_retry", Value: []byte("20")})
		}
		settleDown(time.Minute)
		require.Equal(t, []string{"a0", "a1", "a2", "a3"}, done.list())
		require.Equal(t, 200*time.Millisecond, time.Duration(took.Load()), "ten tries, and three that follow at once")
	})
}
