package redis

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// chance makes records and claims in which every rule can decide, and integers stand on both sides of where a
// double loses them.
type chance struct{ *rand.Rand }

func (r chance) of(values ...int64) int64 { return values[r.IntN(len(values))] }

func (r chance) large() int64 {
	return r.of(0, 1, 2, 9, 10, 99, 999999999999999, 1000000000000000, 1<<53-1, 1<<53, 1<<53+1, 1<<53+2,
		8999999999999999999, 9000000000000000000, math.MaxInt64-1, math.MaxInt64)
}

func (r chance) print() string {
	return []string{"", "00000001-0000000000000001", "00000001-0000000000000002", "00000002-0000000000000002", "short"}[r.IntN(5)]
}

func (r chance) owner() string { return []string{"w1", "w2", "w3"}[r.IntN(3)] }

func (r chance) record(key string, now int64) *store.Record {
	if r.IntN(5) == 0 {
		return nil
	}
	x := &store.Record{
		Scope: "s", Key: key, RetryCount: int32(r.of(0, 1, 2, math.MaxInt32)), HoldCount: int32(r.of(0, 1, math.MaxInt32)),
		CreatedAt: time.UnixMilli(now - 5000).UTC(), UpdatedAt: time.UnixMilli(now - 4000).UTC(),
		ExpiresAt: time.UnixMilli(now + r.of(3600_000, 9e10)).UTC(),
	}
	x.State, x.Fence, x.Attempts, x.Owner = idem.State(1+r.IntN(4)), max(r.large(), 1), r.large(), r.owner()
	x.RedriveCount, x.Position = r.of(0, 1, 2, math.MaxInt32), r.of(0, 1, 2, 3, math.MaxInt32, 2*math.MaxInt32)
	x.Fingerprint = r.print()
	if x.State == idem.StateProcessing {
		x.LeaseUntilMs = now + r.of(-3600_000, -1, 0, 1, 3600_000, 9e11)
	}
	if x.State == idem.StateSuccess && r.IntN(2) == 0 {
		x.Result = []byte("receipt\x00\xff")
	}
	return x
}

func (r chance) claim() store.Claim {
	c := store.Claim{
		Scope: "s", Key: "a", Owner: r.owner(), Fingerprint: r.print(),
		RedriveCount: int32(r.of(0, 1, 2, math.MaxInt32)), RetryCount: int32(r.of(0, 1, 2, math.MaxInt32)), HoldCount: int32(r.of(0, 0, 1, math.MaxInt32)),
		MaxAttempts: r.large(), Lease: time.Duration(r.of(0, 1, 30_000, 9e12)) * time.Millisecond, Old: r.IntN(4) == 0,
	}
	if r.IntN(2) == 0 {
		c.Previous = "b"
	}
	return c
}

// put writes a record as the scripts do.
func put(t *testing.T, s *Store, key string, x *store.Record) {
	t.Helper()
	ctx := context.Background()
	if err := s.client.Del(ctx, s.key("s", key)).Err(); err != nil {
		t.Fatal(err)
	}
	if x == nil {
		return
	}
	fields := []any{"st", int(x.State), "cr", x.CreatedAt.UnixMilli(), "up", x.UpdatedAt.UnixMilli(), "ex", x.ExpiresAt.UnixMilli(), "ow", x.Owner}
	for name, n := range map[string]int64{"fe": x.Fence, "at": x.Attempts, "rd": x.RedriveCount, "po": x.Position,
		"rc": int64(x.RetryCount), "hc": int64(x.HoldCount), "lu": x.LeaseUntilMs} {
		if n != 0 {
			fields = append(fields, name, strconv.FormatInt(n, 10))
		}
	}
	if x.Fingerprint != "" {
		fields = append(fields, "fp", x.Fingerprint)
	}
	if len(x.Result) > 0 {
		fields = append(fields, "re", x.Result)
	}
	if err := s.client.HSet(ctx, s.key("s", key), fields...).Err(); err != nil {
		t.Fatal(err)
	}
}

// after is what a claim leaves of the two records: store.Claim decides, and says what is written.
func after(c *store.Claim, g *store.Grant, current, previous *store.Record, now time.Time) (a, b *store.Record) {
	a, b = current, previous
	switch g.Kind {
	case idem.AdmitProceed:
		r := c.Claimed(c.Key, g.Lease.Fence, g, current, now, store.DefaultRetention)
		a = &r
		if c.Dual() {
			r := c.Claimed(c.Previous, g.Lease.PreviousFence, g, previous, now, store.DefaultRetention)
			b = &r
		}
	case idem.AdmitDuplicate:
		if c.Dual() && (current == nil || current.State != idem.StateSuccess) {
			r := c.Duplicated(c.Key, g.Result, current, now, store.DefaultRetention)
			a = &r
		}
		if c.Dual() && (previous == nil || previous.State != idem.StateSuccess) {
			r := c.Duplicated(c.Previous, g.Result, previous, now, store.DefaultRetention)
			b = &r
		}
	}
	return a, b
}

