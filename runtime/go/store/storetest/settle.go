package storetest

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

var settleBehaviours = []behaviour{
	{name: "a claim completes once", check: func(w *world) { // DEDUP-020
		g := w.proceed("a")
		w.complete(true, store.Completion{Lease: g.Lease, Result: []byte("1")})
		w.complete(false, store.Completion{Lease: g.Lease, Result: []byte("2")})
		w.settle(store.SettledFenced, failed(g, 0, 1, 0))
		if r := w.record("a"); r.State != idem.StateSuccess || string(r.Result) != "1" {
			w.t.Errorf("record: %+v", r)
		}
	}},
	{name: "a claim that nobody took over completes after its lease", needs: []Capability{MovableClock}, check: func(w *world) {
		g := w.proceed("a")
		w.advance(2 * lease)
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "completing matches fence and owner", check: func(w *world) { // DEDUP-020, fault 9
		g := w.proceed("a")
		other, later, unknown := g.Lease, g.Lease, g.Lease
		other.Owner, later.Fence, unknown.Key = "somebody", 2, "b"
		for _, l := range []store.Lease{other, later, unknown, {Scope: scope, Key: "a"}} {
			w.complete(false, store.Completion{Lease: l})
		}
		w.wantState("a", "PROCESSING 1 1")
		w.wantState("b", "none")
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "settling matches fence and owner", check: func(w *world) {
		g := w.proceed("a")
		other, later, unknown := g, g, g
		other.Lease.Owner, later.Lease.Fence, unknown.Lease.Key = "somebody", 2, "b"
		for _, l := range []store.Grant{other, later, unknown} {
			w.settle(store.SettledFenced, failed(l, 0, 1, 0))
		}
		w.settle(store.SettledFenced, store.Settlement{Lease: store.Lease{Scope: scope, Key: "a", Fence: 1}, State: idem.StateDead}) // live
		w.wantState("a", "PROCESSING 1 1")
	}},
	{name: "a batch of completions is answered one by one", check: func(w *world) {
		a, b := w.proceed("a"), w.proceed("b")
		lost := w.proceed("c").Lease
		lost.Owner = "somebody"
		done, err := w.Store.Complete(w.ctx, []store.Completion{{Lease: b.Lease}, {Lease: lost}, {Lease: a.Lease}})
		if err != nil || len(done) != 3 || !done[0] || done[1] || !done[2] {
			w.t.Fatalf("got %v, %v", done, err)
		}
	}},
	{name: "a batch of settlements is answered one by one", check: func(w *world) {
		a, b, c := w.proceed("a"), w.proceed("b"), w.proceed("c")
		lost := c
		lost.Lease.Owner = "somebody"
		settled, err := w.Store.Settle(w.ctx, []store.Settlement{failed(b, 0, 1, 0), failed(lost, 0, 1, 0), failed(a, 0, 2, 0)})
		if err != nil || len(settled) != 3 || settled[0] != store.SettledWritten || settled[1] != store.SettledFenced || settled[2] != store.SettledWritten {
			w.t.Fatalf("got %v, %v", settled, err)
		}
		if a, b := w.record("a"), w.record("b"); a.Position != 2 || b.Position != 1 {
			w.t.Errorf("positions %d and %d, want 2 and 1", a.Position, b.Position)
		}
	}},
	{name: "a failure keeps the position of the delivery to come", check: func(w *world) { // DEDUP-021
		w.settle(store.SettledWritten, failed(w.proceed("a", counts(1, 2, 3)), 1, 3, 3))
		r := w.record("a")
		if r.State != idem.StateFailed || r.Position != 6 || r.RetryCount != 3 || r.HoldCount != 3 || r.RedriveCount != 1 || r.Attempts != 1 || r.Fence != 1 {
			w.t.Errorf("record: %+v", r)
		}
		if !w.near(r.UpdatedAt, w.now()) || r.ExpiresAt.Before(w.now().Add(store.DefaultRetention-2*time.Second)) {
			w.t.Errorf("updated %v, expires %v", r.UpdatedAt, r.ExpiresAt)
		}
	}},
	{name: "a message held in place keeps its position and raises its counts", check: func(w *world) { // DEDUP-011
		x := failed(w.proceed("a", counts(0, 1, 0)), 0, 1, 0)
		x.Kept = idem.Counts{Retry: 2}
		w.settle(store.SettledWritten, x)
		if r := w.record("a"); r.Position != 1 || r.RetryCount != 2 || r.HoldCount != 0 {
			w.t.Errorf("record: %+v", r)
		}
		// This very delivery passes again, also in another process that has only its headers.
		if g := w.proceed("a", counts(0, 1, 0)); g.Counts != (idem.Counts{Retry: 2}) {
			w.t.Errorf("counts: %+v", g.Counts)
		}
	}},
	{name: "a claim that is given back costs no attempt", check: func(w *world) { // DEDUP-023
		for n := range 4 {
			x := failed(w.proceed("a"), 0, 0, 0)
			x.GiveBack = true
			w.settle(store.SettledWritten, x)
			if r := w.record("a"); r.State != idem.StateFailed || r.Attempts != 0 || r.Fence != int64(n)+1 {
				w.t.Fatalf("record: %+v", r)
			}
		}
		if g := w.proceed("a"); g.Attempts != 1 {
			w.t.Errorf("grant: %+v", g)
		}
	}},
	{name: "dead keeps the life that ended", check: func(w *world) {
		w.settle(store.SettledWritten, w.dead(w.proceed("a", counts(2, 0, 0)), 2, 5))
		r := w.record("a")
		if r.State != idem.StateDead || r.RedriveCount != 2 || r.RetryCount != 5 || r.Position != 5 {
			w.t.Errorf("record: %+v", r)
		}
	}},
	{name: "a renewal extends a lease that is held", needs: []Capability{MovableClock}, check: func(w *world) { // DEDUP-028
		g := w.proceed("a")
		w.advance(lease / 2)
		renewed, err := w.Store.Renew(w.ctx, []store.Renewal{{Lease: g.Lease, For: lease}})
		if err != nil || len(renewed) != 1 || !renewed[0] {
			w.t.Fatalf("renew: %v, %v", renewed, err)
		}
		w.advance(lease * 3 / 4)
		w.claim("IN_PROGRESS", w.claimOf("a"))
		w.advance(lease / 2)
		w.proceed("a")
		if renewed, err = w.Store.Renew(w.ctx, []store.Renewal{{Lease: g.Lease, For: lease}}); err != nil || renewed[0] {
			w.t.Errorf("a lost lease is renewed: %v, %v", renewed, err)
		}
	}},
	{name: "renewals are answered one by one", check: func(w *world) {
		a, b, c := w.proceed("a"), w.proceed("b"), w.proceed("c")
		w.complete(true, store.Completion{Lease: b.Lease})
		other := c.Lease
		other.Owner = "somebody"
		renewed, err := w.Store.Renew(w.ctx, []store.Renewal{{Lease: b.Lease, For: lease}, {Lease: a.Lease, For: lease}, {Lease: other, For: lease}})
		if err != nil || len(renewed) != 3 || renewed[0] || !renewed[1] || renewed[2] {
			w.t.Fatalf("got %v, %v", renewed, err)
		}
	}},
	{name: "a store without follow-ups refuses them", check: func(w *world) { // DEDUP-021
		if w.Store.FollowUps() {
			w.t.Skip("the store has follow-ups")
		}
		g := w.proceed("a")
		x := failed(g, 0, 1, 0)
		x.Retry = retry("a", 7)
		if _, err := w.Store.Settle(w.ctx, []store.Settlement{x}); err == nil {
			w.t.Error("a delivery to come is dropped without a word")
		}
		y := failed(g, 0, 1, 0)
		y.State, y.DeadLetter = idem.StateDead, deadLetter("a", 7)
		if _, err := w.Store.Settle(w.ctx, []store.Settlement{y}); err == nil {
			w.t.Error("a dead letter is dropped without a word")
		}
		w.wantState("a", "PROCESSING 1 1")
	}},
	{name: "what is fenced out writes nothing", needs: []Capability{followUps, retries, deadLetters}, check: func(w *world) {
		g := w.proceed("a")
		w.complete(true, store.Completion{Lease: g.Lease})
		x := failed(g, 0, 1, 0)
		x.Retry = retry("a", 7)
		w.settle(store.SettledFenced, x)
		y := failed(g, 0, 1, 0)
		y.State, y.DeadLetter = idem.StateDead, deadLetter("a", 7)
		w.settle(store.SettledFenced, y)
		w.wantRows(0, 0)
		if found := w.letters(store.DeadLetterFilter{}); len(found) != 0 {
			w.t.Errorf("dead letters: %+v", found)
		}
	}},
	{name: "a failure and its delivery are written together", needs: []Capability{followUps, retries}, check: func(w *world) {
		x := failed(w.proceed("a"), 0, 1, 0)
		x.Retry = retry("a", 7)
		w.settle(store.SettledWritten, x)
		w.wantState("a", "FAILED 1 1")
		w.wantDue("s1", "a")
	}},
	{name: "a record outlives its next delivery by the retention", needs: []Capability{followUps, retries}, check: func(w *world) { // DEDUP-029
		x := failed(w.proceed("a"), 0, 1, 0)
		x.Retry = retry("a", 7, due(240*time.Hour))
		w.settle(store.SettledWritten, x)
		if r := w.record("a"); r.ExpiresAt.Before(w.now().Add(240*time.Hour + store.DefaultRetention - 2*time.Second)) {
			w.t.Errorf("expires %v, the delivery is due %v", r.ExpiresAt, w.now().Add(240*time.Hour))
		}
	}},
	{name: "without a claim no record is touched", needs: []Capability{followUps, retries, deadLetters}, check: func(w *world) { // DEDUP-012
		w.proceed("a")
		w.put(retry("a", 8, deferred))
		w.bury(deadLetter("a", 9))
		w.put(retry("b", 10, deferred))
		w.wantState("a", "PROCESSING 1 1")
		w.wantState("b", "none")
		w.wantRows(2, 0)
	}},
}

var recordBehaviours = []behaviour{
	{name: "records are read in the order of keys", check: func(w *world) {
		w.succeed("a")
		w.proceed("c")
		records, err := w.Store.Records(w.ctx, scope, []string{"c", "b", "a", "c"})
		if err != nil || len(records) != 4 || records[0] == nil || records[1] != nil || records[2] == nil || records[3] == nil {
			w.t.Fatalf("got %v, %v", records, err)
		}
		if records[0].Key != "c" || records[2].Key != "a" || records[3].Key != "c" || records[2].State != idem.StateSuccess {
			w.t.Errorf("got %+v, %+v, %+v", records[0], records[2], records[3])
		}
	}},
	{name: "a key that is forgotten is new again", check: func(w *world) {
		w.succeed("success", content(print1))
		w.settle(store.SettledWritten, w.dead(w.proceed("dead", counts(3, 0, 0)), 3, 0))
		w.settle(store.SettledWritten, failed(w.proceed("failed"), 0, 5, 0))
		keys := []string{"success", "dead", "nobody", "failed"}
		if n, err := w.Store.Forget(w.ctx, scope, keys); n != 3 || err != nil {
			w.t.Fatalf("forgot %d, %v, want 3", n, err)
		}
		for _, key := range keys {
			if g := w.proceed(key, content(print2)); g.Attempts != 1 || g.Recovered {
				w.t.Errorf("%s: %+v", key, g)
			}
		}
	}},
	{name: "forgetting fences out who holds the key", check: func(w *world) { // DEDUP-025
		first := w.proceed("a")
		if n, err := w.Store.Forget(w.ctx, scope, []string{"a"}); n != 1 || err != nil {
			w.t.Fatalf("forgot %d, %v", n, err)
		}
		w.complete(false, store.Completion{Lease: first.Lease})
		g := w.proceed("a", by(first.Lease.Owner)) // even with the same token
		if g.Fence <= first.Fence {
			w.t.Errorf("fence %d after %d", g.Fence, first.Fence)
		}
		w.complete(false, store.Completion{Lease: first.Lease})
		w.settle(store.SettledFenced, failed(first, 0, 1, 0))
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
	{name: "records are cleaned when they have expired, and not before", needs: []Capability{Cleaning, MovableClock}, check: func(w *world) { // DEDUP-005
		w.succeed("a")
		w.settle(store.SettledWritten, w.dead(w.proceed("b"), 0, 0))
		w.settle(store.SettledWritten, failed(w.proceed("c"), 0, 1, 0))
		w.advance(store.DefaultRetention - time.Minute)
		w.succeed("young")
		if n, err := w.Store.Clean(w.ctx, 100); n != 0 || err != nil {
			w.t.Fatalf("cleaned %d, %v, want 0", n, err)
		}
		w.advance(2 * time.Minute)
		w.claim("DUPLICATE", w.claimOf("a")) // a record that is still there counts
		if n, err := w.Store.Clean(w.ctx, 100); n != 3 || err != nil {
			w.t.Fatalf("cleaned %d, %v, want 3", n, err)
		}
		for _, key := range []string{"a", "b", "c"} {
			w.wantState(key, "none")
		}
		w.claim("DUPLICATE", w.claimOf("young"))
	}},
	{name: "cleaning goes on in batches until none is left", needs: []Capability{Cleaning, MovableClock}, check: func(w *world) {
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			w.succeed(key)
		}
		w.advance(store.DefaultRetention + time.Minute)
		for _, want := range []int{2, 2, 1, 0} {
			if n, err := w.Store.Clean(w.ctx, 2); n != want || err != nil {
				w.t.Fatalf("cleaned %d, %v, want %d", n, err, want)
			}
		}
	}},
	{name: "what changes a record puts its expiry off", needs: []Capability{Cleaning, MovableClock}, check: func(w *world) {
		g := w.proceed("a")
		w.advance(store.DefaultRetention / 2)
		w.settle(store.SettledWritten, failed(g, 0, 1, 0))
		w.advance(store.DefaultRetention * 3 / 4)
		if n, err := w.Store.Clean(w.ctx, 100); n != 0 || err != nil {
			w.t.Fatalf("cleaned %d, %v", n, err)
		}
		w.complete(true, store.Completion{Lease: w.proceed("a", counts(0, 1, 0)).Lease})
		w.advance(store.DefaultRetention * 3 / 4)
		if n, err := w.Store.Clean(w.ctx, 100); n != 0 || err != nil {
			w.t.Fatalf("cleaned %d, %v", n, err)
		}
		w.claim("DUPLICATE", w.claimOf("a", counts(0, 1, 0)))
	}},
	{name: "cleaning a claim that expired leaves a tombstone", needs: []Capability{Cleaning, Tombstones, MovableClock}, check: func(w *world) { // DEDUP-025
		first := w.proceed("a", content(print1))
		w.advance(store.DefaultRetention + time.Minute)
		if n, err := w.Store.Clean(w.ctx, 100); n != 1 || err != nil {
			w.t.Fatalf("cleaned %d, %v, want 1", n, err)
		}
		if n, err := w.Store.Clean(w.ctx, 100); n != 0 || err != nil {
			w.t.Fatalf("the tombstone is cleaned at once: %d, %v", n, err)
		}
		w.complete(false, store.Completion{Lease: first.Lease})
		g := w.proceed("a", content(print2))
		if g.Fence <= first.Fence || g.Attempts != 1 || g.Recovered {
			w.t.Errorf("grant: %+v", g)
		}
		w.complete(false, store.Completion{Lease: first.Lease})
		w.complete(true, store.Completion{Lease: g.Lease})
	}},
}

var dualBehaviours = []behaviour{
	{name: "two keys are claimed and completed together", needs: []Capability{DualKeys}, check: func(w *world) { // KEY-030
		g := w.proceed("new", previous("old"), content(print1))
		if g.Lease.Previous != "old" || g.Lease.PreviousFence != 1 || g.Lease.Fence != 1 {
			w.t.Fatalf("lease: %+v", g.Lease)
		}
		w.claim("IN_PROGRESS", w.claimOf("old"))
		w.claim("IN_PROGRESS", w.claimOf("new"))
		w.complete(true, store.Completion{Lease: g.Lease, Result: []byte("r")})
		for _, key := range []string{"old", "new"} {
			if d := w.claim("DUPLICATE", w.claimOf(key)); string(d.Result) != "r" {
				w.t.Errorf("%s: result %q", key, d.Result)
			}
		}
	}},
	{name: "of two keys both are claimed, or neither", needs: []Capability{DualKeys}, check: func(w *world) {
		w.proceed("old")
		w.claim("IN_PROGRESS", w.claimOf("new", previous("old")))
		w.wantState("new", "none")
		w.settle(store.SettledWritten, w.dead(w.proceed("dead"), 0, 0))
		w.claim("STALE", w.claimOf("new", previous("dead")))
		w.wantState("new", "none")
		w.claim("TOO_OLD", w.claimOf("new", previous("newer"), old))
		w.wantState("newer", "none")
	}},
	{name: "success of one key is written for the other", needs: []Capability{DualKeys}, check: func(w *world) { // DEDUP-026
		g := w.proceed("old")
		w.complete(true, store.Completion{Lease: g.Lease, Result: []byte("r")})
		if d := w.claim("DUPLICATE", w.claimOf("new", previous("old"))); string(d.Result) != "r" {
			w.t.Errorf("result %q", d.Result)
		}
		if d := w.claim("DUPLICATE", w.claimOf("new")); string(d.Result) != "r" {
			w.t.Errorf("result of the other key: %q", d.Result)
		}
	}},
	{name: "success of one key fences out who holds the other", needs: []Capability{DualKeys}, check: func(w *world) {
		holder := w.proceed("new")
		w.succeed("old")
		w.claim("DUPLICATE", w.claimOf("new", previous("old")))
		w.complete(false, store.Completion{Lease: holder.Lease})
		w.claim("DUPLICATE", w.claimOf("new"))
	}},
	{name: "two keys fail together", needs: []Capability{DualKeys}, check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("new", previous("old")), 0, 1, 0))
		for _, key := range []string{"old", "new"} {
			if r := w.record(key); r == nil || r.State != idem.StateFailed || r.Position != 1 {
				w.t.Errorf("%s: %+v", key, r)
			}
		}
	}},
	{name: "a claim of two keys that lost one writes neither", needs: []Capability{DualKeys, MovableClock}, check: func(w *world) {
		g := w.proceed("new", previous("old"))
		w.advance(lease + time.Second)
		w.proceed("old")
		w.complete(false, store.Completion{Lease: g.Lease})
		w.settle(store.SettledFenced, failed(g, 0, 1, 0))
		w.wantState("new", "PROCESSING 1 1")
		w.wantState("old", "PROCESSING 2 2")
	}},
	{name: "an owner of two keys whose reply was lost gets the same answer", needs: []Capability{DualKeys}, check: func(w *world) {
		c := w.claimOf("new", previous("old"))
		first := w.claim("PROCEED", c)
		again := w.claim("PROCEED", c)
		if again.Lease != first.Lease || again.Attempts != 1 {
			w.t.Errorf("first %+v, then %+v", first, again)
		}
		w.complete(true, store.Completion{Lease: again.Lease})
	}},
	{name: "a batch claims the union of keys once", needs: []Capability{DualKeys}, check: func(w *world) { // DEDUP-026
		grants := w.claimAll(w.claimOf("new", previous("old")), w.claimOf("old"), w.claimOf("newer", previous("new")), w.claimOf("newer"))
		got := kinds(grants)
		if got[0] != "PROCEED" || got[1] != "IN_PROGRESS" || got[2] != "IN_PROGRESS" {
			w.t.Fatalf("got %v", got)
		}
		w.complete(true, store.Completion{Lease: grants[0].Lease})
	}},
	{name: "two keys that are equal are one", needs: []Capability{DualKeys}, check: func(w *world) {
		g := w.proceed("a", previous("a"))
		w.complete(true, store.Completion{Lease: g.Lease})
		w.wantState("a", "SUCCESS 1 1")
	}},
	{name: "a crash loop of two keys ends both", needs: []Capability{DualKeys}, check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("new", previous("old"), attempts(1)), 0, 1, 0))
		g := w.claim("CRASH_LOOP", w.claimOf("new", previous("old"), attempts(1), counts(0, 1, 0)))
		w.settle(store.SettledWritten, w.dead(g, 0, 1))
		w.wantState("new", "DEAD 1 1")
		w.wantState("old", "DEAD 1 1")
	}},
	{name: "a crash loop of one key leaves a new one alone", needs: []Capability{DualKeys}, check: func(w *world) {
		w.settle(store.SettledWritten, failed(w.proceed("old", attempts(1)), 0, 1, 0))
		g := w.claim("CRASH_LOOP", w.claimOf("new", previous("old"), attempts(1), counts(0, 1, 0)))
		w.settle(store.SettledWritten, w.dead(g, 0, 1))
		w.wantState("old", "DEAD 1 1")
		w.wantState("new", "none")
	}},
	{name: "two keys are renewed together", needs: []Capability{DualKeys, MovableClock}, check: func(w *world) {
		g := w.proceed("new", previous("old"))
		w.advance(lease / 2)
		renewed, err := w.Store.Renew(w.ctx, []store.Renewal{{Lease: g.Lease, For: lease}})
		if err != nil || !renewed[0] {
			w.t.Fatalf("renew: %v, %v", renewed, err)
		}
		w.advance(lease * 3 / 4)
		w.claim("IN_PROGRESS", w.claimOf("old"))
		w.claim("IN_PROGRESS", w.claimOf("new"))
	}},
}
