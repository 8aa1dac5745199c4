package consumer

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// counted are the counts of a store, as "event type outcome action layer n".
func counted(w *world) (lines []string) {
	counts, err := w.store.Counts(w.Context(), store.CountFilter{ByEventType: true})
	require.NoError(w, err)
	for _, c := range counts {
		lines = append(lines, fmt.Sprintln(c.EventType, c.Outcome, c.Action, c.Layer, c.N))
	}
	return lines
}

// CONS-040, CONS-041
func TestAConsumerCountsWhatBecameOfDeliveries(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.run(w.config(), Tx(func(context.Context, *memory.Tx, *payment) error { return nil }))
		for range 3 {
			w.send("payments", "payment", "key-a", "a", "a")
		}
		w.send("payments", "payment", "key-b", "b", "b")
		time.Sleep(5 * time.Second)
		require.Empty(w, counted(w), "counts are written from time to time")
		time.Sleep(10 * time.Second)
		want := []string{"payment DUPLICATE ACK store 2\n", "payment OK ACK  2\n"}
		require.Equal(w, want, counted(w))
		w.send("payments", "payment", "key-b", "b", "b")
		time.Sleep(time.Second)
		stop()
		require.Equal(w, []string{"payment DUPLICATE ACK store 3\n", "payment OK ACK  2\n"}, counted(w), "what was counted last is written at the end")
	})
}

func TestNothingIsCountedWhereNobodyWantsIt(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		c.NoAudit = true
		_, stop := w.run(c, Tx(func(context.Context, *memory.Tx, *payment) error { return nil }))
		w.send("payments", "payment", "key-a", "a", "a")
		time.Sleep(15 * time.Second)
		stop()
		require.Empty(w, counted(w))
	})
}
