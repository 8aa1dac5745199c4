package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

const (
	scope       = "payments"
	lease       = time.Minute
	maxAttempts = 9 // of max_retry 5
	print1      = "00000001-0000000000000001"
	print2      = "00000001-0000000000000002"
	otherPrint  = "00000002-0000000000000002" // of another template
	origin      = "orders"
)

var lane1 = store.Lane{Topic: origin, BizKey: "order-1"}

// world is a store in a test, with words for what tests do with it. All of them end the test at an error.
type world struct {
	Subject
	t     *testing.T
	ctx   context.Context
	clock *Clock
	n     int
}

func (w *world) retries() store.Retries         { return w.Store.(store.Retries) }
func (w *world) deadLetters() store.DeadLetters { return w.Store.(store.DeadLetters) }
func (w *world) outbox() store.Outbox           { return w.Store.(store.Outbox) }

// advance moves the store's clock.
func (w *world) advance(d time.Duration) {
	if w.Advance != nil {
		w.Advance(d)
		return
	}
	w.clock.Advance(d)
}

// now is the store's present.
func (w *world) now() time.Time {
	if w.OwnClock {
		return time.Now()
	}
	return w.clock.Now()
}

// near says whether a time of the store is the one expected, to the millisecond, or as well as can be
// said of a clock of its own.
func (w *world) near(got, want time.Time) bool {
	off := time.Millisecond
	if w.OwnClock {
		off = 2 * time.Second
	}
	return got.Sub(want).Abs() <= off
}

func (w *world) nearFor(got, want time.Duration) bool {
	return w.near(time.Time{}.Add(got), time.Time{}.Add(want))
}

// owner is another token each time.
func (w *world) owner() string {
	w.n++
	return fmt.Sprintf("owner-%d", w.n)
}

// claimOf is a claim by a new owner.
func (w *world) claimOf(key string, change ...func(*store.Claim)) store.Claim {
	c := store.Claim{Scope: scope, Key: key, Owner: w.owner(), MaxAttempts: maxAttempts, Lease: lease}
	for _, f := range change {
		f(&c)
	}
	return c
}

func counts(redrive, retry, hold int32) func(*store.Claim) {
	return func(c *store.Claim) { c.RedriveCount, c.RetryCount, c.HoldCount = redrive, retry, hold }
}

func content(p string) func(*store.Claim)     { return func(c *store.Claim) { c.Fingerprint = p } }
func previous(key string) func(*store.Claim)  { return func(c *store.Claim) { c.Previous = key } }
func inLane(l store.Lane) func(*store.Claim)  { return func(c *store.Claim) { c.Lane = l } }
func by(owner string) func(*store.Claim)      { return func(c *store.Claim) { c.Owner = owner } }
func inScope(name string) func(*store.Claim)  { return func(c *store.Claim) { c.Scope = name } }
func attempts(most int64) func(*store.Claim)  { return func(c *store.Claim) { c.MaxAttempts = most } }
func old(c *store.Claim)                      { c.Old = true }
func kinds(grants []store.Grant) (k []string) { return mapped(grants, kind) }

func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}

// kind is the name of what a grant says.
func kind(g store.Grant) string {
	switch {
	case g.TooOld && g.Kind == 0 && !g.Parked:
		return "TOO_OLD"
	case g.Parked && g.Kind == 0 && !g.TooOld:
		return "PARKED"
	}
	return g.Kind.String()
}

func (w *world) claimAll(claims ...store.Claim) []store.Grant {
	w.t.Helper()
	grants, err := w.Store.Claim(w.ctx, claims)
	if err != nil {
		w.t.Fatalf("claim: %v", err)
	}
	if len(grants) != len(claims) {
		w.t.Fatalf("%d claims got %d answers", len(claims), len(grants))
	}
	return grants
}

// claim claims one, and the answer has to be want.
func (w *world) claim(want string, c store.Claim) store.Grant {
	w.t.Helper()
	g := w.claimAll(c)[0]
	if got := kind(g); got != want {
		w.t.Fatalf("claim of %q: got %s, want %s (%+v)", c.Key, got, want, g)
	}
	return g
}

// proceed claims a key that may run.
func (w *world) proceed(key string, change ...func(*store.Claim)) store.Grant {
	w.t.Helper()
	return w.claim("PROCEED", w.claimOf(key, change...))
}

