package consumer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
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

// CONS-041
func TestWhatFoundOutIsCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		fail := map[string]error{
			"told":    &idem.Failure{Outcome: idem.OutcomeDuplicate, Code: "PAID", Err: errors.New("the bank has it")},
			"invalid": idem.NonRetryable("NO_ACCOUNT", errors.New("there is none")),
			"slow":    errors.New("timed out"),
		}
		_, stop := w.run(w.config(), Tx(func(_ context.Context, _ *memory.Tx, m *payment) error { return fail[m.GetValue()] }))
		fingerprint := func(text string) idem.Header { return idem.Header{Name: "fingerprint", Value: []byte(text)} }
		w.send("payments", "payment", "told", "told", "told")
		w.send("payments", "payment", "invalid", "invalid", "invalid")
		w.send("payments", "payment", "slow", "slow", "slow", idem.Header{Name: "max_retry", Value: []byte("2")}, idem.Header{Name: "backoff_jitter", Value: []byte("0")})
		w.send("payments", "payment", "reused", "a", "a", fingerprint("00000001-0000000000000001"))
		settleDown(time.Second)
		w.send("payments", "payment", "reused", "a", "b", fingerprint("00000001-0000000000000002"))
		w.send("payments", "payment", "invalid", "invalid", "invalid")
		settleDown(time.Hour)
		stop()
		require.Equal(w, []string{
			"payment DUPLICATE ACK handler 1\n", "payment KEY_REUSED DEAD_LETTER store 1\n", "payment NON_RETRYABLE DEAD_LETTER  1\n", "payment OK ACK  1\n",
			"payment RETRYABLE DEAD_LETTER  1\n", "payment RETRYABLE RETRY  2\n", "payment STALE ACK store 1\n",
		}, counted(w))
	})
}
