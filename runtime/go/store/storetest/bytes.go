package storetest

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// allBytes is every byte once, and then some that are no UTF-8 together.
func allBytes() []byte {
	b := make([]byte, 0, 260)
	for c := range 256 {
		b = append(b, byte(c))
	}
	return append(b, "\xf0\x9f\x98"...)
}

// oddKeys are keys that a careless store takes for each other, or cannot keep.
var oddKeys = []string{
	"payment:1", "PAYMENT:1", "Payment:1", "payment:1~", "payment:1.", "payment:01", "payment:1'", "payment:1\"", "payment:1\\", "payment:1%",
	"payment:1_", "payment:1{", "payment:1}", "{payment}:1", "{}payment:1", "payment:1*", "payment:1?", "payment:1[a]", "payment:1,", "payment:1;--", "payment:1$1",
	strings.Repeat("k", 1024), strings.Repeat("k", 1023), strings.Repeat("k", 1023) + "l",
}

var byteBehaviours = []behaviour{
	{name: "keys are compared as whole byte strings", check: func(w *world) { // KEY-021
		var claims []store.Claim
		for _, key := range oddKeys {
			claims = append(claims, w.claimOf(key))
		}
		for i, g := range w.claimAll(claims...) {
			if kind(g) != "PROCEED" || g.Fence != 1 {
				w.t.Fatalf("%q: %s under fence %d", oddKeys[i], kind(g), g.Fence)
			}
			w.complete(true, store.Completion{Lease: g.Lease, Result: []byte(oddKeys[i])})
		}
		for _, key := range oddKeys {
			if g := w.claim("DUPLICATE", w.claimOf(key)); string(g.Result) != key {
				w.t.Errorf("%q has the result of %q", key, g.Result)
			}
			if r := w.record(key); r == nil || r.Key != key {
				w.t.Errorf("record of %q: %+v", key, r)
			}
		}
	}},
	{name: "a scope of 200 characters is kept", check: func(w *world) { // DEDUP-010
		long := strings.Repeat("s", 199)
		for _, name := range []string{long + "a", long + "b", "a.b-c_D"} {
			w.succeed("a", inScope(name))
			w.claim("DUPLICATE", w.claimOf("a", inScope(name)))
		}
	}},
	{name: "results are kept as the bytes that they are", check: func(w *world) {
		for key, result := range map[string][]byte{"binary": allBytes(), "empty": {}, "none": nil, "zero": {0}} {
			w.complete(true, store.Completion{Lease: w.proceed(key).Lease, Result: result})
			if g := w.claim("DUPLICATE", w.claimOf(key)); !bytes.Equal(g.Result, result) {
				w.t.Errorf("%s: got %q, want %q", key, g.Result, result)
			}
		}
	}},
	{name: "a result has at most 64 KiB", needs: []Capability{LongResults}, check: func(w *world) { // DEDUP-010
		g := w.proceed("a")
		long := bytes.Repeat([]byte{0xff}, store.MaxResult+1)
		if _, err := w.Store.Complete(w.ctx, []store.Completion{{Lease: g.Lease, Result: long}}); err == nil {
			w.t.Fatal("one byte more is no error")
		}
		w.wantState("a", "PROCESSING 1 1")
		w.complete(true, store.Completion{Lease: g.Lease, Result: long[1:]})
		if d := w.claim("DUPLICATE", w.claimOf("a")); !bytes.Equal(d.Result, long[1:]) {
			w.t.Errorf("got %d bytes", len(d.Result))
		}
	}},
	{name: "a delivery to come is kept as the bytes that it is", needs: []Capability{followUps, retries}, check: func(w *world) { // CONS-030, CONS-031
		full := retry("full", 1, position(2, 3, 4))
		full.MessageKey, full.Payload, full.Headers = allBytes(), allBytes(), oddHeaders()
		full.BizKey, full.EventID, full.Reason = "order:Ä\"\\", "event 'ü'", "CODE: détail\twith \"quotes\""
		null := retry("null", 2)
		null.MessageKey, null.Payload, null.Headers = nil, nil, nil
		empty := retry("empty", 3)
		empty.MessageKey, empty.Payload, empty.Headers = []byte{}, []byte{}, idem.Headers{}
		none := &store.Retry{Scope: scope, SourceTopic: origin, SourceOffset: 4, Topic: origin + ".retry." + scope, Action: idem.ActionRetry}
		rows := []*store.Retry{full, null, empty, none}
		w.put(rows...)
		for i, got := range w.wantDue("s1", "full", "null", "empty", "") {
			sameRow(w, got, *rows[i])
			if got.Token != "s1" || got.Status != store.RetryPending || got.ID == 0 || got.Publications != 1 {
				w.t.Errorf("row: %+v", got)
			}
			if !w.near(got.CreatedAt, w.now()) || !w.near(got.NextRetryTime, w.now()) {
				w.t.Errorf("created %v, due %v, now %v", got.CreatedAt, got.NextRetryTime, w.now())
			}
		}
	}},
	{name: "a dead letter is kept as the bytes that it is", needs: []Capability{followUps, deadLetters}, check: func(w *world) {
		full := deadLetter("full", 1)
		full.MessageKey, full.Payload, full.Headers = allBytes(), allBytes(), oddHeaders()
		full.RedriveCount, full.RetryCount, full.HoldCount, full.Outcome = 1, 2, 3, idem.OutcomeCrashLoop
		null := deadLetter("null", 2)
		null.MessageKey, null.Payload, null.Headers = nil, nil, nil
		empty := deadLetter("empty", 3)
		empty.MessageKey, empty.Payload = []byte{}, []byte{}
		none := &store.DeadLetter{Scope: scope, SourceTopic: origin, SourceOffset: 4, Outcome: idem.OutcomeMalformed, Topic: origin, Payload: []byte{0xff}}
		letters := []*store.DeadLetter{full, null, empty, none}
		w.bury(letters...)
		found := w.letters(store.DeadLetterFilter{})
		if len(found) != 4 {
			w.t.Fatalf("%d dead letters, want 4", len(found))
		}
		for i, got := range found {
			want := *letters[i]
			sameBytes(w, "message key", got.MessageKey, want.MessageKey)
			sameBytes(w, "payload", got.Payload, want.Payload)
			sameHeaders(w, got.Headers, want.Headers)
			if got.ID == 0 || !w.near(got.CreatedAt, w.now()) || !got.RedrivenAt.IsZero() {
				w.t.Errorf("dead letter: %+v", got)
			}
			want.ID, want.CreatedAt, want.RedrivenAt = got.ID, got.CreatedAt, got.RedrivenAt
			got.MessageKey, got.Payload, got.Headers = want.MessageKey, want.Payload, want.Headers
			if !reflect.DeepEqual(got, want) {
				w.t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}},
	{name: "an outgoing message is kept as the bytes that it is", needs: []Capability{outbox}, check: func(w *world) {
		messages := []store.Outgoing{
			{Topic: origin, MessageKey: allBytes(), Headers: oddHeaders(), Payload: allBytes()},
			{Topic: origin},
			{Topic: origin, MessageKey: []byte{}, Payload: []byte{}},
		}
		w.stash(messages...)
		rows := w.outgoing("r1", 10)
		if len(rows) != 3 {
			w.t.Fatalf("%d rows, want 3", len(rows))
		}
		for i, got := range rows {
			sameBytes(w, "message key", got.MessageKey, messages[i].MessageKey)
			sameBytes(w, "payload", got.Payload, messages[i].Payload)
			sameHeaders(w, got.Headers, messages[i].Headers)
			if got.Topic != origin || got.Token != "r1" || got.ID == 0 || got.Attempts != 0 || got.Failed || !w.near(got.CreatedAt, w.now()) {
				w.t.Errorf("row: %+v", got)
			}
		}
	}},
}

func oddHeaders() idem.Headers {
	return idem.Headers{
		{Name: "idempotency_key", Value: []byte("k")},
		{Name: "null", Value: nil},
		{Name: "empty", Value: []byte{}},
		{Name: "binary", Value: allBytes()},
		{Name: "zero", Value: []byte("a\x00b")},
		{Name: "text", Value: []byte("<Ünï \"quoted\" \\ \u2028 &>")},
		{Name: "twice", Value: []byte("1")},
		{Name: "twice", Value: []byte("2")},
		{Name: "no\xffname", Value: []byte("v")},
		{Name: "", Value: []byte("v")},
	}
}

// sameRow compares what the writer of a row gave.
func sameRow(w *world, got, want store.Retry) {
	w.t.Helper()
	sameBytes(w, "message key", got.MessageKey, want.MessageKey)
	sameBytes(w, "payload", got.Payload, want.Payload)
	sameHeaders(w, got.Headers, want.Headers)
	for _, r := range []*store.Retry{&got, &want} {
		r.MessageKey, r.Payload, r.Headers = nil, nil, nil
		r.ID, r.Token, r.Status, r.Publications, r.Due, r.Park = 0, "", "", 0, 0, false
		r.CreatedAt, r.NextRetryTime = want.CreatedAt, want.NextRetryTime
	}
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("row: got %+v, want %+v", got, want)
	}
}

func sameBytes(w *world, what string, got, want []byte) {
	w.t.Helper()
	if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		w.t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func sameHeaders(w *world, got, want idem.Headers) {
	w.t.Helper()
	if len(got) != len(want) {
		w.t.Errorf("headers: got %v, want %v", got, want)
		return
	}
	for i := range want {
		if got[i].Name != want[i].Name {
			w.t.Errorf("header %d: got the name %q, want %q", i, got[i].Name, want[i].Name)
		}
		sameBytes(w, "header "+want[i].Name, got[i].Value, want[i].Value)
	}
}
