package guard_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
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

// inBubble is a world whose store runs on the bubble's clock.
func inBubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, newWorld(t, func(s *faulty, _ *topics, c *guard.Config) {
			s.Store = memory.New(memory.Config{})
			c.Now = nil
		}))
	})
}

func TestAHandlerOutOfTimeIsRetryableUnderALiveLease(t *testing.T) {
	t.Parallel()
	for _, mode := range []guard.Mode{guard.Idempotent, guard.Guarded} {
		inBubble(t, func(t *testing.T, w *world) {
			rules := &guard.Rules{Mode: mode, HandlerTimeout: 50 * time.Second}
			d := w.through(t, keyed("k"), rules, func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("call the bank: %w", ctx.Err())
			})
			require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
			require.Equal(t, "TIMEOUT: the handler took longer than 50s", d.Result.Reason)
			require.Equal(t, 50*time.Second, d.Handler)
			require.Equal(t, idem.StateFailed, w.store.record(t, "k").State, "reported under the claim")
		})
	}
}

func TestWhatAHandlerSaysCountsAlsoAfterItsTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		rules := &guard.Rules{HandlerTimeout: time.Second}
		d := w.through(t, keyed("k"), rules, func(context.Context) error { time.Sleep(5 * time.Second); return nil })
		require.Equal(t, idem.OutcomeOK, d.Result.Outcome, "its effect is there")
		d = w.through(t, keyed("l"), rules, func(context.Context) error {
			time.Sleep(5 * time.Second)
			return idem.NonRetryable("GONE", errors.New("no such order"))
		})
		require.Equal(t, idem.OutcomeNonRetryable, d.Result.Outcome)
	})
}

func TestAContextThatEndsFromOutsideIsNoTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := w.claimed(t, keyed("k"), &guard.Rules{})
		w.Run(ctx, d, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
		require.NotContains(t, d.Result.Reason, guard.CodeTimeout)
	})
}

type explosive struct{}

func (explosive) String() string { panic("no text either") }

func TestThePlaceOfAPanicIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	line := 0
	w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error {
		var order *struct{ paid bool }
		_, _, line, _ = runtime.Caller(0)
		order.paid = true
		return nil
	})
	require.Contains(t, w.log.String(), fmt.Sprintf(" at=run_test.go:%d ", line+1))
}

func TestNoDeliveryLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *faulty, _ *topics, c *guard.Config) { c.NoDeliveryLog = true })
	d := w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error { return errDown })
	require.Equal(t, idem.ActionRetry, d.Decision.Action)
	require.NotContains(t, w.log.String(), "message will be retried")
}

// TestFault20PanicsAreOutcomes: a panic must not kill the partition, nor a failing logger or observer change an
// outcome.
func TestFault20PanicsAreOutcomes(t *testing.T) {
	t.Parallel()
	var nilMap map[string]int
	for _, c := range []struct {
		name   string
		fn     func(context.Context) error
		reason string
	}{
		{"a text", func(context.Context) error { panic("out of cheese") }, "PANIC: out of cheese"},
		{"an error that says that it is not retryable", func(context.Context) error { panic(idem.NonRetryable("X", errDown)) }, "PANIC: X: the database is down"},
		{"a fault of the program", func(context.Context) error { nilMap["a"]++; return nil }, "PANIC: assignment to entry in nil map"},
		{"a value that cannot be printed", func(context.Context) error { panic(explosive{}) }, "PANIC"},
		{"nil", func(context.Context) error { panic(nil) }, "PANIC: panic called with nil argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(_ *faulty, _ *topics, c *guard.Config) { c.Observer = broken{} })
			d := w.through(t, keyed("k"), &guard.Rules{}, c.fn)
			require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
			require.Contains(t, d.Result.Reason, c.reason)
			rows := w.store.due(t, time.Second)
			require.Len(t, rows, 1)
			require.NotContains(t, header(t, rows[0].Headers, "reject_reason"), "goroutine")
			stacks := 0
			for line := range strings.Lines(w.log.String()) {
				if strings.Contains(line, "goroutine ") {
					require.Contains(t, line, "level=DEBUG")
					require.Contains(t, line, "idempotency_key=k")
					stacks++
				}
			}
			require.Equal(t, 1, stacks)
			require.Regexp(t, `level=WARN .* retry_count=1 .*at=run_test.go:\d+ stack="in the log at level DEBUG"`, w.log.String())
		})
	}
	t.Run("in a transaction", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		d := w.claimed(t, keyed("k"), &guard.Rules{Mode: guard.Tx})
		guard.RunTx(t.Context(), w.Guard, w.store, d, func(_ context.Context, tx *memory.Tx) error {
			tx.Do(func() { t.Error("the effect of a panic") })
			panic("out of cheese")
		})
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.Equal(t, "PANIC: out of cheese", d.Result.Reason)
	})
	t.Run("a handler that ends its goroutine", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		d := w.claimed(t, keyed("k"), &guard.Rules{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Run(context.Background(), d, func(context.Context) error { runtime.Goexit(); return nil })
		}()
		<-ended
		require.Equal(t, guard.Ended, d.Status)
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.Equal(t, idem.ActionRetry, d.Decision.Action)
	})
}

