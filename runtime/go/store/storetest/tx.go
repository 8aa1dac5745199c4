package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

func (w *world) wantEffects(names ...string) {
	w.t.Helper()
	got, err := w.Tx.effects(w.ctx)
	if err != nil {
		w.t.Fatalf("list effects: %v", err)
	}
	slices.Sort(got)
	if fmt.Sprint(got) != fmt.Sprint(names) {
		w.t.Fatalf("effects: got %v, want %v", got, names)
	}
}

var txBehaviours = []behaviour{
	{name: "effect, success and outgoing messages are one transaction", needs: []Capability{tx, outbox}, check: func(w *world) { // DEDUP-022
		g := w.proceed("a")
		err := w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
			if err := h.effect(ctx, "paid"); err != nil {
				return err
			}
			if err := h.store(ctx, []store.Outgoing{message("a", "a1")}); err != nil {
				return err
			}
			return h.complete(ctx, store.Completion{Lease: g.Lease, Result: []byte("r")})
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.wantEffects("paid")
		w.wantOutgoing("r1", "a1")
		if d := w.claim("DUPLICATE", w.claimOf("a")); string(d.Result) != "r" {
			w.t.Errorf("result %q", d.Result)
		}
	}},
	{name: "an error rolls all of it back, and comes back as it is", needs: []Capability{tx, outbox}, check: func(w *world) {
		g := w.proceed("a")
		mine := errors.New("mine")
		err := w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
			if err := errors.Join(h.effect(ctx, "paid"), h.store(ctx, []store.Outgoing{message("a", "a1")}), h.complete(ctx, store.Completion{Lease: g.Lease})); err != nil {
				return err
			}
			return mine
		})
		if !errors.Is(err, mine) {
			w.t.Fatalf("got %v", err)
		}
		w.wantEffects()
		w.wantOutgoing("r1")
		w.wantState("a", "PROCESSING 1 1")
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "a panic rolls all of it back", needs: []Capability{tx}, check: func(w *world) {
		g := w.proceed("a")
		func() {
			defer func() { _ = recover() }()
			_ = w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
				if err := errors.Join(h.effect(ctx, "paid"), h.complete(ctx, store.Completion{Lease: g.Lease})); err != nil {
					w.t.Error(err)
				}
				panic("handler")
			})
		}()
		w.wantEffects()
		w.wantState("a", "PROCESSING 1 1")
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "a claim that is lost is fenced out with its effect", needs: []Capability{tx, MovableClock}, check: func(w *world) { // DEDUP-020
		zombie := w.proceed("a")
		w.advance(lease + time.Second)
		g := w.proceed("a")
		run := func(name string, l store.Lease) error {
			return w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
				if err := h.effect(ctx, name); err != nil {
					return err
				}
				return h.complete(ctx, store.Completion{Lease: l})
			})
		}
		if err := run("zombie", zombie.Lease); !errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("got %v, want %v", err, store.ErrFenced)
		}
		w.wantEffects()
		if err := run("paid", g.Lease); err != nil {
			w.t.Fatal(err)
		}
		if err := run("twice", g.Lease); !errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("got %v, want %v", err, store.ErrFenced)
		}
		w.wantEffects("paid")
	}},
	{name: "a claim that is lost while its handler runs is fenced out", needs: []Capability{tx, MovableClock, BesideTx}, check: func(w *world) {
		zombie := w.proceed("a")
		err := w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
			if err := h.effect(ctx, "zombie"); err != nil {
				return err
			}
			w.advance(lease + time.Second)
			grants, err := w.Other.Claim(w.ctx, []store.Claim{w.claimOf("a")})
			if err != nil {
				return err
			}
			if kind(grants[0]) != "PROCEED" {
				w.t.Errorf("got %v", kinds(grants))
			}
			return h.complete(ctx, store.Completion{Lease: zombie.Lease})
		})
		if !errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("got %v, want %v", err, store.ErrFenced)
		}
		w.wantEffects()
		w.wantState("a", "PROCESSING 2 2")
	}},
	{name: "an owner that is not the claim's is fenced out", needs: []Capability{tx}, check: func(w *world) {
		g := w.proceed("a")
		for _, l := range []store.Lease{{Scope: scope, Key: "a", Fence: 1, Owner: "somebody"}, {Scope: scope, Key: "a", Fence: 2, Owner: g.Lease.Owner}, {Scope: scope, Key: "a", Fence: 1}, {Scope: scope, Key: "a"}} {
			err := w.Tx.in(w.ctx, func(ctx context.Context, h handle) error { return h.complete(ctx, store.Completion{Lease: l}) })
			if !errors.Is(err, store.ErrFenced) {
				w.t.Errorf("%+v: got %v, want %v", l, err, store.ErrFenced)
			}
		}
		w.wantState("a", "PROCESSING 1 1")
	}},
	{name: "a crash loop completes nothing in a transaction", needs: []Capability{tx}, check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("a", attempts(1)), 0, 1, 0))
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(1), counts(0, 1, 0)))
		err := w.Tx.in(w.ctx, func(ctx context.Context, h handle) error { return h.complete(ctx, store.Completion{Lease: g.Lease}) })
		if !errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("got %v, want %v", err, store.ErrFenced)
		}
		w.wantState("a", "FAILED 1 1")
	}},
	{name: "two keys are completed in one transaction, or neither", needs: []Capability{tx, DualKeys, MovableClock}, check: func(w *world) {
		g := w.proceed("new", previous("old"))
		complete := func(l store.Lease) error {
			return w.Tx.in(w.ctx, func(ctx context.Context, h handle) error { return h.complete(ctx, store.Completion{Lease: l}) })
		}
		if err := complete(g.Lease); err != nil {
			w.t.Fatal(err)
		}
		w.claim("DUPLICATE", w.claimOf("old"))
		w.claim("DUPLICATE", w.claimOf("new"))
		g = w.proceed("new-2", previous("old-2"))
		w.advance(lease + time.Second)
		w.proceed("old-2")
		if err := complete(g.Lease); !errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("got %v", err)
		}
		w.wantState("new-2", "PROCESSING 1 1")
	}},
	{name: "the head leaves its lane in the handler's transaction", needs: []Capability{tx, followUps, retries, Lanes}, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		g := w.proceed("a", inLane(lane1), counts(0, 1, 0))
		run := func(end error) error {
			return w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
				if err := h.complete(ctx, store.Completion{Lease: g.Lease, Lane: lane1, Head: true}); err != nil {
					return err
				}
				return end
			})
		}
		if err := run(errors.New("no")); err == nil {
			w.t.Fatal("no error")
		}
		w.wantRows(1, 1)
		if err := run(nil); err != nil {
			w.t.Fatal(err)
		}
		w.publish("a", "b")
	}},
	{name: "a result in a transaction has at most 64 KiB", needs: []Capability{tx, LongResults}, check: func(w *world) {
		g := w.proceed("a")
		complete := func(n int) error {
			return w.Tx.in(w.ctx, func(ctx context.Context, h handle) error {
				return h.complete(ctx, store.Completion{Lease: g.Lease, Result: bytes.Repeat([]byte{7}, n)})
			})
		}
		if err := complete(store.MaxResult + 1); err == nil || errors.Is(err, store.ErrFenced) {
			w.t.Fatalf("one byte more: %v", err)
		}
		w.wantState("a", "PROCESSING 1 1")
		if err := complete(store.MaxResult); err != nil {
			w.t.Fatal(err)
		}
	}},
}
