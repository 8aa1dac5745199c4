//go:build unix

package faults

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// TestChecklistZombieWorkerAfterItsLease: a process is stopped in a handler, past its lease and its session. Another
// one does the message. Then the first one goes on, and writes nothing: its claim is fenced out.
func TestChecklistZombieWorkerAfterItsLease(t *testing.T) {
	t.Parallel()
	t.Run("Tx", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1)
		// The lease is the handler's time and ten seconds.
		w.zombie(childConfig{CommitInterval: 100 * time.Millisecond, HandlerTimeout: time.Second}, w.message("k", "hold"),
			consumer.Tx(simply, consumer.Route{HandlerTimeout: time.Second}))
	})
	t.Run("Idempotent", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1)
		m := w.message("k", "hold")
		m.Headers[1].Value = []byte("outside")
		w.zombie(childConfig{CommitInterval: 100 * time.Millisecond, Lease: 2 * time.Second}, m,
			consumer.Idempotent(func(ctx context.Context, _ *outside) error { return once(ctx, w.pool, "second") }))
	})
}

func (w *world) zombie(c childConfig, m broker.Message, second consumer.Handler) {
	w.Helper()
	p := w.spawn(c)
	w.send(m)
	p.untilSaid("holds", "k")
	p.signal(syscall.SIGSTOP)
	w.start(w.store, w.config(), second)
	w.untilDone(1)
	fence := w.record("k").Fence
	require.Greater(w, fence, int64(1))
	require.Equal(w, int64(2), w.record("k").Attempts)
	p.signal(syscall.SIGCONT)
	p.goOn()
	p.untilSaid("ended", "k", "FENCED")
	w.judge()
	r := w.record("k")
	require.Equal(w, []any{idem.StateSuccess, fence}, []any{r.State, r.Fence})
	require.Len(w, w.effects(), 1)
	require.Zero(w, w.count(`SELECT count(*) FROM effect WHERE worker = 'child'`))
}

func (w *world) record(key string) *store.Record {
	w.Helper()
	records, err := w.store.Records(w.Context(), w.Group, []string{key})
	require.NoError(w, err)
	require.NotNil(w, records[0])
	return records[0]
}

// TestChecklistHandlerThatKillsItsProcess: a message whose handler kills its process, each time, ends as a CRASH_LOOP
// dead letter after max_retry + 4 attempts, and the others are done.
func TestChecklistHandlerThatKillsItsProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const retries = 0
	killer := w.message("killer", "", "max_retry", strconv.Itoa(retries))
	killer.Headers[1].Value = []byte("deadly")
	var all []broker.Message
	for i := range 20 {
		all = append(all, w.message(fmt.Sprint("before", i), ""))
	}
	all = append(all, killer)
	for i := range 20 {
		all = append(all, w.message(fmt.Sprint("behind", i), ""))
	}
	w.send(all...)
	deaths := 0
	c := childConfig{CommitInterval: 100 * time.Millisecond, HandlerTimeout: time.Second, Lease: time.Second}
	p := w.spawn(c)
	w.until(func() string {
		select {
		case <-p.ended:
			require.True(t, p.killed(), "it ended otherwise: %v", p.command.ProcessState)
			deaths++
			p = w.spawn(c)
		default:
		}
		if len(w.letters()) == 0 {
			return fmt.Sprintf("%d processes died, and there is no dead letter", deaths)
		}
		return ""
	})
	w.judge()
	require.Equal(t, retries+4, deaths)
	letters := w.letters()
	require.Len(t, letters, 1)
	require.Equal(t, []any{"killer", idem.OutcomeCrashLoop}, []any{letters[0].Key, letters[0].Outcome})
	require.Equal(t, []any{idem.StateDead, int64(retries + 4)}, []any{w.record("killer").State, w.record("killer").Attempts})
	require.Len(t, w.effects(), 40)
}

// TestChecklistRebalanceInMidHandler: the group rebalances while handlers run, some of which end in time and some do
// not. Each message has one effect.
func TestChecklistRebalanceInMidHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	const keys = 80
	release := make(chan struct{})
	var mu sync.Mutex
	running, cut := 0, 0
	handler := func(ctx context.Context, tx pgx.Tx, m *work) error {
		if err := effect(ctx, tx, m.GetValue()); err != nil {
			return err
		}
		if m.GetValue() == "slow" {
			mu.Lock()
			running++
			mu.Unlock()
			select {
			case <-release:
			case <-ctx.Done(): // at the end of its share
				mu.Lock()
				cut++
				mu.Unlock()
				return ctx.Err()
			}
		}
		return nil
	}
	start := func() func() {
		return w.start(storeOf(t, w.connect(w.Database)), w.config(), consumer.Tx(handler))
	}
	start()
	var all []broker.Message
	for i := range keys {
		text := "quick"
		if i%10 == 0 {
			text = "slow"
		}
		all = append(all, w.message(fmt.Sprint("k", i), text))
	}
	w.send(all...)
	w.until(func() string {
		mu.Lock()
		defer mu.Unlock()
		if running < keys/10 {
			return "not all slow handlers run"
		}
		return ""
	})
	stop := start() // the first rebalance: the handlers are cut off
	w.until(func() string {
		mu.Lock()
		defer mu.Unlock()
		if cut < keys/10 {
			return fmt.Sprintf("%d handlers of %d were cut off", cut, keys/10)
		}
		return ""
	})
	w.until(func() string {
		mu.Lock()
		defer mu.Unlock()
		if running < 2*keys/10 {
			return "not all of them run again"
		}
		return ""
	})
	go func() { time.Sleep(300 * time.Millisecond); close(release) }() // within the second one: they end in time
	stop()
	w.judge()
	require.Len(t, w.effects(), keys)
	require.Empty(t, w.letters())
	for i := range keys {
		for _, d := range w.seen.of(fmt.Sprint("k", i)) {
			require.NotEqual(t, idem.OutcomeRetryable, d.Outcome, "a rebalance costs no retry: %s %s", d.Key, d.Reason)
		}
	}
}