// hollow is an error that is a nil pointer as often as not.
type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

// An error whose own methods panic is an outcome, as any other, and one of a batch leaves the others alone.
func TestErrorsThatPanicAreOutcomes(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]error{
		"a nil pointer": (*hollow)(nil), "a nil Failure": (*idem.Failure)(nil), "wrapped": errors.Join(errDown, (*hollow)(nil)),
		"a cause": idem.NonRetryable("X", (*hollow)(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			d := w.through(t, keyed("one"), &guard.Rules{}, func(context.Context) error { return bad })
			require.Equal(t, idem.ActionRetry, d.Decision.Action)
			require.Contains(t, d.Result.Reason, "return nil itself")

			d = w.claimed(t, keyed("tx"), &guard.Rules{Mode: guard.Tx})
			guard.RunTx(t.Context(), w.Guard, w.store, d, func(context.Context, *memory.Tx) error { return bad })
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.Equal(t, idem.ActionRetry, d.Decision.Action)

			for _, mode := range []guard.Mode{guard.Idempotent, guard.Tx} {
				rules := &guard.Rules{Mode: mode}
				ds := []*guard.Delivery{w.claimed(t, keyed(fmt.Sprint("bad", mode)), rules), w.claimed(t, keyed(fmt.Sprint("good", mode)), rules)}
				first := ds[0]
				results := func(ds []*guard.Delivery) []error {
					results := make([]error, len(ds))
					if ds[0] == first {
						results[0] = bad
					}
					return results
				}
				if mode == guard.Tx {
					guard.RunTxBatch(t.Context(), w.Guard, w.store, ds, func(_ context.Context, _ *memory.Tx, ds []*guard.Delivery) []error { return results(ds) })
				} else {
					w.RunBatch(t.Context(), ds, func(_ context.Context, ds []*guard.Delivery) []error { return results(ds) })
				}
				require.NoError(t, w.Settle(t.Context(), ds))
				require.Equal(t, []idem.Action{idem.ActionRetry, idem.ActionAck}, []idem.Action{ds[0].Decision.Action, ds[1].Decision.Action})
			}

			derive := func(*broker.Message) (string, error) { return "", bad }
			d = new(guard.Delivery)
			w.Open(d, message("event_type", "payments.failed"), &guard.Rules{MissingKey: guard.Derive, Derive: derive})
			require.Equal(t, idem.OutcomeMalformed, d.Result.Outcome)
		})
	}
}

// A reason of any length is no longer in a log than in its header.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	d := w.through(t, keyed("k"), &guard.Rules{}, func(context.Context) error { return errors.New(strings.Repeat("long\n", 1<<20)) })
	require.Equal(t, idem.ActionRetry, d.Decision.Action)
	require.Less(t, len(w.log.String()), 10_000)
}

// broken is an observer that panics.
type broken struct{}

func (broken) Delivery(context.Context, *observe.Delivery)           { panic("no such metric") }
func (broken) Measure(m observe.Metric, l observe.Labels, v float64) { panic("no such metric") }

