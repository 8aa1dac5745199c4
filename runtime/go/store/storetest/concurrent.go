package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// tally counts, from many goroutines.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[name]++
}

var concurrentBehaviours = []behaviour{
	{name: "many workers at once: one claim proceeds under a fence, one completes", needs: []Capability{Concurrency}, check: func(w *world) {
		const workers, keys, rounds = 8, 12, 25
		var granted, succeeded tally
		var wg sync.WaitGroup
		for n := range workers {
			handle := w.Store
			if n%2 == 1 {
				handle = w.Other
			}
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 1))
				for round := range rounds {
					var claims []store.Claim
					for _, k := range random.Perm(keys)[:4] {
						claims = append(claims, store.Claim{
							Scope: scope, Key: fmt.Sprintf("key-%d", k), Owner: fmt.Sprintf("w%d-%d-%d", n, round, k), MaxAttempts: 1 << 30, Lease: time.Hour,
						})
					}
					grants, err := handle.Claim(w.ctx, claims)
					if err != nil {
						w.t.Errorf("claim: %v", err)
						return
					}
					for i, g := range grants {
						if g.Kind != idem.AdmitProceed {
							continue
						}
						name := fmt.Sprintf("%s/%d", claims[i].Key, g.Fence)
						granted.add(name)
						if random.IntN(5) == 0 {
							done, err := handle.Complete(w.ctx, []store.Completion{{Lease: g.Lease}})
							if err != nil || !done[0] {
								w.t.Errorf("complete %s: %v, %v", name, done, err)
							}
							succeeded.add(claims[i].Key)
							continue
						}
						x := failed(g, 0, 0, 0)
						settled, err := handle.Settle(w.ctx, []store.Settlement{x})
						if err != nil || settled[0] != store.SettledWritten {
							w.t.Errorf("settle %s: %v, %v", name, settled, err)
						}
					}
				}
			})
		}
		wg.Wait()
		for name, n := range granted.n {
			if n != 1 {
				w.t.Errorf("%s was granted %d times", name, n)
			}
		}
		for key, n := range succeeded.n {
			if n != 1 {
				w.t.Errorf("%s succeeded %d times", key, n)
			}
		}
		if len(granted.n) < keys {
			w.t.Errorf("only %d claims were granted", len(granted.n))
		}
	}},
	{name: "batches with the same keys in other orders do not lock each other out", needs: []Capability{Concurrency, DualKeys}, check: func(w *world) {
		const workers, keys, rounds = 6, 10, 20
		var wg sync.WaitGroup
		for n := range workers {
			handle := w.Store
			if n%2 == 1 {
				handle = w.Other
			}
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 2))
				for round := range rounds {
					order := random.Perm(keys)
					var claims []store.Claim
					for i := 0; i+1 < keys; i += 2 {
						claims = append(claims, store.Claim{
							Scope: scope, Key: fmt.Sprintf("key-%d", order[i]), Previous: fmt.Sprintf("key-%d", order[i+1]),
							Owner: fmt.Sprintf("w%d-%d-%d", n, round, i), MaxAttempts: 1 << 30, Lease: time.Hour,
						})
					}
					grants, err := handle.Claim(w.ctx, claims)
					if err != nil {
						w.t.Errorf("claim: %v", err)
						return
					}
					var give []store.Settlement
					for _, g := range grants {
						if g.Kind == idem.AdmitProceed {
							give = append(give, failed(g, 0, 0, 0))
						}
					}
					settled, err := handle.Settle(w.ctx, give)
					if err != nil {
						w.t.Errorf("settle: %v", err)
						return
					}
					for i, s := range settled {
						if s != store.SettledWritten {
							w.t.Errorf("settle %q and %q: %s", give[i].Lease.Key, give[i].Lease.Previous, settledName(s))
						}
					}
				}
			})
		}
		wg.Wait()
	}},
	{name: "many workers at once: one effect a key", needs: []Capability{Concurrency, tx}, check: func(w *world) {
		const workers, keys = 6, 20
		var wg sync.WaitGroup
		for n := range workers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 3))
				for round := range 3 {
					for _, k := range random.Perm(keys) {
						key := fmt.Sprintf("key-%02d", k)
						c := store.Claim{Scope: scope, Key: key, Owner: fmt.Sprintf("w%d-%d-%d", n, round, k), MaxAttempts: 1 << 30, Lease: time.Hour}
						grants, err := w.Store.Claim(w.ctx, []store.Claim{c})
						if err != nil {
							w.t.Errorf("claim: %v", err)
							return
						}
						if grants[0].Kind != idem.AdmitProceed {
							continue
						}
						err = w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
							return errors.Join(h.effect(ctx, key), h.complete(ctx, store.Completion{Lease: grants[0].Lease}))
						})
						if err != nil {
							w.t.Errorf("complete %s: %v", key, err)
						}
					}
				}
			})
		}
		wg.Wait()
		var want []string
		for k := range keys {
			want = append(want, fmt.Sprintf("key-%02d", k))
		}
		w.wantEffects(want...)
	}},
	{name: "many messages park at once, and none is lost or overtaken", needs: []Capability{Concurrency, followUps, retries, Lanes}, check: func(w *world) {
		const messages = 24
		w.headOf("head", 1000)
		var ran tally
		var wg sync.WaitGroup
		for n := range messages {
			wg.Go(func() {
				key := fmt.Sprintf("key-%d", n)
				for range 100 {
					c := store.Claim{Scope: scope, Key: key, Owner: key, MaxAttempts: maxAttempts, Lease: time.Hour, Lane: lane1}
					grants, err := w.Store.Claim(w.ctx, []store.Claim{c})
					if err != nil {
						w.t.Errorf("claim: %v", err)
						return
					}
					if !grants[0].Parked {
						done, err := w.Store.Complete(w.ctx, []store.Completion{{Lease: grants[0].Lease, Lane: lane1, Head: grants[0].Head}})
						if err != nil || !done[0] {
							w.t.Errorf("complete %s: %v, %v", key, done, err)
						}
						ran.add(key)
						return
					}
					settled, err := w.Store.Settle(w.ctx, []store.Settlement{{Retry: retry(key, int64(n), parked), Lane: lane1}})
					if err != nil {
						w.t.Errorf("park %s: %v", key, err)
						return
					}
					if settled[0] == store.SettledWritten {
						return
					}
				}
				w.t.Errorf("%s neither runs nor parks", key)
			})
		}
		wg.Go(func() { // the head ends meanwhile
			c := w.claimAll(store.Claim{Scope: scope, Key: "head", Owner: "head", MaxAttempts: maxAttempts, Lease: time.Hour, RetryCount: 1, Lane: lane1})
			if done, err := w.Other.Complete(w.ctx, []store.Completion{{Lease: c[0].Lease, Lane: lane1, Head: c[0].Head}}); err != nil || !done[0] {
				w.t.Errorf("complete head: %v, %v", done, err)
			}
		})
		wg.Wait()
		for range 2 * messages {
			rows := w.due("s1", 10)
			if len(rows) == 0 {
				break
			}
			for _, r := range rows {
				w.mark(true, store.MarkOf(&r))
				if r.Key == "head" {
					continue
				}
				g := w.proceed(r.Key, inLane(lane1))
				if !g.Head {
					w.t.Errorf("%s is let go and is not the head", r.Key)
				}
				w.complete(true, store.Completion{Lease: g.Lease, Lane: lane1, Head: g.Head})
				ran.add(r.Key)
			}
		}
		w.wantRows(0, 0)
		if len(ran.n) != messages {
			w.t.Errorf("%d messages ran, want %d", len(ran.n), messages)
		}
	}},
}
