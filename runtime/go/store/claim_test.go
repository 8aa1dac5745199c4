package store_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

const (
	print1     = "00000001-0000000000000001"
	print2     = "00000001-0000000000000002"
	otherPrint = "00000002-0000000000000002" // of another template
	nowMs      = 1_000_000
	leaseMs    = 30_000
)

var now = time.UnixMilli(nowMs)

// claim is a delivery of "new", and of "old" by the template before where dual; in life 1, at position 3.
func claim(dual bool, change ...func(*store.Claim)) *store.Claim {
	c := &store.Claim{
		Scope: "payments", Key: "new", Owner: "w2", Fingerprint: print1, RedriveCount: 1, RetryCount: 2, HoldCount: 1,
		MaxAttempts: idem.MaxAttempts(5), Lease: leaseMs * time.Millisecond,
	}
	if dual {
		c.Previous = "old"
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func record(fence int64, state idem.State, change ...func(*store.Record)) *store.Record {
	r := &store.Record{Scope: "payments", CreatedAt: now.Add(-time.Hour)}
	r.State, r.Fence, r.Attempts, r.Owner, r.RedriveCount, r.Position = state, fence, 2, "w1", 1, 3
	for _, f := range change {
		f(r)
	}
	return r
}

// finds makes, for each verdict, a record that has a claim get it.
var finds = map[string]func(fence int64) *store.Record{
	"KEY_REUSED": func(f int64) *store.Record {
		return record(f, idem.StateFailed, func(r *store.Record) { r.Fingerprint = print2 })
	},
	"DUPLICATE": func(f int64) *store.Record {
		return record(f, idem.StateSuccess, func(r *store.Record) { r.Result = fmt.Append(nil, "result ", f) })
	},
	"STALE": func(f int64) *store.Record { return record(f, idem.StateDead) },
	"IN_PROGRESS": func(f int64) *store.Record {
		return record(f, idem.StateProcessing, func(r *store.Record) { r.LeaseUntilMs = nowMs + 100*f })
	},
	"CRASH_LOOP": func(f int64) *store.Record {
		return record(f, idem.StateFailed, func(r *store.Record) { r.Attempts = 9 })
	},
	"PROCEED": func(f int64) *store.Record { return record(f, idem.StateFailed) },
}

// order is that of DEDUP-026.
var order = []string{"KEY_REUSED", "DUPLICATE", "STALE", "IN_PROGRESS", "CRASH_LOOP", "PROCEED"}

func TestTwoKeysHaveTheFirstOfTheirVerdicts(t *testing.T) {
	t.Parallel()
	for i, first := range order {
		for j, second := range order {
			t.Run(first+" and "+second, func(t *testing.T) {
				t.Parallel()
				want := order[min(i, j)]
				g := claim(true).Admit(finds[first](7), finds[second](4), nowMs)
				if got := g.Kind.String(); got != want || g.TooOld || g.Parked {
					t.Fatalf("got %s, want %s", got, want)
				}
				decides := int64(7)
				if i > j {
					decides = 4
				}
				wantLease := store.Lease{}
				switch want {
				case "PROCEED":
					wantLease = store.Lease{Scope: "payments", Key: "new", Fence: 8, Previous: "old", PreviousFence: 5, Owner: "w2"}
				case "CRASH_LOOP":
					wantLease = store.Lease{Scope: "payments", Key: "new", Fence: 7, Previous: "old", PreviousFence: 4}
				case "DUPLICATE":
					if got, want := string(g.Result), fmt.Sprint("result ", decides); got != want {
						t.Errorf("result: got %q, want %q", got, want)
					}
				case "KEY_REUSED":
					if g.RecordFingerprint != print2 {
						t.Errorf("fingerprint %q", g.RecordFingerprint)
					}
				case "IN_PROGRESS":
					wait := 100 * decides
					if i == j {
						wait = 700 // both have to be over
					}
					if g.WaitMs != wait {
						t.Errorf("wait of %d ms, want %d", g.WaitMs, wait)
					}
				}
				if g.Lease != wantLease {
					t.Errorf("lease: got %+v, want %+v", g.Lease, wantLease)
				}
			})
		}
	}
}

func TestOneKeyHasItsOwnVerdict(t *testing.T) {
	t.Parallel()
	for _, want := range order {
		g := claim(false).Admit(finds[want](7), finds["KEY_REUSED"](4), nowMs)
		if got := g.Kind.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if g.Lease.Previous != "" || g.Lease.PreviousFence != 0 {
			t.Errorf("%s: lease of a second key: %+v", want, g.Lease)
		}
		outcome, ended := g.Outcome()
		if ended == (want == "PROCEED") || ended && outcome.String() != want {
			t.Errorf("%s: outcome %v, %v", want, outcome, ended)
		}
	}
}

func TestAKeyWithoutARecordLeavesTheVerdictToTheOther(t *testing.T) {
	t.Parallel()
	for _, want := range order {
		for _, first := range []bool{true, false} {
			current, previous := finds[want](7), (*store.Record)(nil)
			if !first {
				current, previous = nil, current
			}
			g := claim(true).Admit(current, previous, nowMs)
			if got := g.Kind.String(); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			wantLease := store.Lease{Scope: "payments", Key: "new", Previous: "old"}
			switch {
			case want == "PROCEED" && first:
				wantLease.Fence, wantLease.PreviousFence, wantLease.Owner = 8, 1, "w2"
			case want == "PROCEED":
				wantLease.Fence, wantLease.PreviousFence, wantLease.Owner = 1, 8, "w2"
			case want == "CRASH_LOOP" && first:
				wantLease.Fence = 7
			case want == "CRASH_LOOP":
				wantLease.PreviousFence = 7
			default:
				wantLease = store.Lease{}
			}
			if g.Lease != wantLease {
				t.Errorf("%s: lease: got %+v, want %+v", want, g.Lease, wantLease)
			}
		}
	}
}

func TestTwoEqualKeysAreOne(t *testing.T) {
	t.Parallel()
	c := claim(false, func(c *store.Claim) { c.Previous = c.Key })
	g := c.Admit(finds["PROCEED"](7), finds["PROCEED"](7), nowMs)
	if want := (store.Lease{Scope: "payments", Key: "new", Fence: 8, Owner: "w2"}); c.Dual() || g.Lease != want {
		t.Errorf("lease: got %+v, want %+v", g.Lease, want)
	}
}

func TestTwoKeysProceedTogether(t *testing.T) {
	t.Parallel()
	current := record(7, idem.StateProcessing, func(r *store.Record) { r.Attempts = 4 }) // its lease is over
	previous := record(4, idem.StateFailed)
	c := claim(true)
	g := c.Admit(current, previous, nowMs)
	if g.Attempts != 5 || !g.Recovered || g.LeaseUntilMs != nowMs+leaseMs {
		t.Fatalf("grant: %+v", g)
	}
	a := c.Claimed("new", g.Lease.Fence, &g, current, now, time.Hour)
	b := c.Claimed("old", g.Lease.PreviousFence, &g, previous, now, time.Hour)
	if a.Fence != 8 || b.Fence != 5 || a.Attempts != 5 || b.Attempts != 5 || a.LeaseUntilMs != b.LeaseUntilMs || a.Owner != "w2" || b.Owner != "w2" {
		t.Errorf("records: %+v and %+v", a, b)
	}
	if again := c.Admit(&a, &b, nowMs+1); again.Lease != g.Lease || again.Attempts != 5 || again.Recovered {
		t.Errorf("a lost reply asked for again: %+v, was %+v", again, g)
	}
}

func TestACrashLoopLeavesAKeyAloneThatEnded(t *testing.T) {
	t.Parallel()
	ended := record(4, idem.StateDead, func(r *store.Record) { r.RedriveCount = 0 }) // PROCEED, in its next life
	if g := claim(true).Admit(finds["CRASH_LOOP"](7), ended, nowMs); g.Kind != idem.AdmitCrashLoop || g.Lease.Fence != 7 || g.Lease.PreviousFence != 0 {
		t.Errorf("grant: %+v", g)
	}
}

func TestTooOldIsAskedOnlyWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	old := func(c *store.Claim) { c.Old, c.RedriveCount = true, 0 }
	redriven := func(c *store.Claim) { c.Old = true }
	for _, c := range []struct {
		name              string
		claim             *store.Claim
		current, previous *store.Record
		want              bool
	}{
		{"no record", claim(false, old), nil, nil, true},
		{"no record of two", claim(true, old), nil, nil, true},
		{"a record", claim(true, old), finds["PROCEED"](1), nil, false},
		{"a record of the key before", claim(true, old), nil, finds["PROCEED"](1), false},
		{"redriven", claim(true, redriven), nil, nil, false},
		{"young", claim(true), nil, nil, false},
	} {
		g := c.claim.Admit(c.current, c.previous, nowMs)
		if g.TooOld != c.want || (g.Kind == 0) != c.want {
			t.Errorf("%s: %+v", c.name, g)
		}
		if want := (idem.Counts{Retry: 2, Hold: 1}); c.want && (g.Counts != want || g.Lease.Held()) {
			t.Errorf("%s: %+v", c.name, g)
		}
		if outcome, ended := g.Outcome(); ended && outcome != idem.OutcomeTooOld && c.want {
			t.Errorf("%s: outcome %v", c.name, outcome)
		}
	}
}

func TestTheLargerCountsOfOneLifeAreUsed(t *testing.T) {
	t.Parallel()
	kept := func(redrive int64, retry, hold int32) *store.Record {
		r := record(1, idem.StateFailed)
		r.RedriveCount, r.RetryCount, r.HoldCount = redrive, retry, hold
		r.Position = 0
		return r
	}
	for _, c := range []struct {
		name              string
		current, previous *store.Record
		want              idem.Counts
		redrive           int32
	}{
		{"no record", nil, nil, idem.Counts{Retry: 2, Hold: 1}, 0},
		{"the record's are larger", kept(1, 5, 4), nil, idem.Counts{Retry: 5, Hold: 4}, 1},
		{"one of the record's is larger", kept(1, 0, 4), nil, idem.Counts{Retry: 2, Hold: 4}, 1},
		{"the record's life is over", kept(0, 5, 4), nil, idem.Counts{Retry: 2, Hold: 1}, 0},
		{"the largest of two records", kept(1, 5, 0), kept(1, 3, 7), idem.Counts{Retry: 5, Hold: 7}, 1},
		{"one of two lives is over", kept(0, 9, 9), kept(1, 3, 1), idem.Counts{Retry: 3, Hold: 1}, 1},
	} {
		g := claim(c.previous != nil).Admit(c.current, c.previous, nowMs)
		if g.Counts != c.want || g.RecordRedriveCount != c.redrive {
			t.Errorf("%s: got %+v of life %d, want %+v of %d", c.name, g.Counts, g.RecordRedriveCount, c.want, c.redrive)
		}
	}
	// The position stays that of the delivery, whatever the record counts.
	c := claim(false)
	g := c.Admit(kept(1, 5, 4), nil, nowMs)
	if r := c.Claimed("new", g.Lease.Fence, &g, kept(1, 5, 4), now, time.Hour); r.Position != 3 || r.RetryCount != 5 || r.HoldCount != 4 {
		t.Errorf("record: %+v", r)
	}
}

func TestARecordAdoptsTheFirstFingerprint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ record, claim, want string }{
		{"", "", ""}, {"", print1, print1}, {print1, "", print1}, {print1, print1, print1}, {otherPrint, print1, otherPrint},
	} {
		before := record(1, idem.StateFailed, func(r *store.Record) { r.Fingerprint = c.record })
		claim := claim(false, func(d *store.Claim) { d.Fingerprint = c.claim })
		g := claim.Admit(before, nil, nowMs)
		if g.Kind != idem.AdmitProceed {
			t.Fatalf("%+v: %s", c, g.Kind)
		}
		if r := claim.Claimed("new", g.Lease.Fence, &g, before, now, time.Hour); r.Fingerprint != c.want {
			t.Errorf("%+v: got %q", c, r.Fingerprint)
		}
		if r := claim.Duplicated("new", nil, before, now, time.Hour); r.Fingerprint != c.want {
			t.Errorf("%+v: of the other key: got %q", c, r.Fingerprint)
		}
	}
}

