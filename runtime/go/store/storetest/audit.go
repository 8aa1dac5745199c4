package storetest

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// CONS-040, CONS-042
var auditBehaviours = []behaviour{
	{"counts are added up by the hour of the store's clock", []Capability{audit, MovableClock}, func(w *world) {
		first := w.hour()
		w.count(counted("payment", "OK", 7), counted("payment", "DUPLICATE", 2), counted("refund", "OK", 1))
		w.count(counted("payment", "OK", 3), counted("payment", "OK", 1), counted("", "MALFORMED", 1))
		w.count()
		w.advance(time.Hour)
		w.count(counted("payment", "OK", 100))
		w.wantCounts(store.CountFilter{By: time.Hour, ByScope: true, ByEventType: true, Since: first},
			in(first, counted("", "MALFORMED", 1)), in(first, counted("payment", "DUPLICATE", 2)), in(first, counted("payment", "OK", 11)),
			in(first, counted("refund", "OK", 1)), in(first.Add(time.Hour), counted("payment", "OK", 100)))
	}},
	{"what is not told apart is added up", []Capability{audit, MovableClock}, func(w *world) {
		first := w.hour()
		other := counted("payment", "OK", 5)
		other.Scope = "mail"
		w.count(counted("payment", "OK", 1), counted("refund", "OK", 2), counted("refund", "DUPLICATE", 3), other)
		w.advance(time.Hour)
		w.count(counted("refund", "OK", 10))
		all := func(c store.Count) store.Count { c.Scope, c.EventType = "", ""; return c }
		w.wantCounts(store.CountFilter{}, all(counted("", "DUPLICATE", 3)), all(counted("", "OK", 18)))
		w.wantCounts(store.CountFilter{Scope: "mail"}, all(counted("", "OK", 5)))
		w.wantCounts(store.CountFilter{Until: first.Add(time.Hour), ByScope: true},
			store.Count{Scope: "mail", Outcome: "OK", Action: "ACK", Layer: "store", N: 5}, counted("", "DUPLICATE", 3), counted("", "OK", 3))
		w.wantCounts(store.CountFilter{Since: first.Add(time.Hour + time.Minute)}, all(counted("", "OK", 10)))
		w.wantCounts(store.CountFilter{Since: first.Add(2 * time.Hour)})
		since := first.Add(-time.Hour)
		w.wantCounts(store.CountFilter{Since: since, By: 2 * time.Hour}, in(since, all(counted("", "DUPLICATE", 3))), in(since, all(counted("", "OK", 8))),
			in(since.Add(2*time.Hour), all(counted("", "OK", 10))))
	}},
	{"hours are removed after their retention, some at a time", []Capability{audit, MovableClock}, func(w *world) {
		w.count(counted("a", "OK", 1), counted("b", "OK", 1), counted("c", "OK", 1))
		w.advance(store.AuditRetention - time.Hour)
		w.count(counted("a", "OK", 1))
		w.cleanCounts(0)
		w.advance(2 * time.Hour)
		w.cleanCounts(2)
		w.cleanCounts(1)
		w.cleanCounts(0)
		w.wantCounts(store.CountFilter{ByScope: true, ByEventType: true}, counted("a", "OK", 1))
	}},
	{"processes count at a time, in any order", []Capability{audit, Concurrency}, func(w *world) {
		var together sync.WaitGroup
		for worker := range 8 {
			together.Go(func() {
				for i := range 20 {
					batch := make([]store.Count, 20)
					for j := range batch { // each in another order
						batch[j] = counted(fmt.Sprint("type-", (j*7+worker*3+i)%20), "OK", 1)
					}
					if err := w.Store.(store.Audit).Count(w.ctx, batch); err != nil {
						w.t.Errorf("count: %v", err)
					}
				}
			})
		}
		together.Wait()
		w.wantCounts(store.CountFilter{ByScope: true}, counted("", "OK", 8*20*20))
	}},
}

func counted(eventType, outcome string, n int64) store.Count {
	return store.Count{Scope: scope, EventType: eventType, Outcome: outcome, Action: "ACK", Layer: "store", N: n}
}

func in(hour time.Time, c store.Count) store.Count {
	c.Hour = hour
	return c
}

// hour is the store's present one.
func (w *world) hour() time.Time { return store.Hour(w.now()) }

func (w *world) count(counts ...store.Count) {
	w.t.Helper()
	if err := w.Store.(store.Audit).Count(w.ctx, counts); err != nil {
		w.t.Fatalf("count: %v", err)
	}
}

func (w *world) cleanCounts(want int) {
	w.t.Helper()
	if n, err := w.Store.(store.Audit).CleanCounts(w.ctx, 2); n != want || err != nil {
		w.t.Fatalf("clean counts: %d, %v, want %d", n, err, want)
	}
}

func (w *world) wantCounts(f store.CountFilter, want ...store.Count) {
	w.t.Helper()
	got, err := w.Other.(store.Audit).Counts(w.ctx, f)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		w.t.Fatalf("counts: got %+v, %v\nwant %+v", got, err, want)
	}
}
