package storetest

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

var claimBehaviours = []behaviour{
	{name: "a new key proceeds under fence 1", check: func(w *world) { // DEDUP-001 step 1, DEDUP-010
		g := w.proceed("a", counts(2, 1, 3), content(print1), by("w1"))
		if g.Fence != 1 || g.Attempts != 1 || g.Recovered || g.Head {
			w.t.Errorf("grant: %+v", g)
		}
		if want := (store.Lease{Scope: scope, Key: "a", Fence: 1, Owner: "w1"}); g.Lease != want {
			w.t.Errorf("lease: got %+v, want %+v", g.Lease, want)
		}
		r := w.record("a")
		if r == nil {
			w.t.Fatal("no record is written")
		}
		if r.Scope != scope || r.Key != "a" || r.State != idem.StateProcessing || r.Fence != 1 || r.Attempts != 1 || r.Owner != "w1" ||
			r.RedriveCount != 2 || r.Position != 4 || r.RetryCount != 1 || r.HoldCount != 3 || r.Fingerprint != print1 || len(r.Result) != 0 {
			w.t.Errorf("record: %+v", r)
		}
		if !w.near(time.UnixMilli(r.LeaseUntilMs), w.now().Add(lease)) || r.LeaseUntilMs != g.LeaseUntilMs {
			w.t.Errorf("lease until %d, granted until %d, now %d", r.LeaseUntilMs, g.LeaseUntilMs, w.now().UnixMilli())
		}
		if !w.near(r.CreatedAt, w.now()) || !w.near(r.UpdatedAt, w.now()) || !w.near(r.ExpiresAt, w.now().Add(store.DefaultRetention)) {
			w.t.Errorf("times: created %v, updated %v, expires %v, now %v", r.CreatedAt, r.UpdatedAt, r.ExpiresAt, w.now())
		}
	}},
	{name: "a key in progress makes another claim wait", check: func(w *world) { // step 5
		w.proceed("a")
		g := w.claim("IN_PROGRESS", w.claimOf("a"))
		if g.WaitMs <= 0 || g.WaitMs > lease.Milliseconds() {
			w.t.Errorf("wait of %d ms, the lease is %d", g.WaitMs, lease.Milliseconds())
		}
		if g.Lease.Held() {
			w.t.Errorf("a claim that waits holds %+v", g.Lease)
		}
		w.wantState("a", "PROCESSING 1 1")
	}},
	{name: "a claim is taken over when its lease has ended", needs: []Capability{MovableClock}, check: func(w *world) { // step 8
		first := w.proceed("a")
		w.advance(lease / 2)
		w.claim("IN_PROGRESS", w.claimOf("a"))
		w.advance(lease/2 + time.Second)
		g := w.proceed("a", by("w2"))
		if !g.Recovered || g.Fence != 2 || g.Attempts != 2 {
			w.t.Errorf("grant: %+v", g)
		}
		w.complete(false, store.Completion{Lease: first.Lease})
		w.settle(store.SettledFenced, failed(first, 0, 1, 0))
		w.wantState("a", "PROCESSING 2 2")
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "a lease ends at its millisecond", needs: []Capability{MovableClock}, check: func(w *world) { // DEDUP-002
		if w.OwnClock {
			w.t.Skip("the store's own clock does not stand still")
		}
		w.proceed("a")
		w.advance(lease - time.Millisecond)
		if g := w.claim("IN_PROGRESS", w.claimOf("a")); g.WaitMs != 1 {
			w.t.Errorf("wait of %d ms, want 1", g.WaitMs)
		}
		w.advance(time.Millisecond)
		w.proceed("a")
	}},
	{name: "an owner whose reply was lost gets the same answer", check: func(w *world) { // DEDUP-013, fault 11
		c := w.claimOf("a")
		first := w.claim("PROCEED", c)
		if w.without(MovableClock) == "" {
			w.advance(lease / 2)
		}
		again := w.claim("PROCEED", c)
		if again.Lease != first.Lease || again.Attempts != 1 || again.Recovered || again.LeaseUntilMs != first.LeaseUntilMs {
			w.t.Errorf("first %+v, then %+v", first, again)
		}
		w.wantState("a", "PROCESSING 1 1")
	}},
	{name: "an owner whose lease has ended is like any other", needs: []Capability{MovableClock}, check: func(w *world) {
		c := w.claimOf("a")
		w.claim("PROCEED", c)
		w.advance(lease + time.Second)
		if g := w.claim("PROCEED", c); g.Fence != 2 || !g.Recovered {
			w.t.Errorf("grant: %+v", g)
		}
	}},
	{name: "a key that succeeded is a duplicate with its result", check: func(w *world) { // step 3
		g := w.proceed("a", content(print1))
		w.complete(true, store.Completion{Lease: g.Lease, Result: []byte("receipt 7")})
		for _, redrive := range []int32{0, 3} {
			d := w.claim("DUPLICATE", w.claimOf("a", content(print1), counts(redrive, 0, 0)))
			if string(d.Result) != "receipt 7" || d.Lease.Held() {
				w.t.Errorf("grant: %+v", d)
			}
		}
		w.wantState("a", "SUCCESS 1 1")
	}},
	{name: "a success stays a duplicate when its lease would be over", needs: []Capability{MovableClock}, check: func(w *world) {
		w.succeed("a")
		w.advance(2 * lease)
		w.claim("DUPLICATE", w.claimOf("a"))
	}},
	{name: "a key with another content is reused", check: func(w *world) { // step 2, DEDUP-012, fault 12
		g := w.proceed("a", content(print1))
		if reused := w.claim("KEY_REUSED", w.claimOf("a", content(print2))); reused.RecordFingerprint != print1 {
			w.t.Errorf("the log would say %q, want %q", reused.RecordFingerprint, print1)
		}
		w.claim("IN_PROGRESS", w.claimOf("a", content(otherPrint)))
		w.claim("IN_PROGRESS", w.claimOf("a"))
		w.complete(true, store.Completion{Lease: g.Lease})
		w.claim("KEY_REUSED", w.claimOf("a", content(print2)))
		w.claim("DUPLICATE", w.claimOf("a", content(print1)))
		if r := w.record("a"); r.Fingerprint != print1 {
			w.t.Errorf("the record's fingerprint became %q", r.Fingerprint)
		}
	}},
	{name: "a record adopts the first fingerprint", check: func(w *world) { // DEDUP-012
		w.settle(store.SettledWritten, failed(w.proceed("a"), 0, 1, 0))
		w.settle(store.SettledWritten, failed(w.proceed("a", counts(0, 1, 0), content(print1)), 0, 2, 0))
		w.claim("KEY_REUSED", w.claimOf("a", counts(0, 2, 0), content(print2)))
		w.settle(store.SettledWritten, failed(w.proceed("a", counts(0, 2, 0)), 0, 3, 0))
		if r := w.record("a"); r.Fingerprint != print1 {
			w.t.Errorf("the record's fingerprint became %q", r.Fingerprint)
		}
		w.settle(store.SettledWritten, failed(w.proceed("a", counts(0, 3, 0), content(otherPrint)), 0, 4, 0))
		if r := w.record("a"); r.Fingerprint != print1 {
			w.t.Errorf("the record's fingerprint became %q", r.Fingerprint)
		}
	}},
	{name: "a delivery whose successor is durable is stale", check: func(w *world) { // step 4
		w.settle(store.SettledWritten, failed(w.proceed("a", counts(1, 0, 0)), 1, 1, 1))
		w.claim("STALE", w.claimOf("a", counts(0, 7, 0)))
		w.claim("STALE", w.claimOf("a", counts(1, 1, 0)))
		w.claim("STALE", w.claimOf("a", counts(1, 0, 0)))
		w.wantState("a", "FAILED 1 1")
		w.claim("PROCEED", w.claimOf("a", counts(1, 0, 2)))
		w.claim("STALE", w.claimOf("a", counts(1, 0, 0))) // before a live lease
		w.wantState("a", "PROCESSING 2 2")
	}},
	{name: "a life that ended is stale, and the next one proceeds", check: func(w *world) { // steps 4 and 6
		w.settle(store.SettledWritten, w.dead(w.proceed("a"), 0, 0))
		w.claim("STALE", w.claimOf("a"))
		w.claim("STALE", w.claimOf("a", counts(0, 9, 9)))
		w.wantState("a", "DEAD 1 1")
		g := w.proceed("a", counts(1, 0, 0))
		if g.Fence != 2 || g.Attempts != 1 || g.RecordRedriveCount != 0 {
			w.t.Errorf("grant: %+v", g)
		}
		w.claim("STALE", w.claimOf("a", counts(0, 9, 9)))
		w.wantState("a", "PROCESSING 2 1")
	}},
	{name: "attempts are counted over failures", check: func(w *world) { // step 8
		for n := range int32(3) {
			g := w.proceed("a", counts(0, n, 0))
			if g.Fence != int64(n)+1 || g.Attempts != int64(n)+1 || g.Recovered {
				w.t.Fatalf("grant %d: %+v", n, g)
			}
			w.settle(store.SettledWritten, failed(g, 0, n+1, 0))
		}
	}},
	{name: "a message too old to be told from new is not claimed", check: func(w *world) { // DEDUP-029
		g := w.claim("TOO_OLD", w.claimOf("a", old, counts(0, 2, 1)))
		if g.Lease.Held() || g.Counts != (idem.Counts{Retry: 2, Hold: 1}) {
			w.t.Errorf("grant: %+v", g)
		}
		w.wantState("a", "none")
		w.proceed("b", old, counts(1, 0, 0))
		w.succeed("c")
		w.claim("DUPLICATE", w.claimOf("c", old))
	}},
	{name: "a key that comes twice in a batch is claimed once", check: func(w *world) { // DEDUP-025
		c := w.claimOf("a")
		grants := w.claimAll(w.claimOf("b"), c, w.claimOf("a"), c, w.claimOf("b"))
		if got, want := kinds(grants), []string{"PROCEED", "PROCEED", "IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS"}; !reflect.DeepEqual(got, want) {
			w.t.Fatalf("got %v, want %v", got, want)
		}
		w.wantState("a", "PROCESSING 1 1")
		w.complete(true, store.Completion{Lease: grants[1].Lease})
	}},
	{name: "a batch is answered in its order", check: func(w *world) {
		w.succeed("success")
		w.proceed("processing")
		w.settle(store.SettledWritten, failed(w.proceed("failed"), 0, 1, 0))
		w.settle(store.SettledWritten, w.dead(w.proceed("dead"), 0, 0))
		w.proceed("print", content(print1))
		got := kinds(w.claimAll(w.claimOf("z"), w.claimOf("success"), w.claimOf("failed", counts(0, 1, 0)), w.claimOf("a"), w.claimOf("dead"),
			w.claimOf("processing"), w.claimOf("print", content(print2)), w.claimOf("old", old), w.claimOf("dead", counts(1, 0, 0), inScope("other"))))
		want := []string{"PROCEED", "DUPLICATE", "PROCEED", "PROCEED", "STALE", "IN_PROGRESS", "KEY_REUSED", "TOO_OLD", "PROCEED"}
		if !reflect.DeepEqual(got, want) {
			w.t.Errorf("got %v, want %v", got, want)
		}
	}},
	{name: "a batch of a thousand keys is claimed and completed", check: func(w *world) {
		var claims []store.Claim
		for n := range 1000 {
			claims = append(claims, w.claimOf(fmt.Sprintf("key-%d", n*7919%1000)))
		}
		var completions []store.Completion
		for i, g := range w.claimAll(claims...) {
			if kind(g) != "PROCEED" || g.Lease.Key != claims[i].Key || g.Lease.Owner != claims[i].Owner {
				w.t.Fatalf("claim %d of %+v: %+v", i, claims[i], g)
			}
			completions = append(completions, store.Completion{Lease: g.Lease, Result: []byte(claims[i].Key)})
		}
		done, err := w.Store.Complete(w.ctx, completions)
		if err != nil {
			w.t.Fatal(err)
		}
		for i, ok := range done {
			if !ok {
				w.t.Fatalf("completion %d is fenced out", i)
			}
		}
		for i, g := range w.claimAll(claims...) {
			if kind(g) != "DUPLICATE" || string(g.Result) != claims[i].Key {
				w.t.Fatalf("claim %d of %q: %s %q", i, claims[i].Key, kind(g), g.Result)
			}
		}
	}},
	{name: "empty batches are no error", check: func(w *world) {
		grants, err := w.Store.Claim(w.ctx, nil)
		done, err2 := w.Store.Complete(w.ctx, nil)
		settled, err3 := w.Store.Settle(w.ctx, nil)
		renewed, err4 := w.Store.Renew(w.ctx, nil)
		records, err5 := w.Store.Records(w.ctx, scope, nil)
		n, err6 := w.Store.Forget(w.ctx, scope, nil)
		for _, err := range []error{err, err2, err3, err4, err5, err6} {
			if err != nil {
				w.t.Error(err)
			}
		}
		if len(grants)+len(done)+len(settled)+len(renewed)+len(records)+n != 0 {
			w.t.Errorf("answers: %v %v %v %v %v %d", grants, done, settled, renewed, records, n)
		}
	}},
	{name: "scopes do not see each other", check: func(w *world) {
		w.succeed("a")
		w.proceed("a", inScope("Payments"))
		w.proceed("a", inScope("payments-2"))
		w.claim("DUPLICATE", w.claimOf("a"))
		if n, err := w.Store.Forget(w.ctx, "payments-3", []string{"a"}); n != 0 || err != nil {
			w.t.Errorf("forgot %d, %v", n, err)
		}
		w.claim("DUPLICATE", w.claimOf("a"))
	}},
	{name: "the larger counts of header and record are used, within one life", check: func(w *world) { // DEDUP-011
		x := failed(w.proceed("a", counts(1, 1, 1)), 1, 1, 1)
		x.Kept = idem.Counts{Retry: 4}
		w.settle(store.SettledWritten, x)
		g := w.proceed("a", counts(1, 1, 2))
		if want := (idem.Counts{Retry: 4, Hold: 2}); g.Counts != want || g.RecordRedriveCount != 1 {
			w.t.Errorf("counts: got %+v, want %+v; redrive count of the record %d", g.Counts, want, g.RecordRedriveCount)
		}
		if r := w.record("a"); r.Position != 3 || r.RetryCount != 4 || r.HoldCount != 2 {
			w.t.Errorf("record: %+v", r)
		}
		w.settle(store.SettledWritten, failed(g, 1, 5, 2))
		g = w.proceed("a", counts(2, 0, 0))
		if g.Counts != (idem.Counts{}) || g.RecordRedriveCount != 1 {
			w.t.Errorf("counts in the next life: %+v", g)
		}
		if r := w.record("a"); r.RedriveCount != 2 || r.Position != 0 || r.RetryCount != 0 || r.HoldCount != 0 {
			w.t.Errorf("record: %+v", r)
		}
	}},
	{name: "another handle sees what was written", check: func(w *world) {
		g := w.proceed("a")
		grants, err := w.Other.Claim(w.ctx, []store.Claim{w.claimOf("a")})
		if err != nil || kind(grants[0]) != "IN_PROGRESS" {
			w.t.Fatalf("got %v, %v", kinds(grants), err)
		}
		done, err := w.Other.Complete(w.ctx, []store.Completion{{Lease: g.Lease}})
		if err != nil || !done[0] {
			w.t.Fatalf("got %v, %v", done, err)
		}
		w.claim("DUPLICATE", w.claimOf("a"))
	}},
	{name: "a cancelled context is an error", check: func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		if _, err := w.Store.Claim(ctx, []store.Claim{w.claimOf("a")}); err == nil {
			w.t.Error("claim answers")
		}
	}},
	{name: "a store that works passes its check", check: func(w *world) {
		if err := w.Store.Check(w.ctx); err != nil {
			w.t.Error(err)
		}
	}},
}