func TestAClaimKeepsWhenTheRecordWasMadeAndTheLaterExpiry(t *testing.T) {
	t.Parallel()
	c := claim(false)
	for _, expires := range []time.Duration{time.Minute, 48 * time.Hour} {
		before := record(1, idem.StateFailed, func(r *store.Record) { r.ExpiresAt = now.Add(expires) })
		g := c.Admit(before, nil, nowMs)
		r := c.Claimed("new", g.Lease.Fence, &g, before, now, time.Hour)
		if want := now.Add(max(expires, time.Hour)); !r.ExpiresAt.Equal(want) || !r.CreatedAt.Equal(before.CreatedAt) || !r.UpdatedAt.Equal(now) {
			t.Errorf("created %v, updated %v, expires %v, want %v", r.CreatedAt, r.UpdatedAt, r.ExpiresAt, want)
		}
	}
}

func TestTheOtherKeyOfASuccessIsSuccessAndFencesItsHolderOut(t *testing.T) {
	t.Parallel()
	c := claim(true)
	r := c.Duplicated("new", []byte("r"), nil, now, time.Hour)
	if r.Key != "new" || r.Scope != "payments" || r.State != idem.StateSuccess || r.Fence != 1 || string(r.Result) != "r" || !r.ExpiresAt.Equal(now.Add(time.Hour)) {
		t.Errorf("record: %+v", r)
	}
	holder := record(7, idem.StateProcessing, func(r *store.Record) { r.Key, r.LeaseUntilMs = "new", nowMs+5 })
	r = c.Duplicated("new", []byte("r"), holder, now, time.Hour)
	if r.State != idem.StateSuccess || r.Fence != 8 || r.Owner != "" || r.LeaseUntilMs != 0 || !r.CreatedAt.Equal(holder.CreatedAt) {
		t.Errorf("record: %+v", r)
	}
}