// differ runs random claims on random records, by the script and by store.Claim.Admit, which rests on
// idem.Admit.
func differ(t *testing.T, s *Store, clock func() int64, rounds int) {
	t.Helper()
	r := chance{rand.New(rand.NewPCG(7, 11))}
	seen := map[idem.AdmissionKind]int{}
	for round := range rounds {
		before := clock()
		current, previous := r.record("a", before), r.record("b", before)
		c := r.claim()
		put(t, s, "a", current)
		put(t, s, "b", previous)
		grants, err := s.Claim(t.Context(), []store.Claim{c})
		if err != nil {
			t.Fatalf("round %d: %+v: %v", round, c, err)
		}
		records, err := s.Records(t.Context(), "s", []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		got := grants[0]
		agreed := false
		var want store.Grant
		var a, b *store.Record
		for now := before; now <= clock() && !agreed; now++ { // one millisecond of these it was
			want = c.Admit(current, previous, now)
			a, b = after(&c, &want, current, previous, time.UnixMilli(now).UTC())
			agreed = reflect.DeepEqual(got, want) && reflect.DeepEqual(records, []*store.Record{a, b})
		}
		if !agreed {
			t.Fatalf("round %d: %+v\nof %+v\nand %+v\ngot  %+v\nwant %+v\nwrote %+v %+v\nwant  %+v %+v", round, c, current, previous, got, want,
				records[0], records[1], a, b)
		}
		seen[got.Kind]++
	}
	for kind := idem.AdmitProceed; kind <= idem.AdmitCrashLoop; kind++ {
		if seen[kind] < rounds/100 {
			t.Errorf("%v was the verdict %d times in %d: the records are not varied enough", kind, seen[kind], rounds)
		}
	}
}

func TestScriptAdmitsAsTheCoreDoes(t *testing.T) {
	t.Parallel()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		_, c := mini(t)
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli()
		differ(t, New(c, Config{}), func() int64 { return now }, 1500)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		c := real(t)
		differ(t, New(c, Config{}), func() int64 { return serverTime(t, c) }, 10000)
	})
}

func serverTime(t *testing.T, c *redis.Client) int64 {
	t.Helper()
	now, err := c.Time(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return now.UnixMilli()
}

// Fault 19: an integer that goes through a double.
func TestFault19IntegersBeyondDoublesSurvive(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		s := New(c, Config{})
		for _, n := range []int64{999999999999999, 1000000000000000, 1<<53 - 1, 1 << 53, 1<<53 + 1, 8999999999999999999, math.MaxInt64 - 1, math.MaxInt64} {
			x := &store.Record{Scope: "s", Key: "a", CreatedAt: time.UnixMilli(1), UpdatedAt: time.UnixMilli(1), ExpiresAt: time.UnixMilli(1)}
			x.State, x.Fence, x.Attempts, x.Owner = idem.StateProcessing, n, n, "w1"
			put(t, s, "a", x)
			settled, err := s.Settle(t.Context(), []store.Settlement{{Lease: store.Lease{Scope: "s", Key: "a", Fence: n, Owner: "w1"}, State: idem.StateFailed, GiveBack: true}})
			if err != nil || settled[0] != store.SettledWritten {
				t.Fatalf("%d: %v %v", n, settled, err)
			}
			if r := one(t, s, "a"); r.Attempts != n-1 || r.Fence != n {
				t.Errorf("%d given back is %d, under fence %d", n, r.Attempts, r.Fence)
			}
			if forgotten, err := s.Forget(t.Context(), "s", []string{"a"}); err != nil || forgotten != 1 {
				t.Fatal(forgotten, err)
			}
			want := int64(math.MaxInt64)
			if n < want {
				want = n + 1
			}
			if r := one(t, s, "a"); r.Fence != want {
				t.Errorf("the fence after %d is %d", n, r.Fence)
			}
		}
	})
}

func one(t *testing.T, s *Store, key string) *store.Record {
	t.Helper()
	records, err := s.Records(t.Context(), "s", []string{key})
	if err != nil || records[0] == nil {
		t.Fatal(records, err)
	}
	return records[0]
}
