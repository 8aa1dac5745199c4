package idem_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func ptr(v int32) *int32 { return &v }

func TestBackoffDoublesUpToTheCap(t *testing.T) {
	t.Parallel()
	for _, base := range []int32{1, 2, 101, 86400} {
		for _, most := range []int32{1, 60, 30001, 604800} {
			p := idem.DefaultPolicy()
			p.BackoffBase, p.BackoffMax, p.BackoffJitter = base, most, 999
			for _, n := range []int32{0, 1, 2, 5, 19, 20, 30, 31, 32, 52, 62, 63, 64, 100, 128, math.MaxInt32} {
				// A second source: integers without a limit.
				shift := uint(n)
				if n > 200 {
					shift = 200
				}
				exact := new(big.Int).Lsh(big.NewInt(int64(base)*1000), shift)
				if limit := big.NewInt(int64(most) * 1000); exact.Cmp(limit) > 0 {
					exact = limit
				}
				jitter := int64(xxhash.Sum64String(fmt.Sprintf("order-1#%d", n)) % 1000)
				d, err := idem.Backoff("order-1", n, &p, 0)
				if err != nil || d.BaseMs != exact.Int64() || d.JitterMs != jitter || d.Ms() != d.BaseMs+jitter {
					t.Fatalf("base %d, cap %d, n %d: got %+v, %v, want %d and %d", base, most, n, d, err, exact, jitter)
				}
			}
		}
	}
}

func TestBackoffFollowsTheScheduleAndRepeatsItsLastEntry(t *testing.T) {
	t.Parallel()
	p := idem.DefaultPolicy()
	p.BackoffJitter, p.BackoffSchedule = 0, []int32{10000, 0, 604800000}
	for n, w := range map[int32]int64{0: 10000, 1: 0, 2: 604800000, 3: 604800000, math.MaxInt32: 604800000} {
		if d, err := idem.Backoff("k", n, &p, 0); err != nil || d.Ms() != w {
			t.Errorf("n %d: got %+v, %v, want %d", n, d, err, w)
		}
	}
}

func TestBackoffIsNoEarlierThanRetryAfter(t *testing.T) {
	t.Parallel()
	p := idem.DefaultPolicy()
	p.BackoffJitter = 0
	for after, w := range map[int64]int64{
		math.MinInt64: 1000, -1: 1000, 0: 1000, 999: 1000, 1001: 1001, 604800000: 604800000, 604800001: 604800000,
		math.MaxInt64: 604800000,
	} {
		if d, err := idem.Backoff("k", 0, &p, after); err != nil || d.BaseMs != w {
			t.Errorf("after %d: got %+v, %v, want %d", after, d, err, w)
		}
	}
}