var crashLoopBehaviours = []behaviour{
	{name: "attempts that are used up are a crash loop", needs: []Capability{MovableClock}, check: func(w *world) { // step 7
		for n := range int64(3) {
			w.proceed("a", attempts(3))
			w.wantState("a", fmt.Sprintf("PROCESSING %d %d", n+1, n+1))
			w.advance(lease + time.Second)
		}
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(3), counts(0, 0, 0)))
		if want := (store.Lease{Scope: scope, Key: "a", Fence: 3}); g.Lease != want {
			w.t.Errorf("lease: got %+v, want %+v", g.Lease, want)
		}
		w.wantState("a", "PROCESSING 3 3")
		w.settle(store.SettledWritten, w.dead(g, 0, 0))
		w.wantState("a", "DEAD 3 3")
		w.claim("STALE", w.claimOf("a"))
		if g := w.proceed("a", attempts(3), counts(1, 0, 0)); g.Attempts != 1 || g.Fence != 4 {
			w.t.Errorf("the next life: %+v", g)
		}
	}},
	{name: "a crash loop ends a failed record too", check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("a", attempts(1)), 0, 1, 0))
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(1), counts(0, 1, 0)))
		w.settle(store.SettledWritten, w.dead(g, 0, 1))
		w.wantState("a", "DEAD 1 1")
		w.settle(store.SettledFenced, w.dead(g, 0, 1)) // it ends once
	}},
	{name: "a crash loop is fenced out by a later claim", needs: []Capability{MovableClock}, check: func(w *world) { // DEDUP-020
		w.proceed("a", attempts(1))
		w.advance(lease + time.Second)
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(1)))
		w.proceed("a", counts(1, 0, 0))
		w.settle(store.SettledFenced, w.dead(g, 0, 0))
		w.wantState("a", "PROCESSING 2 1")
	}},
	{name: "a crash loop is fenced out by a worker that lives", needs: []Capability{MovableClock}, check: func(w *world) {
		worker := w.proceed("a", attempts(1))
		w.advance(lease + time.Second)
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(1)))
		renewed, err := w.Store.Renew(w.ctx, []store.Renewal{{Lease: worker.Lease, For: lease}})
		if err != nil || !renewed[0] {
			w.t.Fatalf("renew: %v, %v", renewed, err)
		}
		w.settle(store.SettledFenced, w.dead(g, 0, 0))
		w.complete(true, store.Completion{Lease: worker.Lease})
		w.settle(store.SettledFenced, w.dead(g, 0, 0))
		w.wantState("a", "SUCCESS 1 1")
	}},
	{name: "a crash loop completes and renews nothing", check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("a", attempts(1)), 0, 1, 0))
		g := w.claim("CRASH_LOOP", w.claimOf("a", attempts(1), counts(0, 1, 0)))
		w.complete(false, store.Completion{Lease: g.Lease})
		renewed, err := w.Store.Renew(w.ctx, []store.Renewal{{Lease: g.Lease, For: lease}})
		if err != nil || renewed[0] {
			w.t.Errorf("renew: %v, %v", renewed, err)
		}
		w.wantState("a", "FAILED 1 1")
	}},
}
