package tiered_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

func claimOf(key, owner string) store.Claim {
	return store.Claim{Scope: scope, Key: key, Owner: owner, MaxAttempts: idem.MaxAttempts(5), Lease: lease}
}

func claim(t testing.TB, s store.Store, c store.Claim) store.Grant {
	t.Helper()
	grants, err := s.Claim(context.Background(), []store.Claim{c})
	if err != nil {
		t.Fatal(err)
	}
	return grants[0]
}

// counted is a truth that counts how many claims it was asked for.
type counted struct {
	store.Full[*memory.Tx]
	claims atomic.Int64
}

func (c *counted) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	c.claims.Add(int64(len(claims)))
	return c.Full.Claim(ctx, claims)
}

func newCounted(t testing.TB) (*tiered.Store[*memory.Tx], *counted, func(key, field string) string) {
	t.Helper()
	m, h := front(t, time.Now)
	truth := &counted{Full: memory.New(memory.Config{})}
	return tiered.New(h, truth, patient), truth, func(key, field string) string { return m.HGet("idem:hint:{"+scope+":"+key+"}", field) }
}

func TestDuplicatesAreAnsweredWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	s, truth, _ := newCounted(t)
	g := claim(t, s, claimOf("a", "w1"))
	if g.Hinted {
		t.Error("the database's own answer is said to be the memory's")
	}
	if d := claim(t, s, claimOf("a", "w2")); d.Kind != idem.AdmitInProgress {
		t.Errorf("while it is worked on: %v", d.Kind)
	}
	err := s.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
		return s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease, Result: []byte("r")})
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := claim(t, s, claimOf("a", "w3")); d.Kind != idem.AdmitDuplicate || string(d.Result) != "r" || !d.Hinted {
		t.Errorf("when it is done: %+v", d)
	}
	if n := truth.claims.Load(); n != 1 {
		t.Errorf("the database was asked %d times", n)
	}
}

func TestWhatTheDatabaseRefusesIsMarkedFailed(t *testing.T) {
	t.Parallel()
	s, truth, hint := newCounted(t)
	g, err := truth.Full.Claim(t.Context(), []store.Claim{claimOf("a", "elsewhere")}) // by a process without Redis
	if err != nil {
		t.Fatal(err)
	}
	if d := claim(t, s, claimOf("a", "w1")); d.Kind != idem.AdmitInProgress {
		t.Errorf("got %v", d.Kind)
	}
	if state := hint("a", "st"); state != "3" {
		t.Errorf("the hint is %q: who comes next would wait for a claim that nobody has", state)
	}
	if _, err := truth.Settle(t.Context(), []store.Settlement{{Lease: g[0].Lease, State: idem.StateFailed}}); err != nil {
		t.Fatal(err)
	}
	if d := claim(t, s, claimOf("a", "w2")); d.Kind != idem.AdmitProceed {
		t.Errorf("got %v", d.Kind)
	}
}

func TestSuccessIsNotedAfterTheCommitOnly(t *testing.T) {
	t.Parallel()
	s, _, hint := newCounted(t)
	g := claim(t, s, claimOf("a", "w1"))
	own := errors.New("own")
	complete := func(fail error) error {
		return s.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
			if err := s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease}); err != nil {
				return err
			}
			if state := hint("a", "st"); state != "1" {
				t.Errorf("before the commit the hint is %q", state)
			}
			return fail
		})
	}
	if err := complete(own); err != own {
		t.Errorf("the handler's error came back as %v", err)
	}
	if state := hint("a", "st"); state != "1" {
		t.Errorf("after a rollback the hint is %q", state)
	}
	if err := complete(nil); err != nil {
		t.Fatal(err)
	}
	if state := hint("a", "st"); state != "2" {
		t.Errorf("after the commit the hint is %q", state)
	}
}

func TestTransactionOfTheCallersOwnIsLeftToTheDatabase(t *testing.T) {
	t.Parallel()
	s, truth, hint := newCounted(t)
	g := claim(t, s, claimOf("a", "w1"))
	err := truth.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error { // not the tiered store's
		return s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease})
	})
	if err != nil {
		t.Fatal(err)
	}
	if state := hint("a", "st"); state != "3" {
		t.Errorf("the hint is %q, and nobody knows of the commit", state)
	}
	if d := claim(t, s, claimOf("a", "w2")); d.Kind != idem.AdmitDuplicate {
		t.Errorf("got %v", d.Kind)
	}
}

