package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

func (w *world) stash(messages ...store.Outgoing) {
	w.t.Helper()
	if err := w.outbox().Store(w.ctx, messages); err != nil {
		w.t.Fatalf("store: %v", err)
	}
}

func (w *world) outgoing(token string, limit int) []store.Outgoing {
	w.t.Helper()
	rows, err := w.outbox().ClaimOutgoing(w.ctx, token, limit, lease)
	if err != nil {
		w.t.Fatalf("claim outgoing: %v", err)
	}
	return rows
}

// wantOutgoing claims rows, and they have to have these payloads, those of one biz key in this order. The
// IDs come back in the order of payloads.
func (w *world) wantOutgoing(token string, payloads ...string) []int64 {
	w.t.Helper()
	rows := w.outgoing(token, 100)
	var ids []int64
	last := make(map[string]int) // of each biz key, the place of its last row
	for _, payload := range payloads {
		for i, m := range rows {
			if string(m.Payload) != payload || slices.Contains(ids, m.ID) {
				continue
			}
			if m.MessageKey != nil {
				if i < last[string(m.MessageKey)] {
					w.t.Errorf("%q comes out of the order of its biz key", payload)
				}
				last[string(m.MessageKey)] = i
			}
			ids = append(ids, m.ID)
			break
		}
	}
	if len(ids) != len(payloads) || len(rows) != len(payloads) {
		w.t.Fatalf("outgoing: got %v, want %v", mapped(rows, func(m store.Outgoing) string { return string(m.Payload) }), payloads)
	}
	return ids
}

func (w *world) sent(token string, ids ...int64) {
	w.t.Helper()
	if err := w.outbox().Sent(w.ctx, token, ids); err != nil {
		w.t.Fatalf("sent: %v", err)
	}
}

func (w *world) notSent(token, reason string, due time.Duration, failed bool, ids ...int64) {
	w.t.Helper()
	if err := w.outbox().NotSent(w.ctx, token, ids, reason, due, failed); err != nil {
		w.t.Fatalf("not sent: %v", err)
	}
}

func (w *world) wantOutbox(pending, failed int64) {
	w.t.Helper()
	s, err := w.outbox().OutboxStats(w.ctx)
	if err != nil || s.Pending != pending || s.Failed != failed || s.Oldest.IsZero() != (pending+failed == 0) {
		w.t.Fatalf("outbox: got %+v, %v, want %d pending and %d failed", s, err, pending, failed)
	}
}

// message is one of a biz key, of the topic orders.
func message(bizKey, payload string) store.Outgoing {
	m := store.Outgoing{Topic: origin, Payload: []byte(payload)}
	if bizKey != "" {
		m.MessageKey = []byte(bizKey)
	}
	return m
}

