package consumer

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func (w *world) deadLetters() []store.DeadLetter {
	w.Helper()
	letters, err := w.store.ListDeadLetters(context.Background(), store.DeadLetterFilter{}, 0, 1000)
	require.NoError(w, err)
	slices.SortFunc(letters, func(a, b store.DeadLetter) int { return int(a.SourceOffset - b.SourceOffset) })
	return letters
}

// CONS-004.
func TestSlowKeyDoesNotStopOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		release := make(chan struct{})
		var calls tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "0" {
				<-release
			}
			calls.add(m.GetValue())
			return nil
		}))
		w.pay(0, 1000)
		settleDown(5 * time.Second)
		require.Len(t, calls.list(), 999)
		require.EqualValues(t, 0, w.committed("payments"), "the slow one is not settled")
		close(release)
		settleDown(2 * time.Second)
		require.EqualValues(t, 1000, w.committed("payments"))
	})
}

// A handler that turns slow in the middle of a chunk does not keep the rest of it.
func TestSlowMessageDoesNotKeepItsChunk(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		release := make(chan struct{})
		slow := atomic.Bool{}
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if slow.Load() && m.GetValue() == "5000" {
				<-release
			}
			calls.add(m.GetValue())
			return nil
		}))
		w.pay(0, 5000) // the route is known to be fast now: chunks are large
		settleDown(5 * time.Second)
		slow.Store(true)
		w.pay(5000, 5300)
		settleDown(time.Second)
		require.Len(t, calls.list(), 5299)
		close(release)
	})
}

// CONS-004.
func TestWindowBoundHolds(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Window = 50
		release := make(chan struct{})
		k, _ := w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "0" {
				<-release
			}
			return nil
		}))
		w.pay(0, 500)
		settleDown(time.Second)
		require.Equal(t, 50, k.Health().Partitions[0].InWindow)
		require.Equal(t, 49, w.seen.count(func(*observe.Delivery) bool { return true }))
		close(release)
		settleDown(3 * time.Second)
		require.EqualValues(t, 500, w.committed("payments"))
	})
}

func TestWindowBoundsBytes(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.WindowBytes = 2 * 5500 // over two partitions
		release := make(chan struct{})
		started := atomic.Int64{}
		k, _ := w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			started.Add(1)
			<-release
			return nil
		}))
		for i := range 20 {
			w.send("payments", "payment", fmt.Sprint("k", i), fmt.Sprint("b", i), string(make([]byte, 1000)))
		}
		w.send("payments", "payment", "large", "large", string(make([]byte, 20_000)))
		settleDown(time.Second)
		require.EqualValues(t, 4, started.Load(), "four messages of about 1.3 kB fit")
		require.Equal(t, 4, k.Health().Partitions[0].InWindow)
		close(release)
		settleDown(2 * time.Second)
		require.EqualValues(t, 21, w.committed("payments"), "one that is larger than the window goes alone")
	})
}

// CONS-005.
func TestPanicsAreOutcomes(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Tx(func(_ context.Context, tx *memory.Tx, m *payment) error {
			if calls.add(m.GetValue()) == 1 && m.GetValue() == "1" {
				var none *payment
				none.Value = "x"
			}
			return nil
		}))
		w.pay(0, 3)
		settleDown(5 * time.Second)
		require.Equal(t, []string{"RETRYABLE/RETRY", "OK/ACK"}, w.seen.outcomes("k1"))
		require.EqualValues(t, 3, w.committed("payments"))
	})
}

// CONS-005. More handlers end their goroutine, as t.FailNow does, than there are workers.
func TestHandlersThatEndTheirGoroutineAreOutcomes(t *testing.T) {
	for name, handlers := range map[string]func(bad func(*payment)) Handler{
		"Idempotent": func(bad func(*payment)) Handler {
			return Idempotent(func(_ context.Context, m *payment) error { bad(m); return nil })
		},
		"Tx": func(bad func(*payment)) Handler {
			return Tx(func(_ context.Context, _ *memory.Tx, m *payment) error { bad(m); return nil })
		},
		"IdempotentBatch": func(bad func(*payment)) Handler {
			return IdempotentBatch(func(_ context.Context, ms []*payment) []error { bad(ms[0]); return make([]error, len(ms)) }, Route{BatchSize: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := w.config()
				c.Workers = 2
				k, stop := w.run(c, handlers(func(m *payment) {
					if n, err := strconv.Atoi(m.GetValue()); err == nil && n < 8 {
						runtime.Goexit()
					}
				}))
				w.pay(0, 60)
				settleDown(2 * time.Minute)
				require.EqualValues(t, 60, w.committed("payments"))
				require.Equal(t, "OK/ACK", w.seen.outcomes("k59")[0])
				require.Len(t, w.deadLetters(), 8)
				k.engine.mu.Lock()
				require.Len(t, k.engine.crew, 2)
				k.engine.mu.Unlock()
				stop()
			})
		})
	}
}