func TestATombstoneAdmitsEverythingUnderAHigherFence(t *testing.T) {
	t.Parallel()
	for _, state := range []idem.State{idem.StateProcessing, idem.StateSuccess, idem.StateFailed, idem.StateDead} {
		r := record(7, state, func(r *store.Record) {
			r.Key, r.Fingerprint, r.RedriveCount, r.Position, r.Attempts, r.LeaseUntilMs = "new", print2, 5, 9, 99, math.MaxInt64
		})
		grave := r.Tombstone()
		g := claim(false, func(c *store.Claim) { c.RedriveCount, c.RetryCount, c.HoldCount, c.Owner = 0, 0, 0, "w1" }).Admit(&grave, nil, nowMs)
		if g.Kind != idem.AdmitProceed || g.Fence != 9 || g.Attempts != 1 || g.Recovered || g.Counts != (idem.Counts{}) {
			t.Errorf("%s: %+v", state, g)
		}
		if grave.Scope != "payments" || grave.Key != "new" {
			t.Errorf("%s: %+v", state, grave)
		}
	}
}

func TestFencesStayAtTheLargestOne(t *testing.T) {
	t.Parallel()
	r := record(math.MaxInt64, idem.StateFailed)
	if grave := r.Tombstone(); grave.Fence != math.MaxInt64 {
		t.Errorf("tombstone under fence %d", grave.Fence)
	}
	if d := claim(true).Duplicated("new", nil, r, now, time.Hour); d.Fence != math.MaxInt64 {
		t.Errorf("duplicate under fence %d", d.Fence)
	}
}

func TestAdmissionOfAClaimAllocatesNothing(t *testing.T) {
	c, r := claim(true), finds["PROCEED"](3)
	if n := testing.AllocsPerRun(100, func() {
		if g := c.Admit(r, r, nowMs); g.Kind != idem.AdmitProceed {
			t.Error(g.Kind)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClaimAdmit(b *testing.B) {
	c, r := claim(false), finds["PROCEED"](3)
	b.ReportAllocs()
	for b.Loop() {
		g := c.Admit(r, nil, nowMs)
		if g.Kind != idem.AdmitProceed {
			b.Fatal(g.Kind)
		}
		_ = c.Claimed(c.Key, g.Lease.Fence, &g, r, now, time.Hour)
	}
}