// TestFault10LeaseOutlivesTheHandler: a lease must not expire while its handler runs, and a zombie's work must not
// count.
func TestFault10LeaseOutlivesTheHandler(t *testing.T) {
	t.Parallel()
	t.Run("renewed at a third while it runs", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			rules := &guard.Rules{HandlerTimeout: 5 * time.Minute}
			d := w.claimed(t, keyed("k"), rules)
			w.Run(t.Context(), d, func(ctx context.Context) error {
				for range 20 {
					time.Sleep(10 * time.Second)
					require.Equal(t, guard.Ended, w.claimed(t, keyed("k"), rules).Status, "the lease is live")
				}
				return nil
			})
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
			renewed := 0
			for _, call := range w.store.calls {
				if call == "renew" {
					renewed++
				}
			}
			require.InDelta(t, 18, renewed, 2) // in 200 s, each 10 to 12.5 s
		})
	})
	t.Run("many in one call", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			ds := make([]*guard.Delivery, 50)
			done := make(chan struct{})
			for i := range ds {
				ds[i] = w.claimed(t, keyed(fmt.Sprint("k", i)), &guard.Rules{})
				go func() {
					w.Run(t.Context(), ds[i], func(context.Context) error { time.Sleep(29 * time.Second); return nil })
					done <- struct{}{}
				}()
			}
			for range ds {
				<-done
			}
			require.NoError(t, w.Settle(t.Context(), ds))
			require.Equal(t, 2, strings.Count(strings.Join(w.store.calls, " "), "renew"))
			for _, d := range ds {
				require.True(t, d.Completed)
			}
		})
	})
	t.Run("not beyond the handler's time", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			d := w.claimed(t, keyed("k"), &guard.Rules{HandlerTimeout: 20 * time.Second})
			w.Run(t.Context(), d, func(context.Context) error { // deaf to its context
				time.Sleep(2 * time.Minute)
				other := w.claimed(t, keyed("k"), &guard.Rules{})
				require.Equal(t, guard.Ready, other.Status)
				return nil
			})
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
			require.Equal(t, idem.ActionDefer, d.Decision.Action)
		})
	})
	t.Run("a lost lease ends the handler", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			start := time.Now()
			w.Run(t.Context(), d, func(ctx context.Context) error {
				_, err := w.store.Forget(ctx, scope, []string{"k"})
				require.NoError(t, err)
				<-ctx.Done()
				return ctx.Err()
			})
			require.Less(t, time.Since(start), 15*time.Second)
			require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
			require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
			require.Equal(t, idem.ActionDefer, d.Decision.Action)
			require.Equal(t, idem.StateFailed, w.store.record(t, "k").State, "the tombstone is untouched")
			require.Zero(t, w.store.record(t, "k").Attempts)
		})
	})
	t.Run("an answer that comes late is not the next delivery's", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			asked, answer := make(chan bool), make(chan bool)
			w.store.renewing = func([]store.Renewal) { asked <- true; <-answer }
			w.Run(t.Context(), d, func(context.Context) error { return <-after(asked) })
			_, err := w.store.Forget(t.Context(), scope, []string{"k"})
			require.NoError(t, err)
			w.Open(d, keyed("l"), &guard.Rules{})
			require.NoError(t, w.Claim(t.Context(), []*guard.Delivery{d}))
			w.store.renewing = nil
			w.Run(t.Context(), d, func(ctx context.Context) error {
				answer <- true
				synctest.Wait()
				return ctx.Err()
			})
			require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
		})
	})
	t.Run("a store that is down for a while costs nothing", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			w.store.fails["renew"] = 5
			d := w.claimed(t, keyed("k"), &guard.Rules{})
			w.Run(t.Context(), d, func(ctx context.Context) error {
				time.Sleep(28 * time.Second)
				return ctx.Err()
			})
			require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
		})
	})
	t.Run("a store that is down for longer ends the handler", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, w *world) {
			w.store.fails["renew"] = 100
			d := w.claimed(t, keyed("k"), &guard.Rules{HandlerTimeout: time.Hour})
			start := time.Now()
			w.Run(t.Context(), d, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			require.InDelta(t, 31, time.Since(start).Seconds(), 2)
			require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
		})
	})
	t.Run("renewed before a handler that had to wait for its turn", func(t *testing.T) {
		t.Parallel()
		for _, mode := range []guard.Mode{guard.Idempotent, guard.Tx} {
			inBubble(t, func(t *testing.T, w *world) {
				d := w.claimed(t, keyed("k"), &guard.Rules{Mode: mode})
				time.Sleep(29 * time.Second)
				w.Run(t.Context(), d, func(context.Context) error {
					time.Sleep(29 * time.Second)
					require.Equal(t, guard.Ended, w.claimed(t, keyed("k"), &guard.Rules{}).Status)
					return nil
				})
				require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
				require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
			})
			inBubble(t, func(t *testing.T, w *world) { // too late
				d := w.claimed(t, keyed("k"), &guard.Rules{Mode: mode})
				time.Sleep(2 * time.Minute)
				w.claimed(t, keyed("k"), &guard.Rules{})
				w.Run(t.Context(), d, func(context.Context) error { t.Error("it must not run"); return nil })
				require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
			})
			inBubble(t, func(t *testing.T, w *world) { // nobody knows
				d := w.claimed(t, keyed("k"), &guard.Rules{Mode: mode})
				time.Sleep(29 * time.Second)
				w.store.fails["renew"] = 1
				w.Run(t.Context(), d, func(context.Context) error { t.Error("it must not run"); return nil })
				require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
				require.Equal(t, idem.ActionDefer, d.Decision.Action)
				require.Equal(t, time.Second.Milliseconds(), d.Decision.Delay.Ms())
				require.Zero(t, w.store.record(t, "k").Attempts, "it costs nothing")
			})
		}
	})
}