// CONS-005, DEDUP-024.
func TestPoisonBytesAreDeadLetters(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(w.config(), Idempotent(func(context.Context, *payment) error { return nil }))
		w.sendRaw("payments", "payment", "k0", "b0", []byte{0xff, 0xff, 0xff})
		w.sendRaw("payments", "payment", "", "", []byte("no headers"))
		w.sendRaw("payments", "payment", "k2", "b2", nil, idem.Header{Name: "retry_count", Value: []byte("-1")})
		w.pay(3, 4)
		settleDown(2 * time.Second)
		letters := w.deadLetters()
		require.Len(t, letters, 3)
		for i, reason := range []string{"PAYLOAD_INVALID", "MISSING_KEY", "BAD_HEADERS"} {
			require.Contains(t, letters[i].Reason, reason)
			require.EqualValues(t, i, letters[i].SourceOffset)
			require.Equal(t, idem.OutcomeMalformed, letters[i].Outcome)
		}
		require.Equal(t, []byte{0xff, 0xff, 0xff}, letters[0].Payload)
		require.Equal(t, []string{"OK/ACK"}, w.seen.outcomes("k3"))
		require.EqualValues(t, 4, w.committed("payments"))
	})
}

// CONS-006.
func TestUnknownEventTypes(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.Ignore = []string{"audit"}
		w.run(c, Idempotent(func(context.Context, *payment) error { return nil }), Idempotent(func(context.Context, *refund) error { return nil }))
		w.send("payments", "audit", "k0", "b0", "x")
		w.send("payments", "chargeback", "k1", "b1", "x")
		w.send("payments", "", "k2", "b2", "x")
		w.send("payments", "refund", "k3", "b3", "x")
		settleDown(2 * time.Second)
		letters := w.deadLetters()
		require.Len(t, letters, 2)
		require.Equal(t, "UNKNOWN_EVENT_TYPE: no route handles chargeback, nor is it in Ignore", letters[0].Reason)
		require.Contains(t, letters[1].Reason, "no event_type header, and several routes: set the header (payload.Message does)")
		require.Equal(t, idem.OutcomeNonRetryable, letters[0].Outcome)
		require.Equal(t, 1, w.seen.count(func(d *observe.Delivery) bool { return d.Skipped && d.EventType == "audit" }))
		require.Equal(t, []string{"OK/ACK"}, w.seen.outcomes("k3"))
		require.EqualValues(t, 4, w.committed("payments"))
	})
}

// CONS-009.
func TestOtherScopesMessagesAreSkipped(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error { calls.add(m.GetValue()); return nil }))
		w.send("payments", "payment", "k0", "b0", "other", idem.Header{Name: "target_scope", Value: []byte("other")})
		w.send("payments", "payment", "k1", "b1", "own", idem.Header{Name: "target_scope", Value: []byte("g")})
		settleDown(2 * time.Second)
		require.Equal(t, []string{"own"}, calls.list())
		require.EqualValues(t, 2, w.committed("payments"))
	})
}

func TestMessagesWithoutKeys(t *testing.T) {
	for name, c := range map[string]struct {
		missing guard.MissingKey
		calls   int
	}{"PassThrough runs each": {guard.PassThrough, 2}, "Derive runs one": {guard.Derive, 1}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var calls tally
				w.run(w.config(), Idempotent(func(ctx context.Context, m *payment) error {
					if calls.add(m.GetValue()); calls.of("7") == 1 {
						return errDown
					}
					if c.missing == guard.Derive {
						require.Equal(t, "payment:v1:7", guard.KeyOf(ctx))
					}
					return nil
				}, Route{MissingKey: c.missing}))
				w.send("payments", "", "", "", "7")
				w.send("payments", "", "", "", "7")
				settleDown(10 * time.Second)
				require.Equal(t, c.calls+1, calls.of("7"))
				require.EqualValues(t, 2, w.committed("payments"))
				require.Empty(t, w.deadLetters())
			})
		})
	}
}

func TestCopiesInFlightWaitForEachOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(w.config(), Idempotent(func(context.Context, *payment) error { time.Sleep(time.Second); return nil }))
		for range 3 {
			w.pay(0, 1)
		}
		settleDown(5 * time.Second)
		require.Equal(t, []string{"OK/ACK", "DUPLICATE/ACK", "DUPLICATE/ACK"}, w.seen.outcomes("k0"), "none finds the other's claim")
	})
}