func TestForgettingClearsBoth(t *testing.T) {
	t.Parallel()
	s, _, _ := newCounted(t)
	g := claim(t, s, claimOf("a", "w1"))
	if done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil || !done[0] {
		t.Fatal(done, err)
	}
	if n, err := s.Forget(t.Context(), scope, []string{"a", "b"}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if g := claim(t, s, claimOf("a", "w2")); g.Kind != idem.AdmitProceed {
		t.Errorf("got %v", g.Kind)
	}
}

// slow is a memory that keeps what it is told for later, while it is slow.
type slow struct {
	tiered.Hint
	is    bool
	later []func()
}

func (h *slow) Look(_ context.Context, claims []store.Claim) ([]store.Grant, error) {
	if !h.is {
		return h.Hint.Look(context.Background(), claims)
	}
	h.later = append(h.later, func() { _, _ = h.Hint.Look(context.Background(), claims) })
	return nil, context.DeadlineExceeded
}

func (h *slow) Succeeded(_ context.Context, completions []store.Completion) error {
	if !h.is {
		return h.Hint.Succeeded(context.Background(), completions)
	}
	h.later = append(h.later, func() { _ = h.Hint.Succeeded(context.Background(), completions) })
	return context.DeadlineExceeded
}

// Commands of before a Forget, which the network delivers after it, do not make a forgotten key done.
func TestLateCommandsFromBeforeAForgetLoseNothing(t *testing.T) {
	t.Parallel()
	_, hints := front(t, time.Now)
	h := &slow{Hint: hints, is: true}
	s := tiered.New(h, memory.New(memory.Config{}), patient)
	g := claim(t, s, claimOf("a", "w1"))
	if done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil || !done[0] {
		t.Fatal(done, err)
	}
	if n, err := s.Forget(t.Context(), scope, []string{"a"}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if len(h.later) != 2 {
		t.Fatalf("%d commands are late", len(h.later))
	}
	for _, command := range h.later {
		command()
	}
	h.is = false
	if g := claim(t, s, claimOf("a", "w2")); g.Kind != idem.AdmitProceed {
		t.Errorf("the key was forgotten, and its message is dropped as %v", g.Kind)
	}
}

// lossy loses the next reply of a connection, after the server has done what it was asked.
type lossy struct {
	net.Conn
	lose *atomic.Int32
}

func (l lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err == nil && l.lose.Add(-1) >= 0 {
		_ = l.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// Fault 11: a reply is lost, the client asks again, and its own claim reads as another's.
func TestFault11LostReplyIsNotAnothersClaim(t *testing.T) {
	t.Parallel()
	m, _ := front(t, time.Now)
	for retries, name := range map[int]string{3: "the client asks again", -1: "the database is asked"} {
		lose := new(atomic.Int32)
		client := goredis.NewClient(&goredis.Options{Addr: m.Addr(), MaxRetries: retries, ReadTimeout: time.Minute,
			Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				return lossy{c, lose}, err
			}})
		defer client.Close()
		s := tiered.New(redis.New(client, redis.Config{}).Hints(), memory.New(memory.Config{}), patient)
		claim(t, s, claimOf(name+" warm", "w1"))
		lose.Store(1)
		g := claim(t, s, claimOf(name, "w1"))
		if lose.Load() > 0 {
			t.Fatalf("%s: no reply was lost: the test proves nothing", name)
		}
		if g.Kind != idem.AdmitProceed || g.Fence != 1 {
			t.Errorf("%s: %+v", name, g)
		}
		lose.Store(-1)
		claim(t, s, claimOf(name+" on the next connection", "w1"))
		lose.Store(1)
		if done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil || !done[0] {
			t.Errorf("%s: %v %v", name, done, err)
		}
		lose.Store(-1)
		// Where the client does not ask again, the memory may never have heard of the success: then it says that the
		// claim is live, for a lease at the most, and never that the key is free.
		d := claim(t, s, claimOf(name, "w2"))
		if d.Kind != idem.AdmitDuplicate && (retries > 0 || d.Kind != idem.AdmitInProgress) {
			t.Errorf("%s: %v", name, d.Kind)
		}
	}
}

// away is a memory that is there, down, or hangs.
type away struct {
	mode  atomic.Int32
	looks atomic.Int32
	block chan struct{}
}

const (
	there = iota
	down
	hangs
	panics
)

func (a *away) reply() error {
	switch a.mode.Load() {
	case down:
		return errors.New("connection refused")
	case hangs:
		<-a.block // as a client does that does not end with its context
	case panics:
		panic("client")
	}
	return nil
}

func (a *away) Look(_ context.Context, claims []store.Claim) ([]store.Grant, error) {
	a.looks.Add(1)
	return make([]store.Grant, len(claims)), a.reply()
}
func (a *away) Succeeded(context.Context, []store.Completion) error { return a.reply() }
func (a *away) Failed(context.Context, []store.Lease) error         { return a.reply() }
func (a *away) Extended(context.Context, []store.Renewal) error     { return a.reply() }
func (a *away) Forgotten(context.Context, []store.Lease) error      { return a.reply() }
func (a *away) Close() error                                        { return nil }

// gauge keeps the last value of idem_store_degraded.
type gauge struct {
	observe.None
	mu     sync.Mutex
	values []float64
	labels observe.Labels
}

func (g *gauge) Measure(m observe.Metric, labels observe.Labels, value float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m == observe.StoreDegraded {
		g.values, g.labels = append(g.values, value), labels
	}
}

func (g *gauge) want(t *testing.T, values ...float64) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if fmt.Sprint(g.values) != fmt.Sprint(values) || g.labels.Store != "redis" {
		t.Errorf("idem_store_degraded was %v of %q, want %v", g.values, g.labels.Store, values)
	}
}

func TestMemoryThatFailsLeavesTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]int32{"down": down, "hangs": hangs, "panics": panics} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, g := &away{block: make(chan struct{})}, &gauge{}
				s := tiered.New(a, memory.New(memory.Config{}), tiered.Config{Observer: g, Logger: slog.New(slog.DiscardHandler)})
				n := 0
				handle := func() time.Duration {
					t.Helper()
					n++
					start := time.Now()
					grant := claim(t, s, claimOf(fmt.Sprint("k", n), "w1"))
					if grant.Kind != idem.AdmitProceed {
						t.Fatalf("rejected: %v", grant.Kind)
					}
					if done, err := s.Complete(context.Background(), []store.Completion{{Lease: grant.Lease}}); err != nil || !done[0] {
						t.Fatal(done, err)
					}
					return time.Since(start)
				}
				handle()
				g.want(t, 0)

				a.mode.Store(mode)
				for range 2 {
					if waited := handle(); waited > 100*time.Millisecond {
						t.Errorf("a message waited %v for the memory", waited)
					}
				}
				g.want(t, 0, 1)
				before := a.looks.Load()
				for range 100 {
					if waited := handle(); waited != 0 {
						t.Errorf("a message waited %v, and the memory was given up", waited)
					}
				}
				if after := a.looks.Load(); after != before {
					t.Errorf("a memory that was given up is asked %d times", after-before)
				}

				time.Sleep(time.Second + time.Millisecond) // the bubble's
				handle()
				synctest.Wait()
				if after := a.looks.Load(); after != before+1 {
					t.Errorf("%d probes, want 1", after-before)
				}
				time.Sleep(100 * time.Millisecond)
				g.want(t, 0, 1) // it fails still

				a.mode.Store(there)
				close(a.block)
				time.Sleep(2 * time.Second)
				handle()
				synctest.Wait()
				g.want(t, 0, 1, 0)
				before = a.looks.Load()
				handle()
				if a.looks.Load() == before {
					t.Error("the memory is back, and nobody asks it")
				}
			})
		})
	}
}

