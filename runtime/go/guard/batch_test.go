package guard_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func (w *world) batch(t *testing.T, n int, r *guard.Rules) []*guard.Delivery {
	t.Helper()
	ds := make([]*guard.Delivery, n)
	for i := range ds {
		ds[i] = new(guard.Delivery)
		w.Open(ds[i], keyed(fmt.Sprint("k", i)), r)
	}
	require.NoError(t, w.Claim(t.Context(), ds))
	return ds
}

func outcomes(ds []*guard.Delivery) []string {
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = d.Result.Outcome.String()
	}
	return names
}

// CONS-008.
func TestABatchHasOneResultForEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ds := w.batch(t, 5, &guard.Rules{})
	w.RunBatch(t.Context(), ds, func(_ context.Context, ds []*guard.Delivery) []error {
		return []error{nil, errDown, idem.NonRetryable("GONE", errDown), nil} // and none for the last
	})
	require.NoError(t, w.Settle(t.Context(), ds))
	require.Equal(t, []string{"OK", "RETRYABLE", "NON_RETRYABLE", "OK", "RETRYABLE"}, outcomes(ds))
	require.Contains(t, ds[4].Result.Reason, guard.CodeNoResult)
	require.Len(t, w.store.due(t, time.Minute), 2)
	require.Len(t, w.store.deadLetters(t), 1)

	w = newWorld(t, nil)
	ds = w.batch(t, 2, &guard.Rules{})
	w.RunBatch(t.Context(), ds, func(context.Context, []*guard.Delivery) []error { panic("out of cheese") })
	require.Equal(t, []string{"PANIC: out of cheese", "PANIC: out of cheese"}, []string{ds[0].Result.Reason, ds[1].Result.Reason})
}

func TestABatchKeepsItsLeases(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		ds := w.batch(t, 3, &guard.Rules{HandlerTimeout: time.Hour})
		w.RunBatch(t.Context(), ds, func(ctx context.Context, ds []*guard.Delivery) []error {
			time.Sleep(2 * time.Minute)
			_, err := w.store.Forget(ctx, scope, []string{"k1"})
			require.NoError(t, err)
			<-ctx.Done()
			return []error{nil, nil, ctx.Err()}
		})
		require.Equal(t, []string{"OK", "FENCED", "RETRYABLE"}, outcomes(ds))
	})
}

func TestATransactionOfSeveralCommitsThoseThatSucceed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rules := &guard.Rules{Mode: guard.Tx}
	ds := w.batch(t, 6, rules)
	var effects []string
	calls := 0
	_, err := w.store.Forget(t.Context(), scope, []string{"k5"}) // another has taken it over
	require.NoError(t, err)
	handle := func(_ context.Context, tx *memory.Tx, ds []*guard.Delivery) []error {
		calls++
		results := make([]error, len(ds))
		for i, d := range ds {
			switch d.Key {
			case "k1":
				results[i] = errDown
			case "k2":
				results[i] = idem.NonRetryable("GONE", errDown)
			case "k3":
				d.Value = make([]byte, store.MaxResult+1)
			}
			tx.Do(func() { effects = append(effects, d.Key) })
		}
		return results
	}
	guard.RunTxBatch(t.Context(), w.Guard, w.store, ds, handle)
	require.Equal(t, idem.OutcomeFenced, ds[5].Result.Outcome)
	require.NoError(t, w.Settle(t.Context(), ds))
	require.Equal(t, []string{"OK", "RETRYABLE", "NON_RETRYABLE", "NON_RETRYABLE", "OK", "FENCED"}, outcomes(ds))
	require.Equal(t, []string{"k0", "k4"}, effects)
	require.Equal(t, 3, calls)
	require.True(t, ds[0].Completed)
	require.False(t, ds[1].Completed)

	// Nor does a statement that fails, after which PostgreSQL refuses those of the others.
	for _, said := range []bool{true, false} {
		w, effects = newWorld(t, nil), nil
		ds = w.batch(t, 4, rules)
		guard.RunTxBatch(t.Context(), w.Guard, w.store, ds, func(_ context.Context, tx *memory.Tx, ds []*guard.Delivery) []error {
			results, aborted := make([]error, len(ds)), false
			for i, d := range ds {
				switch {
				case aborted:
					results[i] = sqlError{"25P02"}
				case d.Key == "k1":
					aborted = true
					if said || len(ds) == 1 {
						results[i] = sqlError{"23505"}
					}
				default:
					tx.Do(func() { effects = append(effects, d.Key) })
				}
			}
			return results
		})
		require.Equal(t, []string{"OK", "NON_RETRYABLE", "OK", "OK"}, outcomes(ds))
		require.Equal(t, []string{"k0", "k2", "k3"}, effects)
	}

	// A panic takes nobody along.
	w, effects = newWorld(t, nil), nil
	ds = w.batch(t, 3, rules)
	guard.RunTxBatch(t.Context(), w.Guard, w.store, ds, func(_ context.Context, tx *memory.Tx, ds []*guard.Delivery) []error {
		for _, d := range ds {
			if d.Key == "k1" {
				panic("out of cheese")
			}
			tx.Do(func() { effects = append(effects, d.Key) })
		}
		return make([]error, len(ds))
	})
	require.Equal(t, []string{"OK", "RETRYABLE", "OK"}, outcomes(ds))
	require.Equal(t, []string{"k0", "k2"}, effects)

	// A COMMIT whose reply is lost.
	w, effects = newWorld(t, nil), nil
	ds = w.batch(t, 2, rules)
	w.store.loses["tx"] = 1
	guard.RunTxBatch(t.Context(), w.Guard, w.store, ds, handle)
	require.Equal(t, "RETRYABLE", ds[1].Result.Outcome.String())
	require.Equal(t, []string{"k0"}, effects)
	require.True(t, ds[0].Completed)
}