func TestResultIsGivenToDuplicates(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(w.config(), TxResult(func(_ context.Context, _ *memory.Tx, m *payment) ([]byte, error) {
			return []byte("receipt " + m.GetValue()), nil
		}),
			IdempotentResult(func(_ context.Context, m *refund) (*refund, error) { return m, nil }))
		w.pay(0, 1)
		w.send("payments", "refund", "r", "r", "x")
		settleDown(time.Second)
		records, err := w.store.Records(context.Background(), "g", []string{"k0", "r"})
		require.NoError(t, err)
		require.Equal(t, "receipt 0", string(records[0].Result))
		require.Equal(t, "\n\x01x", string(records[1].Result))
	})
}

// CONS-008.
func TestBatchHandlersGiveOneResultForEach(t *testing.T) {
	handlers := map[string]func(handle func(values []string) []error) Handler{
		"TxBatch": func(handle func([]string) []error) Handler {
			return TxBatch(func(_ context.Context, _ *memory.Tx, ms []*payment) []error { return handle(valuesOf(ms)) }, Route{BatchSize: 10})
		},
		"IdempotentBatch": func(handle func([]string) []error) Handler {
			return IdempotentBatch(func(ctx context.Context, ms []*payment) []error {
				for i, key := range BatchKeys(ctx) {
					if key != "k"+ms[i].GetValue() {
						panic(key)
					}
				}
				return handle(valuesOf(ms))
			}, Route{BatchSize: 10})
		},
	}
	for name, handler := range handlers {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var calls tally
				sizes := atomic.Int64{}
				c := w.config()
				c.Gather = 10 * time.Millisecond
				w.run(c, handler(func(values []string) []error {
					sizes.Store(max(sizes.Load(), int64(len(values))))
					results := make([]error, len(values))
					for i, v := range values {
						n := calls.add(v)
						switch {
						case v == "3":
							results[i] = idem.NonRetryable("GONE", errDown)
						case v == values[len(values)-1] && v == "29" && n == 1:
							return results[:i]
						}
					}
					return results
				}))
				w.pay(0, 30)
				w.sendRaw("payments", "payment", "poison", "poison", []byte{0xff})
				settleDown(10 * time.Second)
				require.EqualValues(t, 10, sizes.Load())
				require.Equal(t, []string{"NON_RETRYABLE/DEAD_LETTER"}, w.seen.outcomes("k3"))
				require.Equal(t, []string{"MALFORMED/DEAD_LETTER"}, w.seen.outcomes("poison"))
				require.Equal(t, "OK/ACK", w.seen.outcomes("k29")[len(w.seen.outcomes("k29"))-1])
				require.Equal(t, 30-1, w.seen.count(func(d *observe.Delivery) bool { return d.Outcome == idem.OutcomeOK }))
				require.EqualValues(t, 31, w.committed("payments"))
			})
		})
	}
}

func valuesOf(ms []*payment) []string {
	values := make([]string, len(ms))
	for i, m := range ms {
		values[i] = m.GetValue()
	}
	return values
}

func TestMissingResultIsAFailureOfItsMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		first := atomic.Bool{}
		w.run(w.config(), IdempotentBatch(func(_ context.Context, ms []*payment) []error {
			if first.CompareAndSwap(false, true) {
				return nil
			}
			return make([]error, len(ms))
		}))
		w.pay(0, 1)
		settleDown(5 * time.Second)
		require.Equal(t, []string{"RETRYABLE/RETRY", "OK/ACK"}, w.seen.outcomes("k0"))
	})
}

func TestHandlerTimeoutIsRetryable(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Idempotent(func(ctx context.Context, m *payment) error {
			if calls.add(m.GetValue()) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}, Route{HandlerTimeout: 3 * time.Second}))
		w.pay(0, 1)
		settleDown(10 * time.Second)
		require.Equal(t, []string{"RETRYABLE/RETRY", "OK/ACK"}, w.seen.outcomes("k0"))
	})
}

func TestShutdownDrains(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		c := w.config()
		c.Workers = 4
		_, stop := w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			time.Sleep(3 * time.Second)
			calls.add(m.GetValue())
			return nil
		}))
		w.pay(0, 10)
		settleDown(time.Second)
		begun := time.Now()
		stop()
		require.Equal(t, 2*time.Second, time.Since(begun), "what runs comes to its end, and nothing begins")
		require.Len(t, calls.list(), 4)
		require.EqualValues(t, 4, w.committed("payments"))
		for i := 4; i < 10; i++ {
			records, err := w.store.Records(context.Background(), "g", []string{"k" + strconv.Itoa(i)})
			require.NoError(t, err)
			if records[0] != nil {
				require.Equal(t, idem.StateFailed, records[0].State, "claims that never began are given back")
				require.Zero(t, records[0].Attempts)
			}
		}
	})
}

func TestShutdownStopsWhatDoesNotEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.DrainTimeout = 5 * time.Second
		_, stop := w.run(c, Idempotent(func(ctx context.Context, m *payment) error { <-ctx.Done(); return ctx.Err() }, Route{HandlerTimeout: time.Hour}))
		w.pay(0, 1)
		settleDown(time.Second)
		begun := time.Now()
		stop()
		require.Equal(t, 5*time.Second, time.Since(begun))
		require.Equal(t, []string{"IN_PROGRESS/DEFER"}, w.seen.outcomes("k0"), "it costs no retry")
		require.EqualValues(t, 1, w.committed("payments"), "what follows is durable")
	})
}

func TestHandlerThatNeverEndsIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, broker: broker.NewMemory(broker.MemoryConfig{}), store: memory.New(memory.Config{}), seen: new(recorder)}
		w.topic("payments", 1)
		release := make(chan struct{})
		c := w.config()
		c.Log = nil
		k, err := New(w.broker, w.store, c, Idempotent(func(ctx context.Context, m *payment) error { <-release; return nil }))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w.pay(0, 1)
		require.ErrorContains(t, k.Run(ctx), "handlers go on although their contexts have ended")
		require.EqualValues(t, 0, w.committed("payments"))
		close(release)
		synctest.Wait()
	})
}

func TestPoisonRunsAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		// Two claims that ended without a word, as a process leaves them that died.
		crashed := func(key string) {
			for range 2 {
				_, err := w.store.Claim(context.Background(), []store.Claim{{Scope: "g", Key: key, Owner: "dead", MaxAttempts: 9, Lease: time.Millisecond}})
				require.NoError(t, err)
				time.Sleep(time.Second)
			}
		}
		for i := range 50 {
			crashed("k" + strconv.Itoa(i))
		}
		var running, most atomic.Int64
		beside := map[string]int64{}
		var seen tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			n := running.Add(1)
			most.Store(max(most.Load(), n))
			time.Sleep(10 * time.Millisecond)
			if i, _ := strconv.Atoi(m.GetValue()); i < 50 && (n != 1 || running.Load() != 1) {
				seen.add(m.GetValue())
			}
			running.Add(-1)
			return nil
		}))
		w.pay(0, 300)
		settleDown(30 * time.Second)
		require.Empty(t, seen.list(), "%v", beside)
		require.Greater(t, most.Load(), int64(1), "the others run together")
		require.EqualValues(t, 300, w.committed("payments"))
		records, err := w.store.Records(context.Background(), "g", []string{"k0"})
		require.NoError(t, err)
		require.EqualValues(t, 3, records[0].Attempts, "what was given back does not count")
	})
}

// A dead letter that cannot be published holds its partition, and not a message that has to run alone.
func TestUnsettledMessageDoesNotKeepASuspectFromRunning(t *testing.T) {
	inWorld(t, func(w *world) {
		w.broker = broker.NewMemory(broker.MemoryConfig{Faults: broker.MemoryFaults{Publish: func(_ context.Context, m *broker.Message) broker.PublishFault {
			if m.Topic == "payments.dlq.g" {
				return broker.PublishFault{Err: errDown}
			}
			return broker.PublishFault{}
		}}})
		w.topic("payments", 1)
		require.NoError(t, w.broker.CreateTopic("payments.dlq.g", 1))
		for range 2 {
			_, err := w.store.Claim(context.Background(), []store.Claim{{Scope: "g", Key: "k5", Owner: "dead", MaxAttempts: 9, Lease: time.Millisecond}})
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		c := w.config()
		c.Guard.DeadLetterTopic = true
		_, stop := w.run(c, Idempotent(func(_ context.Context, m *payment) error {
			if m.GetValue() == "0" {
				return idem.NonRetryable("GONE", errDown)
			}
			return nil
		}))
		w.pay(0, 1)
		settleDown(10 * time.Second)
		w.pay(1, 10)
		settleDown(10 * time.Second)
		require.Equal(t, []string{"OK/ACK"}, w.seen.outcomes("k5"))
		require.Equal(t, []string{"OK/ACK"}, w.seen.outcomes("k9"))
		require.EqualValues(t, 0, w.committed("payments"))
		stop()
	})
}