func TestForgettingSaysWhenTheMemoryCouldNotBeTold(t *testing.T) {
	t.Parallel()
	a := &away{}
	truth := memory.New(memory.Config{})
	s := tiered.New(a, truth, tiered.Config{})
	claim(t, s, claimOf("a", "w1"))
	a.mode.Store(down)
	n, err := s.Forget(t.Context(), scope, []string{"a"})
	if n != 1 || !errors.Is(err, tiered.ErrHintsRemain) {
		t.Errorf("got %d, %v", n, err)
	}
	a.mode.Store(there)
	if _, err := s.Forget(t.Context(), scope, []string{"a"}); err != nil {
		t.Error(err)
	}
}

// leaving is a memory during whose answer the caller goes.
type leaving struct {
	tiered.Hint
	leave func()
}

func (l leaving) Look(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	defer l.leave()
	return l.Hint.Look(ctx, claims)
}

func TestClaimOfACallerThatGoesIsTakenBack(t *testing.T) {
	t.Parallel()
	m, h := front(t, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	s := tiered.New(leaving{h, cancel}, memory.New(memory.Config{}), patient)
	if _, err := s.Claim(ctx, []store.Claim{claimOf("a", "w1")}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if state := m.HGet("idem:hint:{payments:a}", "st"); state != "3" {
		t.Errorf("the hint is %q: who comes next would wait for a claim that nobody has", state)
	}
}

// Many workers, a Redis that is flushed all the time, and each key once.
func TestEachKeyHasOneEffectWhileRedisIsFlushed(t *testing.T) {
	t.Parallel()
	m, h := front(t, time.Now)
	s := tiered.New(h, memory.New(memory.Config{}), patient)
	const keys, workers = 40, 4
	var effects [keys]atomic.Int32
	var wait sync.WaitGroup
	done := make(chan struct{})
	var flusher sync.WaitGroup
	flusher.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				m.FlushAll()
			}
		}
	})
	for w := range workers {
		wait.Go(func() {
			for k := range keys {
				g := claim(t, s, claimOf(fmt.Sprint("k", k), fmt.Sprint("w", w)))
				if g.Kind != idem.AdmitProceed {
					continue
				}
				err := s.InTx(context.Background(), func(ctx context.Context, tx *memory.Tx) error {
					tx.Do(func() { effects[k].Add(1) })
					return s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	close(done)
	flusher.Wait()
	for k := range effects {
		if n := effects[k].Load(); n != 1 {
			t.Errorf("key %d had %d effects", k, n)
		}
	}
}
