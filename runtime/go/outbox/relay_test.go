package outbox_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// put stores messages as they are.
func put(t testing.TB, s store.Outbox, messages ...broker.Message) {
	t.Helper()
	rows := make([]store.Outgoing, len(messages))
	for i, m := range messages {
		rows[i] = store.Outgoing{Topic: m.Topic, MessageKey: m.Key, Headers: m.Headers, Payload: m.Value}
	}
	if err := s.Store(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
}

func TestRelayPublishesRowsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := broker.Message{Topic: "orders", Headers: idem.Headers{{Name: "b", Value: []byte{0, 0xff}}, {Name: "a"}, {Name: "b", Value: []byte{}}}}
	put(t, w.store, m)
	step(t, w.relay(t, outbox.RelayConfig{}), 1)
	got := w.broker.Messages("orders")[0]
	if got.Key != nil || got.Value != nil || !reflect.DeepEqual(got.Headers, m.Headers) {
		t.Errorf("published %+v", got)
	}
}

func TestARowIsTriedAfter1And2And4SecondsAndThenFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tries []time.Duration
	begin := w.Now()
	bad := true
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		if bad && string(m.Value) == "a/1" {
			tries = append(tries, w.Now().Sub(begin))
			f.Err = errDown
		}
		return f
	}
	r := w.relay(t, outbox.RelayConfig{Revive: -1})
	put(t, w.store, message("a", 1), message("a", 2), message("", 1))
	for i := range 300 {
		put(t, w.store, message("b", i)) // other keys go on
		if _, err := r.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := values(w.broker, "orders")["b"]; len(got) != i+1 {
			t.Fatalf("round %d: %d of the other key", i, len(got))
		}
		w.Add(100 * time.Millisecond)
	}
	want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}
	tries = slices.Compact(tries) // with the others, and alone
	if !reflect.DeepEqual(tries, want) {
		t.Errorf("tried at %v, want %v", tries, want)
	}
	if s := w.stats(t); s.Failed != 1 || s.Pending != 1 {
		t.Errorf("%+v, want the row failed and the one behind it pending", s)
	}
	expect(t, w.broker, "a")
	expect(t, w.broker, "", "/1")
	bad = false
	if n, err := r.RetryFailed(t.Context(), 10); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	step(t, r, 2)
	expect(t, w.broker, "a", "a/1", "a/2")
}

// The rows behind one that failed were not tried: that it has failed three times is not held against them.
func TestRowsBehindAFailedOneKeepTheirTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.relay(t, outbox.RelayConfig{Revive: -1})
	put(t, w.store, message("a", 1), message("a", 2))
	w.down(true)
	for range 80 {
		step(t, r, 0)
		w.Add(100 * time.Millisecond)
	}
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		if string(m.Value) == "a/2" {
			f.Err = errDown
		}
		return f
	}
	if n, err := r.RetryFailed(t.Context(), 10); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	step(t, r, 1)
	if s := w.stats(t); s.Failed != 0 || s.Pending != 1 {
		t.Errorf("%+v: the second row has failed with its first try", s)
	}
}

func TestFailedRowsAreRevived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.relay(t, outbox.RelayConfig{Revive: time.Minute})
	put(t, w.store, message("a", 1), message("b", 1))
	w.down(true)
	for range 50 {
		step(t, r, 0)
		w.Add(time.Second)
	}
	if s := w.stats(t); s.Failed != 2 {
		t.Fatalf("%+v", s)
	}
	w.down(false)
	w.Add(10 * time.Second)
	step(t, r, 2)
}

func TestRelaysPublishARowOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rows, relays, keys = 600, 6, 10
	for n := range rows {
		put(t, w.store, message(fmt.Sprint(n%keys), n/keys))
	}
	var all sync.WaitGroup
	for range relays {
		r := w.relay(t, outbox.RelayConfig{Batch: 17})
		all.Go(func() {
			for w.stats(t).Pending > 0 {
				if _, err := r.Step(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(w.broker.Messages("orders")); n != rows {
		t.Errorf("%d published of %d", n, rows)
	}
	for key, got := range values(w.broker, "orders") {
		for i, v := range got {
			if v != fmt.Sprintf("%s/%d", key, i) {
				t.Fatalf("key %s: %v", key, got)
			}
		}
	}
}

func TestAClaimOfARelayThatDiedIsOverWithItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put(t, w.store, message("a", 1), message("a", 2))
	if rows, err := w.store.ClaimOutgoing(t.Context(), "dead", 1, time.Minute); err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	r := w.relay(t, outbox.RelayConfig{})
	step(t, r, 0)
	w.Add(time.Minute)
	step(t, r, 2)
	expect(t, w.broker, "a", "a/1", "a/2")
}

func TestRelayAlias(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put(t, w.store, message("a", 1))
	step(t, w.relay(t, outbox.RelayConfig{Alias: map[string]string{"orders": "orders-2"}}), 1)
	if n := len(w.broker.Messages("orders-2")); n != 1 {
		t.Errorf("%d in the new topic", n)
	}
}

func TestRelayMeasures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := new(gauges)
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		if string(m.Key) == "a" {
			f.Err = errDown
		}
		return f
	}
	put(t, w.store, message("a", 1), message("b", 1))
	w.Add(3 * time.Second)
	r := w.relay(t, outbox.RelayConfig{Observer: g, Delays: []time.Duration{}, Revive: -1})
	step(t, r, 1)
	w.Add(time.Minute)
	step(t, r, 0)
	want := map[observe.Metric]float64{
		observe.OutboxPending: 0, observe.OutboxFailed: 1, observe.OutboxOldest: 63, observe.OutboxSent: 1,
	}
	if !reflect.DeepEqual(g.values, want) {
		t.Errorf("%v, want %v", g.values, want)
	}
	if g.labels[observe.OutboxFailed].Store != "memory" || g.labels[observe.OutboxSent].Topic != "orders" {
		t.Errorf("labels %v", g.labels)
	}
}

func TestWakeHasTheRelayLookAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		r, err := outbox.NewRelay(m, b, outbox.RelayConfig{Poll: time.Hour, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		put(t, m, message("a", 1))
		r.Wake()
		synctest.Wait()
		expect(t, b, "a", "a/1")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// What is published after the lease is over is published beside the relay that has claimed it then.
func TestARoundIsOverBeforeItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1, Faults: broker.MemoryFaults{
			Publish: func(context.Context, *broker.Message) broker.PublishFault {
				return broker.PublishFault{Delay: time.Hour}
			},
		}})
		defer b.Close()
		r, err := outbox.NewRelay(m, b, outbox.RelayConfig{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			put(t, m, message(fmt.Sprint(n), 1))
		}
		begin := time.Now()
		step(t, r, 0)
		if took := time.Since(begin); took < 30*time.Second || took >= time.Minute {
			t.Errorf("the round took %v, want half of the lease of a minute", took)
		}
	})
}

func TestRelayStepSaysWhatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.relay(t, outbox.RelayConfig{})
	w.store.Close()
	if _, err := r.Step(t.Context()); err == nil || strings.Count(err.Error(), "claim") != 1 {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Error(err)
	}
}