// What keeps a handler from starting costs its message nothing.
func TestATransactionThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ds := w.batch(t, 3, &guard.Rules{Mode: guard.Tx})
	w.store.fails["tx"] = 2
	runTx(t, w, ds[0], func(context.Context, *memory.Tx) error { panic("it must not run") })
	guard.RunTxBatch(t.Context(), w.Guard, w.store, ds[1:], func(context.Context, *memory.Tx, []*guard.Delivery) []error {
		panic("it must not run")
	})
	require.NoError(t, w.Settle(t.Context(), ds))
	for _, d := range ds {
		require.Equal(t, idem.ActionDefer, d.Decision.Action)
		require.Contains(t, d.Result.Reason, "NOT_STARTED: begin the handler's transaction: the database is down")
		r := w.store.record(t, d.Key)
		require.Equal(t, []any{idem.StateFailed, int64(0), int32(0)}, []any{r.State, r.Attempts, r.RetryCount})
	}
	require.Len(t, w.store.due(t, time.Second), 3)
}

// lateBegin begins a transaction with its first statement, and so within the handler.
type lateBegin struct{ store.Transactor[*memory.Tx] }

func (s lateBegin) InTx(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) error {
	return fmt.Errorf("begin: %w: %w", store.ErrNotBegun, fn(ctx, nil))
}

func TestATransactionThatDoesNotBeginWithinItsHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ds := w.batch(t, 3, &guard.Rules{Mode: guard.Tx})
	guard.RunTx(t.Context(), w.Guard, lateBegin{w.store}, ds[0], func(context.Context, *memory.Tx) error { return errDown })
	guard.RunTxBatch(t.Context(), w.Guard, lateBegin{w.store}, ds[1:], func(context.Context, *memory.Tx, []*guard.Delivery) []error {
		return []error{errDown, errDown}
	})
	require.NoError(t, w.Settle(t.Context(), ds))
	for _, d := range ds {
		require.Equal(t, idem.ActionDefer, d.Decision.Action)
		require.Contains(t, d.Result.Reason, "NOT_STARTED: begin the handler's transaction: ")
		require.Zero(t, w.store.record(t, d.Key).Attempts)
	}
}

// silent is a store that says nothing about a claim.
type silent struct{ *faulty }

func (silent) Claim(_ context.Context, claims []store.Claim) ([]store.Grant, error) {
	return make([]store.Grant, len(claims)), nil
}