func TestBackoffRefusesAPolicyAndThenAKey(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*idem.Policy){
		"base 0":              func(p *idem.Policy) { p.BackoffBase = 0 },
		"base over a day":     func(p *idem.Policy) { p.BackoffBase = 86401 },
		"negative jitter":     func(p *idem.Policy) { p.BackoffJitter = -1 },
		"jitter over an hour": func(p *idem.Policy) { p.BackoffJitter = 3600001 },
		"cap 0":               func(p *idem.Policy) { p.BackoffMax = 0 },
		"cap over a week":     func(p *idem.Policy) { p.BackoffMax = 604801 },
		"negative entry":      func(p *idem.Policy) { p.BackoffSchedule = []int32{-1} },
		"entry over a week":   func(p *idem.Policy) { p.BackoffSchedule = []int32{1, 604800001} },
		"33 entries":          func(p *idem.Policy) { p.BackoffSchedule = make([]int32, 33) },
	} {
		p := idem.DefaultPolicy()
		spoil(&p)
		if _, err := idem.Backoff("", 0, &p, 0); idem.CodeOf(err) != idem.CodePolicyRange {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p := idem.DefaultPolicy()
	if _, err := idem.Backoff("", 0, &p, 0); idem.CodeOf(err) != idem.CodeKeyEmpty {
		t.Errorf("no key: got %v", err)
	}
	if _, err := idem.Backoff("k", -1, &p, 0); idem.CodeOf(err) != idem.CodePolicyRange {
		t.Errorf("negative n: got %v", err)
	}
}

func TestPolicyInForce(t *testing.T) {
	t.Parallel()
	schedule := []int32{1000, 400000}
	for _, c := range []struct {
		name                  string
		header, schema, limit idem.PartialPolicy
		want                  idem.Policy
	}{
		{"defaults", idem.PartialPolicy{}, idem.PartialPolicy{}, idem.PartialPolicy{}, idem.DefaultPolicy()},
		{
			"header, then schema, then default",
			idem.PartialPolicy{MaxRetry: ptr(0)},
			idem.PartialPolicy{MaxRetry: ptr(9), MaxHold: ptr(9)},
			idem.PartialPolicy{},
			idem.Policy{MaxRetry: 0, MaxHold: 9, BackoffBase: 1, BackoffJitter: 1000, BackoffMax: 300},
		},
		{
			"clamped by the consumer",
			idem.PartialPolicy{MaxRetry: ptr(100), BackoffSchedule: schedule},
			idem.PartialPolicy{},
			idem.PartialPolicy{MaxRetry: ptr(3), BackoffMax: ptr(200), BackoffJitter: ptr(0)},
			idem.Policy{MaxRetry: 3, MaxHold: 20, BackoffBase: 1, BackoffMax: 200, BackoffSchedule: []int32{1000, 200000}},
		},
		{
			"a cap in the header puts the schema's schedule out of force",
			idem.PartialPolicy{BackoffMax: ptr(60)},
			idem.PartialPolicy{BackoffSchedule: schedule},
			idem.PartialPolicy{},
			idem.Policy{MaxRetry: 5, MaxHold: 20, BackoffBase: 1, BackoffJitter: 1000, BackoffMax: 60},
		},
		{
			"a jitter in the header does not",
			idem.PartialPolicy{BackoffJitter: ptr(0)},
			idem.PartialPolicy{BackoffSchedule: schedule},
			idem.PartialPolicy{},
			idem.Policy{MaxRetry: 5, MaxHold: 20, BackoffBase: 1, BackoffMax: 300, BackoffSchedule: schedule},
		},
		{
			"the header's schedule beside its cap",
			idem.PartialPolicy{BackoffMax: ptr(60), BackoffSchedule: []int32{7}},
			idem.PartialPolicy{BackoffSchedule: schedule},
			idem.PartialPolicy{},
			idem.Policy{MaxRetry: 5, MaxHold: 20, BackoffBase: 1, BackoffJitter: 1000, BackoffMax: 60, BackoffSchedule: []int32{7}},
		},
	} {
		got, err := idem.ResolvePolicy(c.header, c.schema.Over(idem.DefaultPolicy()), c.limit)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	if fmt.Sprint(schedule) != "[1000 400000]" {
		t.Errorf("the caller's schedule was changed: %v", schedule)
	}
}

func TestPolicyOutOfBoundsAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	wrong := idem.PartialPolicy{MaxRetry: ptr(101)}
	var none idem.PartialPolicy
	for name, parts := range map[string][3]idem.PartialPolicy{
		"header": {wrong, none, none}, "schema": {none, wrong, none}, "limit": {none, none, wrong},
		"schema behind a header": {{MaxRetry: ptr(1)}, wrong, none},
		"header above the limit": {wrong, none, {MaxRetry: ptr(1)}},
	} {
		_, err := idem.ResolvePolicy(parts[0], parts[1].Over(idem.DefaultPolicy()), parts[2])
		if idem.CodeOf(err) != idem.CodePolicyRange {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestDecisionByOutcome(t *testing.T) {
	t.Parallel()
	p := idem.DefaultPolicy()
	p.MaxRetry, p.MaxHold, p.BackoffJitter = 3, 2, 0
	for _, c := range []struct {
		outcome   idem.Outcome
		counts    idem.Counts
		action    idem.Action
		delay     int64
		newCounts idem.Counts
		reason    string
	}{
		{idem.OutcomeOK, idem.Counts{Retry: 9}, idem.ActionAck, 0, idem.Counts{Retry: 9}, ""},
		{idem.OutcomeDuplicate, idem.Counts{}, idem.ActionAck, 0, idem.Counts{}, ""},
		{idem.OutcomeStale, idem.Counts{}, idem.ActionAck, 0, idem.Counts{}, ""},
		{idem.OutcomeRetryable, idem.Counts{Retry: 2, Hold: 1}, idem.ActionRetry, 4000, idem.Counts{Retry: 3, Hold: 1}, "RETRYABLE"},
		{idem.OutcomeRetryable, idem.Counts{Retry: 3}, idem.ActionDeadLetter, 0, idem.Counts{Retry: 3}, "RETRYABLE"},
		{idem.OutcomeRetryable, idem.Counts{Retry: math.MaxInt32}, idem.ActionDeadLetter, 0, idem.Counts{Retry: math.MaxInt32}, "RETRYABLE"},
		{idem.OutcomeThrottled, idem.Counts{Retry: 0}, idem.ActionRetry, 60000, idem.Counts{Retry: 1}, "THROTTLED"},
		{idem.OutcomeThrottled, idem.Counts{Retry: 3}, idem.ActionDeadLetter, 0, idem.Counts{Retry: 3}, "THROTTLED"},
		{idem.OutcomeOutOfOrder, idem.Counts{Retry: 3, Hold: 1}, idem.ActionHold, 2000, idem.Counts{Retry: 3, Hold: 2}, "OUT_OF_ORDER"},
		{idem.OutcomeOutOfOrder, idem.Counts{Hold: 2}, idem.ActionDeadLetter, 0, idem.Counts{Hold: 2}, "OUT_OF_ORDER"},
		{idem.OutcomeInProgress, idem.Counts{Retry: 9, Hold: 9}, idem.ActionDefer, 60000, idem.Counts{Retry: 9, Hold: 9}, ""},
		{idem.OutcomeFenced, idem.Counts{}, idem.ActionDefer, 60000, idem.Counts{}, ""},
		{idem.OutcomeNonRetryable, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "NON_RETRYABLE"},
		{idem.OutcomeKeyReused, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "KEY_REUSED"},
		{idem.OutcomeConflict, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "CONFLICT"},
		{idem.OutcomeMalformed, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "MALFORMED"},
		{idem.OutcomeCrashLoop, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "CRASH_LOOP"},
		{idem.OutcomeTooOld, idem.Counts{}, idem.ActionDeadLetter, 0, idem.Counts{}, "TOO_OLD"},
	} {
		got, err := idem.Decide(idem.Result{Outcome: c.outcome, AfterMs: 60000}, "k", c.counts, &p)
		if err != nil || got.Action != c.action || got.Delay.Ms() != c.delay || got.Counts != c.newCounts || got.Reason != c.reason {
			t.Errorf("%v at %+v: got %+v, %v", c.outcome, c.counts, got, err)
		}
	}
}

func TestDecisionKeepsTheReasonAndTheJitterOfDefer(t *testing.T) {
	t.Parallel()
	p := idem.DefaultPolicy()
	got, err := idem.Decide(idem.Result{Outcome: idem.OutcomeRetryable, Reason: "BUSY: a\nb"}, "k", idem.Counts{}, &p)
	if err != nil || got.Reason != "BUSY: a\nb" {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = idem.Decide(idem.Result{Outcome: idem.OutcomeFenced, AfterMs: 5}, "k", idem.Counts{Retry: 7, Hold: 3}, &p)
	if w := int64(5 + xxhash.Sum64String("k#7")%1001); err != nil || got.Delay.Ms() != w {
		t.Errorf("got %+v, %v, want a delay of %d", got, err, w)
	}
}

func TestDecisionIsCheckedForEveryOutcome(t *testing.T) {
	t.Parallel()
	good := idem.DefaultPolicy()
	bad := good
	bad.MaxHold = 101
	for o := idem.OutcomeRetryable; o <= idem.OutcomeFenced; o++ {
		r := idem.Result{Outcome: o}
		if _, err := idem.Decide(r, "", idem.Counts{}, &bad); idem.CodeOf(err) != idem.CodePolicyRange {
			t.Errorf("%v with a bad policy: %v", o, err)
		}
		if _, err := idem.Decide(r, "", idem.Counts{Hold: -1}, &good); idem.CodeOf(err) != idem.CodePolicyRange {
			t.Errorf("%v with a negative count: %v", o, err)
		}
		if _, err := idem.Decide(r, "", idem.Counts{}, &good); idem.CodeOf(err) != idem.CodeKeyEmpty {
			t.Errorf("%v without a key: %v", o, err)
		}
		if name := o.String(); name == "" {
			t.Errorf("outcome %d has no name", o)
		} else if back, ok := idem.ParseOutcome(name); !ok || back != o {
			t.Errorf("%s is read as %v", name, back)
		}
	}
	if _, err := idem.Decide(idem.Result{Outcome: 99}, "k", idem.Counts{}, &good); idem.CodeOf(err) != idem.CodeInputInvalid {
		t.Errorf("no outcome: %v", err)
	}
}

func TestDecisionDoesNotAllocate(t *testing.T) {
	p := idem.DefaultPolicy()
	withoutAllocation(t, func() {
		_, _ = idem.Decide(idem.Result{Outcome: idem.OutcomeRetryable}, "payments.paid:v1:order-1", idem.Counts{}, &p)
	})
}

func BenchmarkDecide(b *testing.B) {
	p := idem.DefaultPolicy()
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		_, _ = idem.Decide(idem.Result{Outcome: idem.OutcomeRetryable}, "payments.paid:v1:order-1", idem.Counts{}, &p)
	}
}
