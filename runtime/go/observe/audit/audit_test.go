package audit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/audit"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// down is a store that fails while told to, after it has counted or before.
type down struct {
	*memory.Store
	err error
}

func (d *down) Count(ctx context.Context, counts []store.Count) error {
	if d.err != nil {
		return d.err
	}
	return d.Store.Count(ctx, counts)
}

// lines are what the store has, as "event type outcome action layer n".
func lines(t *testing.T, s store.Audit) (lines []string) {
	t.Helper()
	counts, err := s.Counts(t.Context(), store.CountFilter{ByScope: true, ByEventType: true})
	require.NoError(t, err)
	for _, c := range counts {
		assert.Equal(t, "s", c.Scope)
		lines = append(lines, fmt.Sprintln(c.EventType, c.Outcome, c.Action, c.Layer, c.N))
	}
	return lines
}

// CONS-041
func TestDeliveriesAreCountedByWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	counter := audit.New(s)
	for _, d := range []observe.Delivery{
		{Outcome: idem.OutcomeOK, Action: idem.ActionAck},
		{Outcome: idem.OutcomeOK, Action: idem.ActionAck},
		{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Layer: observe.LayerStore},
		{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Layer: observe.LayerRedis},
		{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Layer: observe.LayerState, Superseded: true},
		{Outcome: idem.OutcomeNonRetryable, Action: idem.ActionDeadLetter, Layer: observe.LayerState, Superseded: true},
		{Outcome: idem.OutcomeRetryable, Action: idem.ActionRetry},
		{Outcome: idem.OutcomeRetryable, Action: idem.ActionDeadLetter},
		{Outcome: idem.OutcomeFenced, Action: idem.ActionDefer},
		{Outcome: idem.OutcomeOK, Action: idem.ActionAck, Skipped: true},
		{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Shadow: true},
		{Outcome: 200, Action: 200, Layer: 200},
	} {
		d.Scope, d.EventType = "s", "payment"
		counter.Delivery(t.Context(), &d)
	}
	assert.Empty(t, lines(t, s), "nothing is written on a message's way")
	for range 2 { // the second time there is nothing to add
		require.NoError(t, counter.Flush(t.Context()))
		assert.Equal(t, []string{
			"payment DUPLICATE ACK redis 1\n", "payment DUPLICATE ACK store 1\n", "payment FENCED DEFER  1\n", "payment OK ACK  2\n",
			"payment RETRYABLE DEAD_LETTER  1\n", "payment RETRYABLE RETRY  1\n", "payment SUPERSEDED ACK state 1\n", "payment SUPERSEDED DEAD_LETTER state 1\n",
		}, lines(t, s))
	}
}

// CONS-040
func TestCountsThatCannotBeWrittenAreKept(t *testing.T) {
	t.Parallel()
	s := &down{memory.New(memory.Config{}), errors.New("down")}
	counter := audit.New(s)
	d := observe.Delivery{Scope: "s", EventType: "payment", Outcome: idem.OutcomeOK, Action: idem.ActionAck}
	counter.Delivery(t.Context(), &d)
	require.ErrorContains(t, counter.Flush(t.Context()), "down")
	counter.Delivery(t.Context(), &d)
	s.err = nil
	require.NoError(t, counter.Flush(t.Context()))
	assert.Equal(t, []string{"payment OK ACK  2\n"}, lines(t, s))
}

// CONS-042
func TestEventTypesBeyondTheBoundAreOther(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	counter := audit.New(s)
	for i := range 300 {
		counter.Delivery(t.Context(), &observe.Delivery{Scope: "s", EventType: fmt.Sprint("type-", i), Outcome: idem.OutcomeOK, Action: idem.ActionAck})
	}
	counter.Delivery(t.Context(), &observe.Delivery{Scope: "s", EventType: "no name\x00", Outcome: idem.OutcomeOK, Action: idem.ActionAck})
	require.NoError(t, counter.Flush(t.Context()))
	all := lines(t, s)
	assert.Len(t, all, 201)
	assert.Contains(t, all, "other OK ACK  101\n")
}

func TestCountingAllocatesNothing(t *testing.T) {
	counter := audit.New(memory.New(memory.Config{}))
	d := observe.Delivery{Scope: "s", EventType: "payment", Outcome: idem.OutcomeOK, Action: idem.ActionAck}
	assert.Zero(t, testing.AllocsPerRun(1000, func() { counter.Delivery(t.Context(), &d) }))
}

func TestEveryLayerHasAName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "[window redis store state handler]", fmt.Sprint(observe.Layers()))
	assert.Empty(t, observe.LayerNone.String())
	assert.Equal(t, "unknown", observe.Layer(99).String())
}

func BenchmarkDelivery(b *testing.B) {
	counter := audit.New(memory.New(memory.Config{}))
	d := observe.Delivery{Scope: "s", EventType: "payment", Outcome: idem.OutcomeOK, Action: idem.ActionAck}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		counter.Delivery(ctx, &d)
	}
}
