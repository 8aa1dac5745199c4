package storetest

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// lanesNeed is what tests of lanes need.
var lanesNeed = []Capability{followUps, retries, Lanes}

// fail makes a claim FAILED on a route that parks, with a delivery to come.
func (w *world) fail(g store.Grant, l store.Lane, row *store.Retry) {
	w.t.Helper()
	x := failed(g, row.RedriveCount, row.RetryCount, row.HoldCount)
	x.Retry, x.Lane = row, l
	w.settle(store.SettledWritten, x)
}

// park parks a message that Claim has said must.
func (w *world) park(want store.Settled, key string, offset int64) {
	w.t.Helper()
	w.settle(want, store.Settlement{Retry: retry(key, offset, parked), Lane: lane1})
}

// headOf fails key, so that it is the head of lane 1, with its delivery due now.
func (w *world) headOf(key string, offset int64) {
	w.t.Helper()
	w.fail(w.proceed(key, inLane(lane1)), lane1, retry(key, offset))
}

var laneBehaviours = []behaviour{
	{name: "a message that failed is the head of its lane, and later ones park behind it in order", needs: lanesNeed, check: func(w *world) { // CONS-013
		w.headOf("a", 1)
		w.wantRows(1, 0)
		for i, key := range []string{"b", "c"} {
			g := w.claim("PARKED", w.claimOf(key, inLane(lane1), counts(0, 1, 2)))
			if g.Lease.Held() || g.Head || g.Counts != (idem.Counts{Retry: 1, Hold: 2}) {
				w.t.Errorf("grant: %+v", g)
			}
			w.wantState(key, "none")
			w.park(store.SettledWritten, key, int64(2+i))
		}
		w.wantRows(1, 2)
		w.publish("a")
		g := w.proceed("a", inLane(lane1), counts(0, 1, 0))
		if !g.Head {
			w.t.Error("the head does not know that it is")
		}
		w.complete(true, store.Completion{Lease: g.Lease, Lane: lane1, Head: true})
		w.wantRows(1, 1)
		w.publish("b")
		w.claim("PARKED", w.claimOf("d", inLane(lane1)))
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
		b := w.proceed("b", inLane(lane1))
		if !b.Head {
			w.t.Error("the next head does not know that it is")
		}
		w.complete(true, store.Completion{Lease: b.Lease, Lane: lane1, Head: b.Head})
		w.publish("c")
		w.complete(true, store.Completion{Lease: w.proceed("c", inLane(lane1)).Lease, Lane: lane1, Head: true})
		if g := w.proceed("d", inLane(lane1)); g.Head {
			w.t.Error("the lane is over and has a head")
		}
		w.wantRows(0, 0)
	}},
	{name: "a parked row keeps what it was given", needs: lanesNeed, check: func(w *world) {
		w.headOf("a", 1)
		row := retry("b", 2, parked)
		w.settle(store.SettledWritten, store.Settlement{Retry: row, Lane: lane1})
		w.complete(true, store.Completion{Lease: w.proceed("a", inLane(lane1), counts(0, 1, 0)).Lease, Lane: lane1, Head: true})
		want := *row
		want.Lane = lane1
		for _, got := range w.wantDue("s1", "a", "b") {
			if got.Lane != lane1 {
				w.t.Errorf("lane of %s: %+v", got.Key, got.Lane)
			}
			if got.Key == "b" {
				sameRow(w, got, want)
			}
		}
	}},
	{name: "a head that fails again stays the head", needs: lanesNeed, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.publish("a")
		row := retry("a", 1, position(0, 2, 0))
		row.SourceTopic = origin + ".retry." + scope
		w.fail(w.proceed("a", inLane(lane1), counts(0, 1, 0)), lane1, row)
		w.wantRows(1, 1)
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
		w.publish("a")
	}},
	{name: "lanes do not see each other", needs: lanesNeed, check: func(w *world) { // fault 16
		w.headOf("a", 1)
		w.proceed("b", inLane(store.Lane{Topic: origin, BizKey: "order-2"}))
		w.proceed("c", inLane(store.Lane{Topic: "refunds", BizKey: lane1.BizKey}))
		w.proceed("d", inLane(lane1), inScope("payments-2"))
		w.proceed("e")
		w.proceed("f", inLane(store.Lane{Topic: origin}))
		w.claim("PARKED", w.claimOf("g", inLane(lane1)))
	}},
	{name: "only what could run is parked", needs: lanesNeed, check: func(w *world) {
		w.succeed("success", content(print1))
		w.settle(store.SettledWritten, failed(w.proceed("failed"), 0, 2, 0))
		w.proceed("running")
		w.headOf("a", 1)
		w.claim("DUPLICATE", w.claimOf("success", inLane(lane1)))
		w.claim("KEY_REUSED", w.claimOf("success", inLane(lane1), content(print2)))
		w.claim("STALE", w.claimOf("failed", inLane(lane1)))
		w.claim("IN_PROGRESS", w.claimOf("running", inLane(lane1)))
		w.claim("TOO_OLD", w.claimOf("old", inLane(lane1), old))
		w.claim("PARKED", w.claimOf("failed", inLane(lane1), counts(0, 2, 0)))
		w.wantState("failed", "FAILED 1 1")
	}},
	{name: "parking in a lane that is free by now writes nothing", needs: lanesNeed, check: func(w *world) { // decided again under the lock
		w.park(store.SettledUnparked, "b", 2)
		w.headOf("a", 1)
		w.park(store.SettledUnparked, "a", 3)
		w.wantRows(1, 0)
		w.claim("PARKED", w.claimOf("b", inLane(lane1)))
		w.complete(true, store.Completion{Lease: w.proceed("a", inLane(lane1), counts(0, 1, 0)).Lease, Lane: lane1, Head: true})
		w.park(store.SettledUnparked, "b", 2)
		w.wantRows(1, 0)
		w.proceed("b", inLane(lane1))
	}},
	{name: "a message that fails behind another head joins the tail", needs: lanesNeed, check: func(w *world) {
		b := w.proceed("b", inLane(lane1))
		w.headOf("a", 1)
		w.park(store.SettledWritten, "c", 3)
		w.fail(b, lane1, retry("b", 2))
		w.wantState("b", "FAILED 1 1")
		w.wantRows(1, 2)
		w.publish("a")
		for i, key := range []string{"a", "c", "b"} {
			n := int32(1)
			if key == "c" {
				n = 0
			}
			if i > 0 {
				w.publish(key)
			}
			g := w.proceed(key, inLane(lane1), counts(0, n, 0))
			w.complete(true, store.Completion{Lease: g.Lease, Lane: lane1, Head: g.Head})
		}
		w.wantRows(0, 0)
	}},
	{name: "a deferral makes its message the head", needs: lanesNeed, check: func(w *world) {
		w.proceed("a", inLane(lane1))
		w.claim("IN_PROGRESS", w.claimOf("a", inLane(lane1)))
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("a", 2, deferred), Lane: lane1})
		w.claim("PARKED", w.claimOf("b", inLane(lane1)))
	}},
	{name: "a dead letter leaves the lane", needs: []Capability{followUps, retries, deadLetters, Lanes}, check: func(w *world) { // CONS-014
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		x := w.dead(w.proceed("a", inLane(lane1), counts(0, 1, 0)), 0, 1)
		x.Lane = lane1
		w.settle(store.SettledWritten, x)
		w.publish("a", "b")
		if !w.proceed("b", inLane(lane1)).Head {
			w.t.Error("the next message is not the head")
		}
	}},
	{name: "a crash loop leaves the lane", needs: []Capability{followUps, retries, deadLetters, Lanes}, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		g := w.claim("CRASH_LOOP", w.claimOf("a", inLane(lane1), counts(0, 1, 0), attempts(1)))
		x := w.dead(g, 0, 1)
		x.Lane = lane1
		w.settle(store.SettledWritten, x)
		w.publish("a", "b")
	}},
	{name: "a dead letter of another message with the head's key leaves the head", needs: []Capability{followUps, retries, deadLetters, Lanes}, check: func(w *world) {
		w.fail(w.proceed("a", inLane(lane1), content(print1)), lane1, retry("a", 1))
		w.park(store.SettledWritten, "b", 2)
		w.claim("KEY_REUSED", w.claimOf("a", inLane(lane1), content(print2)))
		w.settle(store.SettledWritten, store.Settlement{DeadLetter: deadLetter("a", 5), Lane: lane1})
		w.publish("a")
		w.wantRows(0, 1)
	}},
	{name: "a dead letter of a message that is no head moves nothing", needs: []Capability{followUps, retries, deadLetters, Lanes}, check: func(w *world) {
		b := w.proceed("b", inLane(lane1))
		w.headOf("a", 1)
		w.park(store.SettledWritten, "c", 3)
		x := w.dead(b, 0, 0)
		x.Lane = lane1
		w.settle(store.SettledWritten, x)
		w.publish("a")
		w.wantRows(0, 1)
	}},
	{name: "a hold leaves the lane, and joins the tail when it comes back", needs: lanesNeed, check: func(w *world) { // CONS-014
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.publish("a")
		x := failed(w.proceed("a", inLane(lane1), counts(0, 1, 0)), 0, 1, 1)
		x.Retry, x.Lane, x.Leave, x.GiveBack = retry("a", 7, held, position(0, 1, 1)), lane1, true, true
		w.settle(store.SettledWritten, x)
		w.wantRows(2, 0)
		w.publish("a", "b")
		w.claim("PARKED", w.claimOf("a", inLane(lane1), counts(0, 1, 1)))
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("a", 8, parked, position(0, 1, 1)), Lane: lane1})
		w.complete(true, store.Completion{Lease: w.proceed("b", inLane(lane1)).Lease, Lane: lane1, Head: true})
		w.publish("a")
		if !w.proceed("a", inLane(lane1), counts(0, 1, 1)).Head {
			w.t.Error("it came back and is not the head")
		}
	}},
	{name: "a hold of a message that is no head is not parked", needs: lanesNeed, check: func(w *world) {
		b := w.proceed("b", inLane(lane1))
		w.headOf("a", 1)
		x := failed(b, 0, 0, 1)
		x.Retry, x.Lane, x.Leave = retry("b", 2, held), lane1, true
		w.settle(store.SettledWritten, x)
		w.publish("a", "b")
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
	}},
	{name: "a duplicate that is the head leaves", needs: lanesNeed, check: func(w *world) {
		a := w.proceed("a", inLane(lane1))
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("a", 2, deferred), Lane: lane1})
		w.park(store.SettledWritten, "b", 3)
		w.complete(true, store.Completion{Lease: a.Lease, Lane: lane1, Head: a.Head})
		w.publish("a")
		g := w.claim("DUPLICATE", w.claimOf("a", inLane(lane1)))
		if !g.Head {
			w.t.Fatal("the duplicate does not know that it is the head")
		}
		leave := store.Settlement{Lease: store.Lease{Scope: scope, Key: "a"}, Lane: lane1, Leave: true}
		w.settle(store.SettledWritten, leave)
		w.settle(store.SettledWritten, leave) // another copy of it moves nothing more
		w.wantState("a", "SUCCESS 1 1")
		w.publish("b")
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
	}},
	{name: "a completion that is no head leaves the lane alone", needs: lanesNeed, check: func(w *world) {
		b := w.proceed("b", inLane(lane1))
		w.headOf("a", 1)
		w.park(store.SettledWritten, "c", 3)
		w.complete(true, store.Completion{Lease: b.Lease, Lane: lane1, Head: true})
		w.publish("a")
		w.wantRows(0, 1)
	}},
	{name: "a completion that is fenced out leaves the lane alone", needs: lanesNeed, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 3)
		lost := w.proceed("a", inLane(lane1), counts(0, 1, 0))
		lost.Lease.Owner = "somebody"
		w.complete(false, store.Completion{Lease: lost.Lease, Lane: lane1, Head: true})
		w.wantRows(1, 1)
	}},
	{name: "a message that is parked twice waits once, in its place", needs: lanesNeed, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.park(store.SettledWritten, "c", 3)
		w.park(store.SettledWritten, "b", 2)
		w.wantRows(1, 2)
		w.complete(true, store.Completion{Lease: w.proceed("a", inLane(lane1), counts(0, 1, 0)).Lease, Lane: lane1, Head: true})
		w.publish("a", "b")
		w.wantRows(0, 1)
	}},
	{name: "all rows of the key that becomes the head are let go", needs: lanesNeed, check: func(w *world) { // CONS-014
		b := w.proceed("b", inLane(lane1))
		w.headOf("a", 1)
		// A copy of b is deferred, c parks, and b itself fails: its copy is stale by then, and waits before it.
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("b", 3, deferred), Lane: lane1})
		w.park(store.SettledWritten, "c", 4)
		w.fail(b, lane1, retry("b", 2))
		w.wantRows(1, 3)
		w.complete(true, store.Completion{Lease: w.proceed("a", inLane(lane1), counts(0, 1, 0)).Lease, Lane: lane1, Head: true})
		w.wantRows(3, 1)
		rows := w.due("s1", 10)
		for _, r := range rows {
			w.mark(true, store.MarkOf(&r))
		}
		w.claim("STALE", w.claimOf("b", inLane(lane1)))
		g := w.proceed("b", inLane(lane1), counts(0, 1, 0))
		w.complete(true, store.Completion{Lease: g.Lease, Lane: lane1, Head: g.Head})
		w.publish("c")
		w.wantRows(0, 0)
	}},
	{name: "parked rows are not due", needs: []Capability{followUps, retries, Lanes, MovableClock}, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.publish("a")
		w.advance(100 * time.Hour)
		w.publish()
		if _, there, err := w.retries().NextDue(w.ctx); there || err != nil {
			w.t.Errorf("a parked row falls due: %v, %v", there, err)
		}
		if c := w.counted(); c.OldestDue != 0 || c.Parked != 1 {
			w.t.Errorf("counts: %+v", c)
		}
	}},
	{name: "a sweep lets a lane go whose head is done", needs: lanesNeed, check: func(w *world) { // CONS-015
		a := w.proceed("a", inLane(lane1))
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("a", 2, deferred), Lane: lane1})
		w.park(store.SettledWritten, "b", 3)
		w.publish("a")
		w.sweep(0)
		w.complete(true, store.Completion{Lease: a.Lease}) // it did not know that it had become the head
		w.wantRows(0, 1)
		w.sweep(1)
		w.publish("b")
		w.sweep(0)
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
	}},
	{name: "a sweep lets a lane go whose head is dead", needs: lanesNeed, check: func(w *world) {
		a := w.proceed("a", inLane(lane1))
		w.settle(store.SettledWritten, store.Settlement{Retry: retry("a", 2, deferred), Lane: lane1})
		w.settle(store.SettledWritten, store.Settlement{Lease: a.Lease, State: idem.StateDead})
		w.sweep(1)
		w.proceed("b", inLane(lane1))
		w.sweep(0)
	}},
	{name: "a sweep leaves a lane whose head is still to come", needs: []Capability{followUps, retries, Lanes, MovableClock}, check: func(w *world) {
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.sweep(0)
		w.publish("a")
		w.sweep(0) // its delivery is in the topic
		w.advance(time.Hour)
		a := w.proceed("a", inLane(lane1), counts(0, 1, 0))
		w.sweep(0)
		w.advance(2 * lease)
		w.sweep(0) // its delivery comes again
		w.complete(true, store.Completion{Lease: a.Lease, Lane: lane1, Head: true})
		w.publish("b")
		w.sweep(0) // b has no record yet, and its delivery is in the topic
		w.claim("PARKED", w.claimOf("c", inLane(lane1)))
	}},
	{name: "a sweep lets a lane go whose head has had no delivery for the retention", needs: []Capability{followUps, retries, Lanes, MovableClock}, check: func(w *world) { // CONS-015
		w.headOf("a", 1)
		w.park(store.SettledWritten, "b", 2)
		w.advance(store.DefaultRetention + time.Minute)
		w.sweep(0) // its row is still there
		w.publish("a")
		w.sweep(1)
		w.publish("b")
		w.sweep(0) // b has just become the head
		w.advance(store.DefaultRetention + time.Minute)
		w.sweep(1) // and is lost, without a record
		w.wantRows(0, 0)
		w.proceed("c", inLane(lane1))
	}},
	{name: "a sweep moves at most what it is asked to", needs: lanesNeed, check: func(w *world) {
		for i, biz := range []string{"order-1", "order-2", "order-3"} {
			l := store.Lane{Topic: origin, BizKey: biz}
			g := w.proceed(biz, inLane(l))
			w.settle(store.SettledWritten, store.Settlement{Retry: retry(biz, int64(i), deferred), Lane: l})
			w.complete(true, store.Completion{Lease: g.Lease})
		}
		for _, want := range []int{2, 1, 0} {
			if n, err := w.retries().SweepLanes(w.ctx, 2); n != want || err != nil {
				w.t.Fatalf("swept %d, %v, want %d", n, err, want)
			}
		}
	}},
	{name: "an owner whose reply was lost is not parked behind a head that came since", needs: lanesNeed, check: func(w *world) {
		c := w.claimOf("b", inLane(lane1))
		w.claim("PROCEED", c)
		w.headOf("a", 1)
		w.claim("PROCEED", c)
	}},
}
