package storetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

var rowNeeds = []Capability{followUps, retries}
var timedRows = []Capability{followUps, retries, MovableClock}

var retryBehaviours = []behaviour{
	{name: "a row is claimed when it is due, the oldest first", needs: timedRows, check: func(w *world) {
		w.put(retry("late", 1, due(2*time.Minute)), retry("soon", 2, due(time.Minute)), retry("now", 3))
		w.publish("now")
		w.publish()
		w.advance(time.Minute + 10*time.Second)
		w.publish("soon")
		w.put(retry("new", 4, due(30*time.Second)))
		w.advance(10 * time.Minute)
		if got := fmt.Sprint(keysOf(w.due("s1", 1)), keysOf(w.due("s1", 1))); got != "[new] [late]" {
			w.t.Errorf("got %s, want the oldest first", got)
		}
	}},
	{name: "a scheduler takes at most what it asks for", needs: rowNeeds, check: func(w *world) {
		for n := range int64(5) {
			w.put(retry(fmt.Sprintf("key-%d", n), n))
		}
		seen := make(map[int64]bool)
		for _, want := range []int{2, 2, 1, 0} {
			rows := w.due("s1", 2)
			if len(rows) != want {
				w.t.Fatalf("%d rows, want %d", len(rows), want)
			}
			for _, r := range rows {
				if seen[r.ID] {
					w.t.Errorf("row %d is claimed twice", r.ID)
				}
				seen[r.ID] = true
			}
		}
	}},
	{name: "two schedulers never claim one row", needs: rowNeeds, check: func(w *world) { // fault 15
		w.put(retry("a", 1))
		w.wantDue("s1", "a")
		rows, err := w.Other.(store.Retries).ClaimDue(w.ctx, "s2", 10, lease)
		if err != nil || len(rows) != 0 {
			w.t.Fatalf("got %v, %v", rows, err)
		}
	}},
	{name: "a row is unique by the delivery that caused it", needs: rowNeeds, check: func(w *world) { // DEDUP-027
		w.put(retry("a", 1), retry("a", 1, position(0, 2, 0)))
		w.wantRows(1, 0)
		other := retry("a", 1)
		other.SourcePartition = 4
		topic := retry("a", 1)
		topic.SourceTopic = origin + ".retry." + scope
		in2 := retry("a", 1)
		in2.Scope = "payments-2"
		w.put(retry("a", 2), retry("b", 1), other, topic, in2)
		w.wantRows(6, 0)
	}},
	{name: "a second write raises a row", needs: timedRows, check: func(w *world) {
		w.put(retry("a", 1, position(0, 2, 0), due(time.Hour)))
		raised := retry("a", 1, position(1, 0, 1))
		raised.Payload, raised.Reason = []byte("repaired"), "THROTTLED"
		w.put(raised)
		rows := w.wantDue("s1", "a")
		sameRow(w, rows[0], *raised)
	}},
	{name: "a write that is behind leaves a row as it is", needs: timedRows, check: func(w *world) {
		row := retry("a", 1, position(1, 1, 1), due(time.Minute))
		w.put(row, retry("a", 1, position(1, 1, 0)), retry("a", 1, position(0, 9, 9)))
		w.publish()
		w.advance(2 * time.Minute)
		sameRow(w, w.wantDue("s1", "a")[0], *row)
	}},
	{name: "a write at the same position makes a row due anew", needs: timedRows, check: func(w *world) {
		w.put(retry("a", 1, due(time.Hour)))
		w.put(retry("a", 1))
		w.publish("a")
	}},
	{name: "a mark needs the token", needs: rowNeeds, check: func(w *world) {
		w.put(retry("a", 1))
		m := store.MarkOf(&w.wantDue("s1", "a")[0])
		for _, token := range []string{"s2", ""} {
			wrong := m
			wrong.Token = token
			w.mark(false, wrong)
		}
		w.mark(true, m)
		w.mark(false, m)
		w.wantRows(0, 0)
	}},
	{name: "a mark needs redrive count and position", needs: rowNeeds, check: func(w *world) {
		w.put(retry("a", 1, position(1, 1, 1)))
		m := store.MarkOf(&w.wantDue("s1", "a")[0])
		redriven, moved := m, m
		redriven.RedriveCount, moved.Position = 2, 3
		w.mark(false, redriven)
		w.mark(false, moved)
		w.mark(true, m)
	}},
	{name: "a row that was raised while it was published is published again", needs: rowNeeds, check: func(w *world) { // DEDUP-027
		for name, second := range map[string]*store.Retry{"raised": retry("raised", 1, position(0, 2, 0)), "same": retry("same", 1)} {
			w.put(retry(name, 1))
			first := w.wantDue("s1", name)[0]
			w.put(second)
			w.mark(false, store.MarkOf(&first))
			rows := w.wantDue("s1", name)
			if rows[0].Position() != second.Position() || rows[0].ID != first.ID || rows[0].Publications != 2 {
				w.t.Errorf("row: %+v", rows[0])
			}
			w.mark(true, store.MarkOf(&rows[0]))
		}
	}},
	{name: "a scheduler's claim ends with its lease", needs: timedRows, check: func(w *world) {
		w.put(retry("a", 1))
		first := w.wantDue("s1", "a")[0]
		w.advance(lease / 2)
		w.wantDue("s2")
		w.advance(lease)
		second := w.wantDue("s2", "a")[0]
		if second.Publications != 2 {
			w.t.Errorf("%d publications, want 2", second.Publications)
		}
		w.mark(false, store.MarkOf(&first))
		w.mark(true, store.MarkOf(&second))
	}},
	{name: "a scheduler that was slow marks what nobody took over", needs: timedRows, check: func(w *world) {
		w.put(retry("a", 1))
		first := w.wantDue("s1", "a")[0]
		w.advance(2 * lease)
		w.mark(true, store.MarkOf(&first))
	}},
	{name: "marks are answered one by one", needs: rowNeeds, check: func(w *world) {
		w.put(retry("a", 1), retry("b", 2))
		rows := w.wantDue("s1", "a", "b")
		wrong := store.MarkOf(&rows[0])
		wrong.Position++
		done, err := w.retries().MarkPublished(w.ctx, []store.Mark{wrong, store.MarkOf(&rows[1]), {ID: 999999, Token: "s1"}})
		if err != nil || len(done) != 3 || done[0] || !done[1] || done[2] {
			w.t.Fatalf("got %v, %v", done, err)
		}
		w.wantRows(1, 0)
	}},
	{name: "a row that could not be published is due again later", needs: timedRows, check: func(w *world) { // CONS-021
		w.put(retry("a", 1), retry("b", 2))
		rows := w.wantDue("s1", "a", "b")
		lost := store.MarkOf(&rows[1])
		lost.Token = "s2"
		if err := w.retries().Postpone(w.ctx, []store.Mark{store.MarkOf(&rows[0]), lost}, 10*time.Second); err != nil {
			w.t.Fatal(err)
		}
		w.mark(false, store.MarkOf(&rows[0])) // the claim was given back
		w.wantDue("s2")
		w.advance(12 * time.Second)
		w.wantDue("s2", "a")
		w.advance(lease - 10*time.Second)
		w.wantDue("s3", "b")
	}},
	{name: "the next due time is known", needs: timedRows, check: func(w *world) {
		next := func(want time.Duration, there bool) {
			w.t.Helper()
			got, ok, err := w.retries().NextDue(w.ctx)
			if err != nil || ok != there || !w.nearFor(got, want) || got < 0 {
				w.t.Fatalf("got %v, %v, %v, want %v, %v", got, ok, err, want, there)
			}
		}
		next(0, false)
		w.put(retry("a", 1, due(time.Hour)), retry("b", 2, due(10*time.Minute)))
		next(10*time.Minute, true)
		w.advance(4 * time.Minute)
		next(6*time.Minute, true)
		w.advance(10 * time.Minute)
		next(0, true)
		w.publish("b")
		next(46*time.Minute, true)
	}},
	{name: "held rows wake when their state moves", needs: timedRows, check: func(w *world) { // STATE-012
		other := retry("other", 3, held, due(time.Hour))
		other.BizKey = "order-2"
		elsewhere := retry("elsewhere", 4, held, due(time.Hour))
		elsewhere.Scope = "shipping"
		w.put(retry("a", 1, held, due(time.Hour)), retry("retried", 2, due(time.Hour)), other, elsewhere, retry("b", 5, held, due(2*time.Hour)))
		n, err := w.retries().Wake(w.ctx, scope, lane1.BizKey)
		if err != nil || n != 2 {
			w.t.Fatalf("woke %d, %v, want 2", n, err)
		}
		w.publish("a", "b")
		w.publish()
	}},
	{name: "rows are counted", needs: timedRows, check: func(w *world) {
		if c := w.counted(); c != (store.RetryCounts{}) {
			w.t.Errorf("counts of an empty table: %+v", c)
		}
		w.put(retry("a", 1), retry("b", 2, due(time.Hour)))
		w.advance(10 * time.Minute)
		if c := w.counted(); c.Pending != 2 || c.Parked != 0 || !w.nearFor(c.OldestDue, 10*time.Minute) {
			w.t.Errorf("counts: %+v", c)
		}
		w.publish("a")
		if c := w.counted(); c.Pending != 1 || c.OldestDue != 0 {
			w.t.Errorf("counts: %+v", c)
		}
	}},
	{name: "many schedulers at once publish each row once", needs: []Capability{followUps, retries, Concurrency}, check: func(w *world) {
		const rows = 200
		for n := range int64(rows) {
			w.put(retry(fmt.Sprintf("key-%d", n), n))
		}
		var mu sync.Mutex
		published := make(map[int64]int)
		var wg sync.WaitGroup
		for n := range 8 {
			handle := w.Store
			if n%2 == 1 {
				handle = w.Other
			}
			wg.Go(func() {
				for try := range 1000 {
					claimed, err := handle.(store.Retries).ClaimDue(w.ctx, fmt.Sprintf("s%d-%d", n, try), 7, lease)
					if err != nil {
						w.t.Error(err)
						return
					}
					if len(claimed) == 0 {
						return
					}
					marks := make([]store.Mark, len(claimed))
					for i := range claimed {
						marks[i] = store.MarkOf(&claimed[i])
					}
					mu.Lock()
					for i := range claimed {
						published[claimed[i].ID]++
					}
					mu.Unlock()
					if done, err := handle.(store.Retries).MarkPublished(w.ctx, marks); err != nil || !allTrue(done) {
						w.t.Errorf("marks: %v, %v", done, err)
					}
				}
			})
		}
		wg.Wait()
		for len(published) < rows { // a store that skips locked rows may leave some to the next look
			claimed := w.due("last", 100)
			if len(claimed) == 0 {
				break
			}
			for _, r := range claimed {
				published[r.ID]++
				w.mark(true, store.MarkOf(&r))
			}
		}
		if len(published) != rows {
			w.t.Errorf("%d rows were published, want %d", len(published), rows)
		}
		for id, n := range published {
			if n != 1 {
				w.t.Errorf("row %d was published %d times", id, n)
			}
		}
		w.wantRows(0, 0)
	}},
}

func allTrue(done []bool) bool {
	for _, ok := range done {
		if !ok {
			return false
		}
	}
	return true
}
