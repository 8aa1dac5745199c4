package idem_test

import (
	"math"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	print1     = "00000001-0000000000000001"
	print2     = "00000001-0000000000000002"
	otherPrint = "00000002-0000000000000002"
)

// record is one that a second delivery at 1000 by "w2" may find.
func record(state idem.State, change func(*idem.Record)) *idem.Record {
	r := &idem.Record{State: state, Fence: 3, Attempts: 2, Owner: "w1", RedriveCount: 1, Position: 4, Fingerprint: print1}
	if change != nil {
		change(r)
	}
	return r
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	lease := func(until int64) func(*idem.Record) { return func(r *idem.Record) { r.LeaseUntilMs = until } }
	fresh := idem.Admission{Kind: idem.AdmitProceed, Fence: 4, Attempts: 3, LeaseUntilMs: 1500}
	recovered := fresh
	recovered.Recovered = true
	nextLife := fresh
	nextLife.Attempts = 1
	for _, c := range []struct {
		name   string
		record *idem.Record
		change func(*idem.Delivery)
		want   idem.Admission
	}{
		{"no record", nil, nil, idem.Admission{Kind: idem.AdmitProceed, Fence: 1, Attempts: 1, LeaseUntilMs: 1500}},
		{"another content", record(idem.StateSuccess, nil), func(a *idem.Delivery) { a.Fingerprint = print2 }, idem.Admission{Kind: idem.AdmitKeyReused}},
		{"another template", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.Fingerprint = otherPrint }, fresh},
		{"no fingerprint", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.Fingerprint = "" }, fresh},
		{"success", record(idem.StateSuccess, func(r *idem.Record) { r.Result = []byte("r") }), nil, idem.Admission{Kind: idem.AdmitDuplicate, Result: []byte("r")}},
		{"success before redrive", record(idem.StateSuccess, nil), func(a *idem.Delivery) { a.RedriveCount = 9 }, idem.Admission{Kind: idem.AdmitDuplicate}},
		{"an earlier life", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.RedriveCount, a.Position = 0, 9 }, idem.Admission{Kind: idem.AdmitStale}},
		{"dead in this life", record(idem.StateDead, nil), func(a *idem.Delivery) { a.Position = 9 }, idem.Admission{Kind: idem.AdmitStale}},
		{"dead in an earlier life", record(idem.StateDead, nil), func(a *idem.Delivery) { a.RedriveCount = 2 }, nextLife},
		{"an earlier delivery", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.Position = 3 }, idem.Admission{Kind: idem.AdmitStale}},
		{"an earlier delivery of a later life", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.RedriveCount, a.Position = 2, 0 }, nextLife},
		{"stale before a live lease", record(idem.StateProcessing, lease(2000)), func(a *idem.Delivery) { a.Position = 3 }, idem.Admission{Kind: idem.AdmitStale}},
		{"live lease", record(idem.StateProcessing, lease(1001)), nil, idem.Admission{Kind: idem.AdmitInProgress, WaitMs: 1}},
		{"live lease before redrive", record(idem.StateProcessing, lease(1001)), func(a *idem.Delivery) { a.RedriveCount = 2 }, idem.Admission{Kind: idem.AdmitInProgress, WaitMs: 1}},
		{"lost reply", record(idem.StateProcessing, lease(1001)), func(a *idem.Delivery) { a.Owner = "w1" }, idem.Admission{Kind: idem.AdmitProceed, Fence: 3, Attempts: 2, LeaseUntilMs: 1001}},
		{"lease that ends now", record(idem.StateProcessing, lease(1000)), nil, recovered},
		{"lost reply after the lease", record(idem.StateProcessing, lease(1000)), func(a *idem.Delivery) { a.Owner = "w1" }, recovered},
		{"failed", record(idem.StateFailed, nil), nil, fresh},
		{"attempts used up", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.MaxAttempts = 2 }, idem.Admission{Kind: idem.AdmitCrashLoop}},
		{"one attempt left", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.MaxAttempts = 3 }, fresh},
		{"attempts used up in an earlier life", record(idem.StateFailed, nil), func(a *idem.Delivery) { a.MaxAttempts, a.RedriveCount = 2, 2 }, nextLife},
		{"recovered in a later life", record(idem.StateProcessing, nil), func(a *idem.Delivery) { a.RedriveCount = 2 }, idem.Admission{Kind: idem.AdmitProceed, Fence: 4, Attempts: 1, LeaseUntilMs: 1500, Recovered: true}},
		{"fence at its end", record(idem.StateFailed, func(r *idem.Record) { r.Fence = math.MaxInt64 }), nil, idem.Admission{Kind: idem.AdmitProceed, Fence: math.MaxInt64, Attempts: 3, LeaseUntilMs: 1500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := idem.Delivery{
				RedriveCount: 1, Position: 4, Fingerprint: print1, Owner: "w2",
				NowMs: 1000, LeaseMs: 500, MaxAttempts: idem.MaxAttempts(5),
			}
			if c.change != nil {
				c.change(&a)
			}
			got := idem.Admit(c.record, &a)
			same := got.Kind == c.want.Kind && got.Fence == c.want.Fence && got.Attempts == c.want.Attempts &&
				got.LeaseUntilMs == c.want.LeaseUntilMs && got.Recovered == c.want.Recovered &&
				string(got.Result) == string(c.want.Result) && got.WaitMs == c.want.WaitMs
			if !same {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAttemptsAllowThreeCrashes(t *testing.T) {
	t.Parallel()
	if got := idem.MaxAttempts(5); got != 9 {
		t.Errorf("got %d", got)
	}
}

func TestStateNames(t *testing.T) {
	t.Parallel()
	for s := idem.StateProcessing; s <= idem.StateDead; s++ {
		if back, ok := idem.ParseState(s.String()); !ok || back != s {
			t.Errorf("%v is read as %v", s, back)
		}
	}
	if _, ok := idem.ParseState(""); ok {
		t.Error("no name is a state")
	}
}
