package guard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := keyed("k", "fingerprint", "aaaaaaaa-0000000000000001")
	fail := func(context.Context) error { return errDown }

	report, err := w.Do(t.Context(), m, fail)
	require.NoError(t, err, "its retry is durable")
	require.Equal(t, guard.Report{Outcome: idem.OutcomeRetryable, Action: idem.ActionRetry, Reason: "the database is down", Attempts: 1, Delay: time.Second}, report)

	next := published(w.store.due(t, time.Second)[0])
	report, err = w.Do(t.Context(), next, func(ctx context.Context) error {
		guard.Keep(ctx, []byte("receipt 5"))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, guard.Report{Outcome: idem.OutcomeOK, Action: idem.ActionAck, Result: []byte("receipt 5"), Attempts: 2}, report)

	report, err = w.Do(t.Context(), next, fail)
	require.NoError(t, err)
	require.Equal(t, guard.Report{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Reason: "DUPLICATE", Result: []byte("receipt 5")}, report)

	_, err = w.Do(t.Context(), m, nil)
	require.NoError(t, err, "a duplicate needs no handler")
	m.Topic = ""
	_, err = w.Do(t.Context(), m, fail)
	require.ErrorContains(t, err, "Topic")
}

func TestDoHoldsWhereNothingMayGoElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *faulty, _ *topics, c *guard.Config) { c.Rules.Order = guard.Block })
	m := keyed("nightly:2025-01-01")
	for n := range 5 {
		report, err := w.Do(t.Context(), m, func(context.Context) error { return errDown })
		require.ErrorIs(t, err, guard.ErrHeld)
		require.Equal(t, time.Second<<n, report.Delay)
	}
	report, err := w.Do(t.Context(), m, func(context.Context) error { return errDown })
	require.NoError(t, err)
	require.Equal(t, idem.ActionDeadLetter, report.Action)
}

func TestDoTriesAStoreAgainByTheSameOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.store.loses["claim"], w.store.loses["complete"], w.store.fails["claim"] = 2, 3, 0
		report, err := w.Do(t.Context(), keyed("k"), nothing)
		require.NoError(t, err)
		require.Equal(t, idem.OutcomeOK, report.Outcome)
		require.Equal(t, int64(1), report.Attempts)

		w.store.fails["claim"] = 10
		start := time.Now()
		_, err = w.Do(t.Context(), keyed("l"), nothing)
		require.ErrorIs(t, err, errDown)
		require.Equal(t, 1050*time.Millisecond, time.Since(start))
	})
}

// What was done is settled, also where the caller is told to stop meanwhile.
func TestDoSettlesAfterItsContextEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	report, err := w.Do(ctx, keyed("k"), func(context.Context) error { cancel(); return nil })
	require.NoError(t, err)
	require.Equal(t, idem.OutcomeOK, report.Outcome)
	require.Equal(t, idem.StateSuccess, w.store.record(t, "k").State)
	_, err = w.Do(ctx, keyed("l"), nothing)
	require.ErrorIs(t, err, context.Canceled)
}

func TestDoWithAParkedLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *faulty, _ *topics, c *guard.Config) { c.Rules.Order = guard.Park })
	_, err := w.Do(t.Context(), keyed("one"), func(context.Context) error { return errDown })
	require.NoError(t, err)
	report, err := w.Do(t.Context(), keyed("two"), nothing)
	require.NoError(t, err)
	require.Equal(t, []any{idem.ActionDefer, "PARKED"}, []any{report.Action, report.Reason})
	require.Nil(t, w.store.record(t, "two"))
}

func TestDoTx(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	effects := 0
	effect := func(_ context.Context, tx *memory.Tx) error { tx.Do(func() { effects++ }); return nil }
	for n := range 3 {
		report, err := guard.DoTx(t.Context(), w.Guard, w.store, keyed("k"), effect)
		require.NoError(t, err)
		want := idem.OutcomeDuplicate
		if n == 0 {
			want = idem.OutcomeOK
		}
		require.Equal(t, want, report.Outcome)
	}
	require.Equal(t, 1, effects)
	report, err := guard.DoTx(t.Context(), w.Guard, w.store, keyed("l"), func(_ context.Context, tx *memory.Tx) error {
		tx.Do(func() { effects++ })
		return idem.NonRetryable("CARD_EXPIRED", errors.New("of 2024"))
	})
	require.NoError(t, err)
	require.Equal(t, []any{idem.ActionDeadLetter, "CARD_EXPIRED: of 2024", 1}, []any{report.Action, report.Reason, effects})
}