func (w *world) record(key string) *store.Record {
	w.t.Helper()
	records, err := w.Other.Records(w.ctx, scope, []string{key})
	if err != nil || len(records) != 1 {
		w.t.Fatalf("records: %d, %v", len(records), err)
	}
	return records[0]
}

// state is a record's state, its fence and attempts, "FAILED 1 1", or "none".
func (w *world) state(key string) string {
	w.t.Helper()
	r := w.record(key)
	if r == nil {
		return "none"
	}
	return fmt.Sprintf("%s %d %d", r.State, r.Fence, r.Attempts)
}

func (w *world) wantState(key, want string) {
	w.t.Helper()
	if got := w.state(key); got != want {
		w.t.Fatalf("record of %q: got %s, want %s", key, got, want)
	}
}

func (w *world) complete(want bool, c store.Completion) {
	w.t.Helper()
	done, err := w.Store.Complete(w.ctx, []store.Completion{c})
	if err != nil || len(done) != 1 {
		w.t.Fatalf("complete: %v, %v", done, err)
	}
	if done[0] != want {
		w.t.Fatalf("complete %q: got %v, want %v", c.Lease.Key, done[0], want)
	}
}

// succeed makes a new key SUCCESS.
func (w *world) succeed(key string, change ...func(*store.Claim)) {
	w.t.Helper()
	w.complete(true, store.Completion{Lease: w.proceed(key, change...).Lease})
}

func (w *world) settle(want store.Settled, x store.Settlement) {
	w.t.Helper()
	settled, err := w.Store.Settle(w.ctx, []store.Settlement{x})
	if err != nil || len(settled) != 1 {
		w.t.Fatalf("settle: %v, %v", settled, err)
	}
	if settled[0] != want {
		w.t.Fatalf("settle: got %s, want %s", settledName(settled[0]), settledName(want))
	}
}

func settledName(s store.Settled) string {
	switch s {
	case store.SettledWritten:
		return "written"
	case store.SettledFenced:
		return "fenced"
	case store.SettledUnparked:
		return "unparked"
	}
	return fmt.Sprintf("answer %d", s)
}

// failed is a settlement to FAILED, with the next delivery at these counts.
func failed(g store.Grant, redrive, retry, hold int32) store.Settlement {
	return store.Settlement{Lease: g.Lease, State: idem.StateFailed, RedriveCount: redrive, RetryCount: retry, HoldCount: hold}
}

// dead is a settlement to DEAD. A store of records alone takes no dead letter with it.
func (w *world) dead(g store.Grant, redrive, retry int32) store.Settlement {
	x := store.Settlement{Lease: g.Lease, State: idem.StateDead, RedriveCount: redrive, RetryCount: retry}
	if w.Store.FollowUps() {
		w.n++
		x.DeadLetter = deadLetter(g.Lease.Key, int64(1000+w.n))
	}
	return x
}

// retry is a row of key that the delivery at an offset has caused, due now.
func retry(key string, offset int64, change ...func(*store.Retry)) *store.Retry {
	r := &store.Retry{
		Scope: scope, Key: key, EventType: "payment", BizKey: lane1.BizKey, EventID: "event-" + key,
		SourceTopic: origin, SourcePartition: 3, SourceOffset: offset, RetryCount: 1,
		Action: idem.ActionRetry, Reason: "RETRYABLE", Topic: origin + ".retry." + scope,
		MessageKey: []byte(lane1.BizKey), Headers: idem.Headers{{Name: "idempotency_key", Value: []byte(key)}}, Payload: []byte("payload of " + key),
	}
	for _, f := range change {
		f(r)
	}
	return r
}

func due(d time.Duration) func(*store.Retry) { return func(r *store.Retry) { r.Due = d } }

func position(redrive, retryCount, hold int32) func(*store.Retry) {
	return func(r *store.Retry) { r.RedriveCount, r.RetryCount, r.HoldCount = redrive, retryCount, hold }
}

func parked(r *store.Retry)   { r.Park, r.Action, r.RetryCount = true, idem.ActionDefer, 0 }
func held(r *store.Retry)     { r.Action, r.HoldCount, r.RetryCount = idem.ActionHold, 1, 0 }
func deferred(r *store.Retry) { r.Action, r.RetryCount = idem.ActionDefer, 0 }

