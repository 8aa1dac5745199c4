package storetest

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

var deadNeeds = []Capability{followUps, deadLetters}

func (w *world) wantLetters(f store.DeadLetterFilter, keys ...string) []store.DeadLetter {
	w.t.Helper()
	found := w.letters(f)
	if got := mapped(found, func(d store.DeadLetter) string { return d.Key }); fmt.Sprint(got) != fmt.Sprint(keys) {
		w.t.Fatalf("dead letters: got %v, want %v", got, keys)
	}
	return found
}

func (w *world) redrive(want bool, id int64, row *store.Retry) {
	w.t.Helper()
	done, err := w.deadLetters().Redrive(w.ctx, []int64{id}, []store.Retry{*row})
	if err != nil || len(done) != 1 || done[0] != want {
		w.t.Fatalf("redrive: %v, %v, want %v", done, err, want)
	}
}

func redriven(r *store.Retry) {
	r.Action, r.RedriveCount, r.RetryCount, r.HoldCount = idem.ActionRedrive, 1, 0, 0
}

var deadLetterBehaviours = []behaviour{
	{name: "a death and its letter are written together", needs: deadNeeds, check: func(w *world) { // DEDUP-021
		x := store.Settlement{Lease: w.proceed("a").Lease, State: idem.StateDead, RetryCount: 5, DeadLetter: deadLetter("a", 1)}
		w.settle(store.SettledWritten, x)
		w.wantState("a", "DEAD 1 1")
		w.wantLetters(store.DeadLetterFilter{}, "a")
	}},
	{name: "a dead letter is unique by the delivery that ended", needs: deadNeeds, check: func(w *world) {
		w.bury(deadLetter("a", 1), deadLetter("a", 1), deadLetter("b", 2))
		other := deadLetter("a", 1)
		other.SourcePartition = 9
		in2 := deadLetter("a", 1)
		in2.Scope = "payments-2"
		topic := deadLetter("a", 1)
		topic.SourceTopic = "refunds"
		w.bury(other, in2, topic)
		w.wantLetters(store.DeadLetterFilter{}, "a", "b", "a", "a", "a")
	}},
	{name: "a topic that was made anew, and counts from 0 again, loses no dead letter", needs: deadNeeds, check: func(w *world) {
		again := deadLetter("b", 1)
		nameless, other := deadLetter("", 2), deadLetter("", 2)
		other.Payload = []byte("another")
		void := deadLetter("", 2)
		void.Payload = []byte{}
		w.bury(deadLetter("a", 1), again, nameless, other, void)
		w.bury(deadLetter("a", 1), again, nameless, other, void)
		w.wantLetters(store.DeadLetterFilter{}, "a", "b", "", "", "")
	}},
	{name: "dead letters are listed page by page", needs: deadNeeds, check: func(w *world) {
		for n := range int64(5) {
			w.bury(deadLetter(fmt.Sprintf("key-%d", n), n))
		}
		after := int64(0)
		for _, want := range []string{"[key-0 key-1]", "[key-2 key-3]", "[key-4]", "[]"} {
			page, err := w.deadLetters().ListDeadLetters(w.ctx, store.DeadLetterFilter{}, after, 2)
			if err != nil {
				w.t.Fatal(err)
			}
			if got := fmt.Sprint(mapped(page, func(d store.DeadLetter) string { return d.Key })); got != want {
				w.t.Fatalf("got %s, want %s", got, want)
			}
			if len(page) > 0 {
				after = page[len(page)-1].ID
			}
		}
	}},
	{name: "dead letters are filtered", needs: []Capability{followUps, deadLetters, MovableClock}, check: func(w *world) {
		start := w.now()
		w.bury(deadLetter("a", 1))
		w.advance(time.Hour)
		b := deadLetter("b", 2)
		b.EventType, b.Outcome, b.Reason = "refund", idem.OutcomeCrashLoop, "CRASH_LOOP"
		w.bury(b)
		w.advance(time.Hour)
		c := deadLetter("c", 3)
		c.Scope, c.Reason = "shipping", "CARD_%_\\: odd"
		w.bury(c)
		if w.OwnClock && w.Advance != nil { // such a store has moved the past back instead
			start = start.Add(-2 * time.Hour)
		}
		for _, f := range []struct {
			name   string
			filter store.DeadLetterFilter
			want   []string
		}{
			{"none", store.DeadLetterFilter{}, []string{"a", "b", "c"}},
			{"scope", store.DeadLetterFilter{Scope: scope}, []string{"a", "b"}},
			{"key", store.DeadLetterFilter{Key: "b"}, []string{"b"}},
			{"no such key", store.DeadLetterFilter{Key: "B"}, nil},
			{"event type", store.DeadLetterFilter{EventType: "payment"}, []string{"a", "c"}},
			{"outcome", store.DeadLetterFilter{Outcome: "CRASH_LOOP"}, []string{"b"}},
			{"reason", store.DeadLetterFilter{ReasonPrefix: "CARD_"}, []string{"a", "c"}},
			{"reason with wildcards", store.DeadLetterFilter{ReasonPrefix: "CARD_%_\\"}, []string{"c"}},
			{"reason in the middle", store.DeadLetterFilter{ReasonPrefix: "EXPIRED"}, nil},
			{"since", store.DeadLetterFilter{Since: start.Add(30 * time.Minute)}, []string{"b", "c"}},
			{"until", store.DeadLetterFilter{Until: start.Add(90 * time.Minute)}, []string{"a", "b"}},
			{"between", store.DeadLetterFilter{Since: start.Add(30 * time.Minute), Until: start.Add(90 * time.Minute)}, []string{"b"}},
			{"all of it", store.DeadLetterFilter{Scope: scope, EventType: "refund", ReasonPrefix: "CRASH", Outcome: "CRASH_LOOP", Key: "b"}, []string{"b"}},
		} {
			w.t.Log(f.name)
			w.wantLetters(f.filter, f.want...)
		}
	}},
	{name: "a redrive writes its delivery and marks the letter", needs: []Capability{followUps, deadLetters, retries}, check: func(w *world) { // CONS-022
		w.settle(store.SettledWritten, store.Settlement{Lease: w.proceed("a").Lease, State: idem.StateDead, RetryCount: 5, DeadLetter: deadLetter("a", 1)})
		id := w.wantLetters(store.DeadLetterFilter{}, "a")[0].ID
		row := retry("a", 1, redriven)
		w.redrive(true, id, row)
		w.redrive(false, id, row)
		w.wantLetters(store.DeadLetterFilter{})
		if d := w.wantLetters(store.DeadLetterFilter{Redriven: true}, "a")[0]; !w.near(d.RedrivenAt, w.now()) {
			w.t.Errorf("redriven at %v, now %v", d.RedrivenAt, w.now())
		}
		w.wantRows(1, 0)
		got := w.wantDue("s1", "a")[0]
		sameRow(w, got, *row)
		w.mark(true, store.MarkOf(&got))
		w.claim("STALE", w.claimOf("a"))
		w.proceed("a", counts(1, 0, 0))
	}},
	{name: "redrives are answered one by one", needs: []Capability{followUps, deadLetters, retries}, check: func(w *world) {
		w.bury(deadLetter("a", 1), deadLetter("b", 2), deadLetter("c", 3))
		found := w.letters(store.DeadLetterFilter{})
		if n, err := w.deadLetters().DropDeadLetters(w.ctx, []int64{found[1].ID, 999999}); n != 1 || err != nil {
			w.t.Fatalf("dropped %d, %v, want 1", n, err)
		}
		done, err := w.deadLetters().Redrive(w.ctx, []int64{found[2].ID, found[1].ID, found[0].ID},
			[]store.Retry{*retry("c", 3, redriven), *retry("b", 2, redriven), *retry("a", 1, redriven)})
		if err != nil || len(done) != 3 || !done[0] || done[1] || !done[2] {
			w.t.Fatalf("got %v, %v", done, err)
		}
		w.wantRows(2, 0)
	}},
	{name: "a delivery that ends again after its redrive has a dead letter again", needs: []Capability{followUps, deadLetters, retries}, check: func(w *world) {
		w.bury(deadLetter("a", 1))
		w.redrive(true, w.wantLetters(store.DeadLetterFilter{}, "a")[0].ID, retry("a", 1, redriven))
		again := deadLetter("a", 1)
		again.RedriveCount, again.Reason = 1, "SECOND"
		w.bury(again)
		if d := w.wantLetters(store.DeadLetterFilter{}, "a")[0]; d.Reason != "SECOND" || d.RedriveCount != 1 {
			w.t.Errorf("dead letter: %+v", d)
		}
	}},
	{name: "dead letters that are dropped are gone", needs: deadNeeds, check: func(w *world) {
		w.bury(deadLetter("a", 1), deadLetter("b", 2))
		id := w.letters(store.DeadLetterFilter{Key: "a"})[0].ID
		for _, want := range []int{1, 0} {
			if n, err := w.deadLetters().DropDeadLetters(w.ctx, []int64{id}); n != want || err != nil {
				w.t.Fatalf("dropped %d, %v, want %d", n, err, want)
			}
		}
		w.wantLetters(store.DeadLetterFilter{Redriven: true}, "b")
		w.bury(deadLetter("a", 1))
		w.wantLetters(store.DeadLetterFilter{Key: "a"}, "a")
	}},
	{name: "dead letters that wait are counted", needs: []Capability{followUps, deadLetters, retries, MovableClock}, check: func(w *world) {
		w.bury(deadLetter("a", 1))
		w.advance(time.Hour)
		refund := deadLetter("b", 2)
		refund.EventType = "refund"
		w.bury(deadLetter("c", 3), refund, deadLetter("d", 4))
		w.redrive(true, w.letters(store.DeadLetterFilter{Key: "d"})[0].ID, retry("d", 4, redriven))
		stats, err := w.deadLetters().DeadLetterStats(w.ctx)
		if err != nil || len(stats) != 2 {
			w.t.Fatalf("got %+v, %v", stats, err)
		}
		for _, s := range stats {
			want, oldest := int64(2), w.now().Add(-time.Hour)
			if s.EventType == "refund" {
				want, oldest = 1, w.now()
			}
			if s.Scope != scope || s.Count != want || !w.near(s.Oldest, oldest) {
				w.t.Errorf("got %+v, want %d since %v", s, want, oldest)
			}
		}
	}},
}