var outboxBehaviours = []behaviour{
	{name: "outgoing messages are claimed in the order of each biz key", needs: []Capability{outbox}, check: func(w *world) {
		w.stash(message("a", "a1"), message("b", "b1"))
		w.stash(message("a", "a2"))
		ids := w.wantOutgoing("r1", "a1", "b1", "a2")
		w.wantOutgoing("r2")
		w.sent("r1", ids...)
		w.wantOutbox(0, 0)
	}},
	{name: "a relay takes at most what it asks for, and no other one goes past it", needs: []Capability{outbox}, check: func(w *world) {
		w.stash(message("a", "a1"), message("a", "a2"), message("a", "a3"), message("b", "b1"))
		first := w.outgoing("r1", 2)
		if len(first) != 2 || string(first[0].Payload) != "a1" || string(first[1].Payload) != "a2" {
			w.t.Fatalf("got %+v", first)
		}
		w.wantOutgoing("r2", "b1") // a3 is behind what r1 has claimed
		w.sent("r1", first[0].ID)
		w.wantOutgoing("r2")
		w.sent("r1", first[1].ID)
		w.wantOutgoing("r2", "a3")
	}},
	{name: "a message that could not be sent holds back its own key alone", needs: []Capability{outbox, MovableClock}, check: func(w *world) { // CONS-023
		w.stash(message("a", "a1"), message("a", "a2"), message("b", "b1"))
		ids := w.wantOutgoing("r1", "a1", "a2", "b1")
		w.notSent("r1", "no leader", 10*time.Second, false, ids[0])
		w.notSent("r1", "", 0, false, ids[1]) // it was not tried
		w.sent("r1", ids[2])
		w.stash(message("b", "b2"))
		w.wantOutgoing("r1", "b2")
		w.advance(12 * time.Second)
		rows := w.outgoing("r1", 100) // both of one biz key
		if len(rows) != 2 || rows[0].Attempts != 1 || rows[0].LastError != "no leader" || rows[1].Attempts != 0 || rows[1].LastError != "" {
			w.t.Fatalf("rows: %+v", rows)
		}
	}},
	{name: "a message that failed holds back its own key until it is tried again", needs: []Capability{outbox, MovableClock}, check: func(w *world) {
		w.stash(message("a", "a1"), message("a", "a2"), message("b", "b1"))
		ids := w.wantOutgoing("r1", "a1", "a2", "b1")
		w.notSent("r1", "too large", 0, true, ids[0])
		w.notSent("r1", "", 0, false, ids[1])
		w.sent("r1", ids[2])
		w.wantOutbox(1, 1)
		w.stash(message("a", "a3"))
		w.advance(time.Hour)
		w.wantOutgoing("r1")
		for _, want := range []int{1, 0} {
			if n, err := w.outbox().RetryFailed(w.ctx, 10); n != want || err != nil {
				w.t.Fatalf("tried again %d, %v, want %d", n, err, want)
			}
		}
		w.wantOutbox(3, 0)
		w.wantOutgoing("r1", "a1", "a2", "a3")
		w.notSent("r1", "too large", 0, false, ids[0])
		if m := w.outgoing("r1", 1)[0]; m.Attempts != 1 { // they are counted from 0 again
			w.t.Errorf("%d attempts, want 1", m.Attempts)
		}
	}},
	{name: "a relay's claim ends with its lease", needs: []Capability{outbox, MovableClock}, check: func(w *world) {
		w.stash(message("a", "a1"))
		ids := w.wantOutgoing("r1", "a1")
		w.advance(lease / 2)
		w.wantOutgoing("r2")
		w.advance(lease)
		w.wantOutgoing("r2", "a1")
		w.sent("r1", ids...) // too late: it is r2's
		w.wantOutbox(1, 0)
		w.notSent("r1", "late", 0, true, ids...)
		w.wantOutbox(1, 0)
		w.sent("r2", ids...)
		w.wantOutbox(0, 0)
	}},
	{name: "the same biz key in two topics is two keys", needs: []Capability{outbox}, check: func(w *world) { // fault 16
		refund := message("a", "refund")
		refund.Topic = "refunds"
		w.stash(message("a", "a1"), refund)
		ids := w.wantOutgoing("r1", "a1", "refund")
		w.notSent("r1", "no leader", time.Hour, true, ids[0])
		w.notSent("r1", "", 0, false, ids[1])
		w.wantOutgoing("r1", "refund")
	}},
	{name: "messages without a biz key are in no order", needs: []Capability{outbox}, check: func(w *world) {
		w.stash(message("", "1"), message("", "2"))
		ids := w.wantOutgoing("r1", "1", "2")
		w.notSent("r1", "no leader", time.Hour, true, ids[0])
		w.notSent("r1", "", 0, false, ids[1])
		w.wantOutgoing("r1", "2")
	}},
	{name: "biz keys with rows are known", needs: []Capability{outbox}, check: func(w *world) {
		w.stash(message("a", "a1"), message("A", "A1"), message("", "1"), store.Outgoing{Topic: "refunds", MessageKey: []byte("r")}, store.Outgoing{Topic: origin, MessageKey: []byte{0xff, 0}})
		stored, err := w.outbox().Stored(w.ctx, origin, [][]byte{[]byte("a"), []byte("b"), nil, []byte("r"), []byte("A"), {0xff, 0}, {0xff}})
		if want := "[true false false false true true false]"; err != nil || fmt.Sprint(stored) != want {
			w.t.Fatalf("got %v, %v, want %s", stored, err, want)
		}
		ids := w.wantOutgoing("r1", "a1", "A1", "1", "", "")
		w.notSent("r1", "no", 0, true, ids[0])
		w.sent("r1", ids[1])
		stored, err = w.outbox().Stored(w.ctx, origin, [][]byte{[]byte("a"), []byte("A")})
		if err != nil || fmt.Sprint(stored) != "[true false]" {
			w.t.Errorf("got %v, %v: a failed row counts, one that was sent does not", stored, err)
		}
	}},
	{name: "the oldest outgoing message is known", needs: []Capability{outbox, MovableClock}, check: func(w *world) {
		w.stash(message("a", "a1"))
		w.advance(time.Hour)
		w.stash(message("a", "a2"))
		s, err := w.outbox().OutboxStats(w.ctx)
		if err != nil || !w.near(s.Oldest, w.now().Add(-time.Hour)) {
			w.t.Errorf("got %+v, %v", s, err)
		}
	}},
}