// put writes a row by itself, as a DEFER does.
func (w *world) put(rows ...*store.Retry) {
	w.t.Helper()
	for _, r := range rows {
		w.settle(store.SettledWritten, store.Settlement{Retry: r})
	}
}

func deadLetter(key string, offset int64, change ...func(*store.DeadLetter)) *store.DeadLetter {
	d := &store.DeadLetter{
		Scope: scope, Key: key, EventType: "payment", BizKey: lane1.BizKey, EventID: "event-" + key,
		SourceTopic: origin, SourcePartition: 3, SourceOffset: offset, RetryCount: 5, Outcome: idem.OutcomeNonRetryable, Reason: "CARD_EXPIRED: 12/25",
		Topic: origin, MessageKey: []byte(lane1.BizKey), Headers: idem.Headers{{Name: "idempotency_key", Value: []byte(key)}}, Payload: []byte("payload of " + key),
	}
	for _, f := range change {
		f(d)
	}
	return d
}

// bury writes dead letters by themselves, as those of KEY_REUSED are.
func (w *world) bury(letters ...*store.DeadLetter) {
	w.t.Helper()
	for _, d := range letters {
		w.settle(store.SettledWritten, store.Settlement{DeadLetter: d})
	}
}

// due claims what is due.
func (w *world) due(token string, limit int) []store.Retry {
	w.t.Helper()
	rows, err := w.retries().ClaimDue(w.ctx, token, limit, lease)
	if err != nil {
		w.t.Fatalf("claim due rows: %v", err)
	}
	return rows
}

// wantDue claims what is due, and it has to be the rows of these keys, in any order. They come back in the
// order of keys.
func (w *world) wantDue(token string, keys ...string) []store.Retry {
	w.t.Helper()
	rows := w.due(token, 100)
	sorted := make([]store.Retry, 0, len(keys))
	for _, key := range keys {
		if i := slices.IndexFunc(rows, func(r store.Retry) bool { return r.Key == key }); i >= 0 {
			sorted = append(sorted, rows[i])
		}
	}
	if len(rows) != len(keys) || len(sorted) != len(keys) {
		w.t.Fatalf("due rows: got %v, want %v", keysOf(rows), keys)
	}
	return sorted
}

func keysOf(rows []store.Retry) []string {
	return mapped(rows, func(r store.Retry) string { return r.Key })
}

func (w *world) mark(want bool, m store.Mark) {
	w.t.Helper()
	done, err := w.retries().MarkPublished(w.ctx, []store.Mark{m})
	if err != nil || len(done) != 1 {
		w.t.Fatalf("mark: %v, %v", done, err)
	}
	if done[0] != want {
		w.t.Fatalf("mark of row %d: got %v, want %v", m.ID, done[0], want)
	}
}

// publish marks what is due, which has to be these keys.
func (w *world) publish(keys ...string) {
	w.t.Helper()
	for _, r := range w.wantDue(w.owner(), keys...) {
		w.mark(true, store.MarkOf(&r))
	}
}

func (w *world) counted() store.RetryCounts {
	w.t.Helper()
	c, err := w.retries().CountRetries(w.ctx)
	if err != nil {
		w.t.Fatalf("count retries: %v", err)
	}
	return c
}

func (w *world) wantRows(pending, parked int64) {
	w.t.Helper()
	if c := w.counted(); c.Pending != pending || c.Parked != parked {
		w.t.Fatalf("rows: got %d pending and %d parked, want %d and %d", c.Pending, c.Parked, pending, parked)
	}
}

func (w *world) sweep(want int) {
	w.t.Helper()
	n, err := w.retries().SweepLanes(w.ctx, 100)
	if err != nil || n != want {
		w.t.Fatalf("sweep: got %d, %v, want %d", n, err, want)
	}
}

func (w *world) letters(f store.DeadLetterFilter) []store.DeadLetter {
	w.t.Helper()
	found, err := w.deadLetters().ListDeadLetters(w.ctx, f, 0, 100)
	if err != nil {
		w.t.Fatalf("list dead letters: %v", err)
	}
	n, err := w.deadLetters().CountDeadLetters(w.ctx, f)
	if err != nil || n != int64(len(found)) {
		w.t.Fatalf("%d dead letters are listed and %d counted, %v", len(found), n, err)
	}
	return found
}
