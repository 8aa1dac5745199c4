package store_test

import (
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func TestASettlementNamesItsMessage(t *testing.T) {
	t.Parallel()
	retry, dead := &store.Retry{Scope: "s2", Key: "k2"}, &store.DeadLetter{Scope: "s3", Key: "k3"}
	for _, c := range []struct {
		settlement store.Settlement
		want       string
	}{
		{store.Settlement{Lease: store.Lease{Scope: "s1", Key: "k1"}, Retry: retry, DeadLetter: dead}, "s1 k1"},
		{store.Settlement{Retry: retry, DeadLetter: dead}, "s2 k2"},
		{store.Settlement{DeadLetter: dead}, "s3 k3"},
		{store.Settlement{}, " "},
	} {
		scope, key := c.settlement.Names()
		if got := scope + " " + key; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestASettlementKeepsTheLargerCountsAndItsOwnPosition(t *testing.T) {
	t.Parallel()
	x := store.Settlement{RetryCount: 2, HoldCount: 3, Kept: idem.Counts{Retry: 7, Hold: 1}}
	if got := x.Counts(); got != (idem.Counts{Retry: 7, Hold: 3}) {
		t.Errorf("counts: got %+v", got)
	}
	if got := x.Position(); got != 5 {
		t.Errorf("position: got %d", got)
	}
}

func TestALeaseIsHeldByOneFence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lease store.Lease
		want  bool
	}{{store.Lease{Key: "a"}, false}, {store.Lease{Fence: 1}, true}, {store.Lease{PreviousFence: 1}, true}} {
		if got := c.lease.Held(); got != c.want {
			t.Errorf("%+v: got %v", c.lease, got)
		}
	}
}