func TestNoHandlerRunsWithoutAClaim(t *testing.T) {
	t.Parallel()
	g, err := guard.New(silent{newStore()}, guard.Config{Scope: scope})
	require.NoError(t, err)
	d := new(guard.Delivery)
	g.Open(d, keyed("k"), &guard.Rules{})
	require.NoError(t, g.Claim(t.Context(), []*guard.Delivery{d}))
	require.Equal(t, guard.Ended, d.Status)
	require.Equal(t, idem.OutcomeInProgress, d.Result.Outcome)
}

// after is nil once done has something.
func after(done <-chan bool) <-chan error {
	c := make(chan error)
	go func() { <-done; c <- nil }()
	return c
}

func runTx(t *testing.T, w *world, d *guard.Delivery, fn func(ctx context.Context, tx *memory.Tx) error) {
	t.Helper()
	guard.RunTx(t.Context(), w.Guard, w.store, d, fn)
}

// TestFault09NoEffectWithoutTheFence: a first worker that was given up must not complete the second one's attempt.
func TestFault09NoEffectWithoutTheFence(t *testing.T) {
	t.Parallel()
	rules := &guard.Rules{Mode: guard.Tx}
	effects := 0
	w := newWorld(t, nil)
	first := w.claimed(t, keyed("k"), rules)
	w.store.clock.add(time.Minute)
	second := w.claimed(t, keyed("k"), rules)
	require.Equal(t, guard.Ready, second.Status)
	effect := func(_ context.Context, tx *memory.Tx) error { tx.Do(func() { effects++ }); return nil }
	runTx(t, w, first, effect)
	require.Equal(t, idem.OutcomeFenced, first.Result.Outcome)
	require.Zero(t, effects)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{first}))
	require.Equal(t, idem.ActionDefer, first.Decision.Action)
	require.Equal(t, idem.StateProcessing, w.store.record(t, "k").State, "the second one's claim is untouched")
	runTx(t, w, second, effect)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{second}))
	require.Equal(t, 1, effects)
	require.Equal(t, idem.StateSuccess, w.store.record(t, "k").State)

	// The fence falls between CompleteTx and COMMIT.
	w = newWorld(t, nil)
	first = w.claimed(t, keyed("k"), rules)
	runTx(t, w, first, func(ctx context.Context, tx *memory.Tx) error {
		tx.Do(func() { t.Error("an effect without a fence") })
		_, err := w.store.Forget(ctx, scope, []string{"k"})
		return err
	})
	require.Equal(t, idem.OutcomeFenced, first.Result.Outcome)

	// In mode Idempotent the completion is refused, and so is a failure.
	for _, result := range []error{nil, errDown} {
		w = newWorld(t, nil)
		first = w.claimed(t, keyed("k"), &guard.Rules{})
		w.store.clock.add(time.Minute)
		w.claimed(t, keyed("k"), &guard.Rules{})
		before := w.store.record(t, "k")
		w.Run(t.Context(), first, func(context.Context) error { return result })
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{first}))
		require.Equal(t, idem.OutcomeFenced, first.Result.Outcome)
		require.True(t, first.Settled)
		require.Equal(t, before, w.store.record(t, "k"))
		require.Len(t, w.store.due(t, time.Hour), 1, "nothing is lost")
		require.Equal(t, 1.0, w.told.measured[observe.LeaseLost])
	}
}

// DEDUP-032
func TestTxIsOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Mode: guard.Tx}
	effects := 0
	d := w.claimed(t, keyed("k"), rules)
	runTx(t, w, d, func(ctx context.Context, tx *memory.Tx) error {
		tx.Do(func() { effects++ })
		guard.Keep(ctx, []byte("receipt 5"))
		return nil
	})
	require.True(t, d.Completed)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.NotContains(t, w.store.calls, "complete")
	d = w.claimed(t, keyed("k"), rules)
	require.Equal(t, "receipt 5", string(d.Value))

	d = w.claimed(t, keyed("l"), rules)
	runTx(t, w, d, func(ctx context.Context, tx *memory.Tx) error {
		tx.Do(func() { effects++ })
		guard.Keep(ctx, make([]byte, store.MaxResult+1))
		return nil
	})
	require.Equal(t, "RESULT_TOO_LARGE: 65537 bytes, the limit is 65536", d.Result.Reason)
	require.Equal(t, 1, effects)

	pass := w.claimed(t, message(), &guard.Rules{Mode: guard.Tx, MissingKey: guard.PassThrough})
	runTx(t, w, pass, func(_ context.Context, tx *memory.Tx) error { tx.Do(func() { effects++ }); return nil })
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{pass}))
	require.Equal(t, 2, effects)
	require.False(t, pass.Completed)
}

