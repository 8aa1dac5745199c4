package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

type wordKey struct{}

// The handler's context does what one of package context does, whoever asks it first.
func TestTheHandlersContext(t *testing.T) {
	t.Parallel()
	rules := &guard.Rules{HandlerTimeout: 20 * time.Second}
	for name, f := range map[string]func(t *testing.T, ctx context.Context, end func()){
		"its end by the clock": func(t *testing.T, ctx context.Context, _ func()) {
			limit, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, 20*time.Second, time.Until(limit))
			time.Sleep(20*time.Second - 1)
			require.NoError(t, ctx.Err())
			time.Sleep(1)
			require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			<-ctx.Done()
		},
		"its end by Done": func(t *testing.T, ctx context.Context, _ func()) {
			start := time.Now()
			<-ctx.Done()
			require.Equal(t, 20*time.Second, time.Since(start))
			require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
		},
		"its parent's end": func(t *testing.T, ctx context.Context, end func()) {
			require.NoError(t, ctx.Err())
			end()
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			<-ctx.Done()
		},
		"its parent's end while one waits": func(t *testing.T, ctx context.Context, end func()) {
			done := ctx.Done()
			go end()
			<-done
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			require.Equal(t, done, ctx.Done())
		},
		"a child's earlier end": func(t *testing.T, ctx context.Context, _ func()) {
			child, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-child.Done()
			require.NoError(t, ctx.Err())
		},
		"a child's end with it": func(t *testing.T, ctx context.Context, _ func()) {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-child.Done()
			require.ErrorIs(t, child.Err(), context.DeadlineExceeded)
			late, cancel := context.WithCancel(ctx)
			defer cancel()
			<-late.Done()
		},
		"what runs after it, and what was stopped": func(t *testing.T, ctx context.Context, end func()) {
			ran := make(chan bool)
			context.AfterFunc(ctx, func() { ran <- true })
			stop := context.AfterFunc(ctx, func() { t.Error("it was stopped") })
			require.True(t, stop())
			require.False(t, stop())
			end()
			require.True(t, <-ran)
			synctest.Wait()
		},
		"values": func(t *testing.T, ctx context.Context, _ func()) {
			require.Equal(t, "parent's", ctx.Value(wordKey{}))
			child := context.WithValue(ctx, wordKey{}, "child's")
			require.Equal(t, "k", guard.KeyOf(child))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), wordKey{}, "parent's"))
				defer cancel()
				d := w.claimed(t, keyed("k"), rules)
				var kept context.Context
				w.Run(ctx, d, func(ctx context.Context) error {
					kept = ctx
					f(t, ctx, cancel)
					return nil
				})
				require.Equal(t, idem.OutcomeOK, d.Result.Outcome)
				require.Error(t, kept.Err(), "it ends with the handler")
				<-kept.Done()
			})
		})
	}
	inBubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := w.claimed(t, keyed("k"), rules)
		w.Run(ctx, d, func(ctx context.Context) error {
			limit, _ := ctx.Deadline()
			require.Equal(t, time.Second, time.Until(limit), "the parent's is earlier")
			return errors.New("no answer")
		})
	})
	require.Empty(t, guard.KeyOf(t.Context()))
	ctx := guard.WithKey(context.WithValue(t.Context(), wordKey{}, "parent's"), "k")
	require.Equal(t, "k", guard.KeyOf(ctx))
	require.Equal(t, "parent's", ctx.Value(wordKey{}))
	guard.Keep(t.Context(), nil)
}