func TestAnOversizedResultOfAnEffectThatIsThereIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	d := w.through(t, keyed("k"), &guard.Rules{}, func(ctx context.Context) error {
		guard.Keep(ctx, make([]byte, store.MaxResult+1))
		return nil
	})
	require.True(t, d.Completed)
	require.Contains(t, w.log.String(), "result of 65537 bytes dropped")
}

type sqlError struct{ code string }

func (e sqlError) Error() string    { return "ERROR: SQLSTATE " + e.code }
func (e sqlError) SQLState() string { return e.code }

// TestFault18SerializationAndLostCommits: 40001 is no failure of the message, and a COMMIT whose reply is lost is
// looked up by its fence before anything is tried again.
func TestFault18SerializationAndLostCommits(t *testing.T) {
	t.Parallel()
	rules := &guard.Rules{Mode: guard.Tx}
	for _, code := range []string{"40001", "40P01"} {
		w := newWorld(t, nil)
		d := w.claimed(t, keyed("k"), rules)
		runTx(t, w, d, func(context.Context, *memory.Tx) error { return fmt.Errorf("insert: %w", sqlError{code}) })
		require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
		require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
		require.Equal(t, idem.ActionRetry, d.Decision.Action)
	}
	effects := 0
	effect := func(_ context.Context, tx *memory.Tx) error { tx.Do(func() { effects++ }); return nil }

	w := newWorld(t, nil) // committed, the reply is lost
	d := w.claimed(t, keyed("k"), rules)
	w.store.loses["tx"] = 1
	runTx(t, w, d, effect)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.Equal(t, []any{idem.OutcomeOK, true, 1}, []any{d.Result.Outcome, d.Completed, effects})

	w = newWorld(t, nil) // the same, and the record cannot be read at once
	d = w.claimed(t, keyed("k"), rules)
	w.store.loses["tx"], w.store.fails["records"] = 1, 2
	runTx(t, w, d, effect)
	require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
	ds := []*guard.Delivery{d}
	require.Error(t, w.Settle(t.Context(), ds))
	require.False(t, d.Settled)
	require.NoError(t, w.Settle(t.Context(), ds))
	require.Equal(t, []any{idem.OutcomeOK, idem.ActionAck, true, 2}, []any{d.Result.Outcome, d.Decision.Action, d.Settled, effects})
	require.Empty(t, w.store.due(t, time.Hour))
	require.Equal(t, idem.StateSuccess, w.store.record(t, "k").State)

	// Not committed, and not to be known: the failure is written under the claim.
	w = newWorld(t, nil)
	d = w.claimed(t, keyed("k"), rules)
	guard.RunTx(t.Context(), w.Guard, store.Transactor[*memory.Tx](rollsBack{w.store}), d, effect)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.Equal(t, []any{idem.OutcomeRetryable, 2}, []any{d.Result.Outcome, effects})
	require.Equal(t, idem.StateFailed, w.store.record(t, "k").State)
	require.Len(t, w.store.due(t, time.Hour), 1)

	// Not committed, and another has the claim by now.
	w = newWorld(t, nil)
	d = w.claimed(t, keyed("k"), rules)
	guard.RunTx(t.Context(), w.Guard, store.Transactor[*memory.Tx](rollsBack{w.store}), d, func(ctx context.Context, tx *memory.Tx) error {
		w.store.clock.add(time.Minute)
		return nil
	})
	require.Equal(t, idem.OutcomeRetryable, d.Result.Outcome)
	w.claimed(t, keyed("k"), rules)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	require.Equal(t, idem.OutcomeFenced, d.Result.Outcome)
}

// rollsBack loses the connection before COMMIT arrives.
type rollsBack struct{ *faulty }

func (s rollsBack) InTx(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) error {
	return s.Store.InTx(ctx, func(ctx context.Context, tx *memory.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return errDown
	})
}
