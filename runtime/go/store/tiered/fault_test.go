package tiered_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

// unsure is a memory that fails in every way a network has: before it does anything, after it did it, and by
// doing it much later. While it is asked, others act.
type unsure struct {
	tiered.Hint
	w *world
}

var errNetwork = errors.New("network")

func (u unsure) do(op func(ctx context.Context) error) error {
	w := u.w
	w.interleave()
	defer w.interleave()
	switch n := w.r.IntN(100); {
	case w.healed || n < 60:
		return op(context.Background())
	case n < 72:
		return errNetwork
	case n < 86:
		_ = op(context.Background())
		return errNetwork
	default:
		w.late = append(w.late, func() { _ = op(context.Background()) })
		return errNetwork
	}
}

func (u unsure) Look(_ context.Context, claims []store.Claim) (grants []store.Grant, err error) {
	claims = slices.Clone(claims)
	err = u.do(func(ctx context.Context) (err error) {
		grants, err = u.Hint.Look(ctx, claims)
		return err
	})
	return grants, err
}

func (u unsure) Succeeded(_ context.Context, completions []store.Completion) error {
	return u.do(func(ctx context.Context) error { return u.Hint.Succeeded(ctx, completions) })
}

func (u unsure) Failed(_ context.Context, leases []store.Lease) error {
	return u.do(func(ctx context.Context) error { return u.Hint.Failed(ctx, leases) })
}

func (u unsure) Extended(_ context.Context, renewals []store.Renewal) error {
	return u.do(func(ctx context.Context) error { return u.Hint.Extended(ctx, renewals) })
}

func (u unsure) Forgotten(_ context.Context, leases []store.Lease) error {
	// It waits for the replicas: what a failover brings back is from after it.
	return u.do(func(ctx context.Context) error {
		err := u.Hint.Forgotten(ctx, leases)
		u.w.save()
		return err
	})
}

// world is messages of a few keys, workers that handle them and crash, and a Redis that loses what it likes.
// Redis' own time and the database's are one.
type world struct {
	t      *testing.T
	r      *rand.Rand
	now    time.Time
	redis  *miniredis.Miniredis
	s      *tiered.Store[*memory.Tx]
	healed bool
	depth  int
	late   []func()
	saved  map[string]hash // what the replica has

	deliveries []*delivery
	running    []*run
	effects    map[string]int
	forgets    map[string]int
	owed       map[string]int // the effects of a key once all is done, at least
	owners     int
	log        []string
}

type hash struct {
	fields  map[string]string
	expires time.Time
}

// delivery is one that the broker will give again until it is acknowledged.
type delivery struct {
	key   string
	retry int32
	over  bool
}

type run struct {
	d     *delivery
	grant store.Grant
}

const (
	scope = "payments"
	lease = time.Minute
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 5)), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		effects: map[string]int{}, forgets: map[string]int{}, owed: map[string]int{},
	}
	m, hints := front(t, func() time.Time { return w.now })
	w.redis = m
	config := patient
	config.Failures, config.Now = 1<<30, func() time.Time { return w.now } // ask it again and again
	w.s = tiered.New(unsure{hints, w}, memory.New(memory.Config{Now: func() time.Time { return w.now }}), config)
	for i := range 3 {
		w.publish(fmt.Sprint("k", i))
	}
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) publish(key string) {
	w.deliveries = append(w.deliveries, &delivery{key: key})
	w.owed[key] = max(w.owed[key], 1)
}

// interleave has others act in the middle of an operation.
func (w *world) interleave() {
	if w.depth < 2 && w.r.IntN(4) == 0 {
		w.depth++
		w.step()
		w.depth--
	}
}

func (w *world) step() {
	switch n := w.r.IntN(100); {
	case n < 40:
		w.deliver()
	case n < 70:
		w.finish()
	case n < 76:
		w.pass(time.Duration(1+w.r.IntN(80)) * time.Second)
	case n < 80 && len(w.deliveries) < 12 && !w.healed:
		w.publish(w.deliveries[w.r.IntN(len(w.deliveries))].key) // a copy, by a producer that was not sure
	case n < 84 && !w.healed:
		w.forget()
	case n < 92:
		w.catchUp(1)
	case !w.healed:
		w.lose()
	}
}

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.redis.SetTime(w.now)
}

// catchUp has commands executed that were on their way for long.
func (w *world) catchUp(n int) {
	for ; n > 0 && len(w.late) > 0; n-- {
		i := w.r.IntN(len(w.late))
		op := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		w.note("a late command is executed")
		op()
	}
}

// lose flushes, evicts, or fails over to a replica that is behind.
func (w *world) lose() {
	switch w.r.IntN(4) {
	case 0:
		w.note("flush")
		w.redis.FlushAll()
	case 1:
		if keys := w.redis.Keys(); len(keys) > 0 {
			w.note("evict %s", keys[0])
			w.redis.Del(keys[w.r.IntN(len(keys))])
		}
	case 2:
		w.save()
	case 3:
		w.note("failover: the last writes are gone")
		w.redis.FlushAll()
		for key, h := range w.saved {
			if left := h.expires.Sub(w.now); left > 0 {
				for name, value := range h.fields {
					w.redis.HSet(key, name, value)
				}
				w.redis.SetTTL(key, left)
			}
		}
	}
}

// save brings the replica up to date.
func (w *world) save() {
	w.saved = map[string]hash{}
	for _, key := range w.redis.Keys() {
		h := hash{map[string]string{}, w.now.Add(w.redis.TTL(key))}
		names, _ := w.redis.HKeys(key)
		for _, name := range names {
			h.fields[name] = w.redis.HGet(key, name)
		}
		w.saved[key] = h
	}
}

func (w *world) deliver() {
	var open []*delivery
	for _, d := range w.deliveries {
		if !d.over {
			open = append(open, d)
		}
	}
	if len(open) == 0 {
		return
	}
	d := open[w.r.IntN(len(open))]
	w.owners++
	c := store.Claim{Scope: scope, Key: d.key, Owner: fmt.Sprint("w", w.owners), Fingerprint: "00000001-0000000000000001",
		RetryCount: d.retry, MaxAttempts: 1 << 40, Lease: lease}
	grants, err := w.s.Claim(context.Background(), []store.Claim{c})
	if err != nil {
		w.t.Fatalf("the memory's failure became the claim's: %v", err)
	}
	w.note("%s/%d by %s: %v fence %d", d.key, d.retry, c.Owner, grants[0].Kind, grants[0].Fence)
	switch grants[0].Kind {
	case idem.AdmitProceed:
		w.running = append(w.running, &run{d, grants[0]})
	case idem.AdmitDuplicate, idem.AdmitStale:
		d.over = true
	case idem.AdmitInProgress:
	default:
		w.t.Fatalf("%v", grants[0].Kind)
	}
}

func (w *world) finish() {
	if len(w.running) == 0 {
		return
	}
	i := w.r.IntN(len(w.running))
	x := w.running[i]
	w.running = slices.Delete(w.running, i, i+1)
	ctx := context.Background()
	switch n := w.r.IntN(10); {
	case n < 4 || w.healed:
		err := w.s.InTx(ctx, func(ctx context.Context, tx *memory.Tx) error {
			tx.Do(func() { w.effects[x.d.key]++ })
			return w.s.CompleteTx(ctx, tx, store.Completion{Lease: x.grant.Lease, Result: []byte("r")})
		})
		w.note("%s by %s commits: %v", x.d.key, x.grant.Lease.Owner, err)
		if err == nil {
			x.d.over = true
		}
	case n < 6:
		own := errors.New("the commit fails")
		err := w.s.InTx(ctx, func(ctx context.Context, tx *memory.Tx) error {
			tx.Do(func() { w.effects[x.d.key]++ })
			if err := w.s.CompleteTx(ctx, tx, store.Completion{Lease: x.grant.Lease}); err != nil {
				return err
			}
			return own
		})
		w.note("%s by %s does not commit: %v", x.d.key, x.grant.Lease.Owner, err)
	case n < 8:
		settled, err := w.s.Settle(ctx, []store.Settlement{{Lease: x.grant.Lease, State: idem.StateFailed, RetryCount: x.d.retry + 1}})
		if err != nil {
			w.t.Fatal(err)
		}
		w.note("%s by %s fails: %v", x.d.key, x.grant.Lease.Owner, settled[0])
		if settled[0] == store.SettledWritten {
			x.d.over = true
			w.deliveries = append(w.deliveries, &delivery{key: x.d.key, retry: x.d.retry + 1})
		}
	case n < 9:
		if _, err := w.s.Renew(ctx, []store.Renewal{{Lease: x.grant.Lease, For: lease}}); err != nil {
			w.t.Fatal(err)
		}
		w.running = append(w.running, x)
	default:
		w.note("%s by %s crashes", x.d.key, x.grant.Lease.Owner)
	}
}

// forget makes a key new, as an operator does who repeats it until it works, and sends its message again.
func (w *world) forget() {
	key := fmt.Sprint("k", w.r.IntN(3))
	before := w.effects[key]
	for {
		w.forgets[key]++
		_, err := w.s.Forget(context.Background(), scope, []string{key})
		w.note("forget %s: %v", key, err)
		if err == nil {
			break
		}
		if !errors.Is(err, tiered.ErrHintsRemain) {
			w.t.Fatal(err)
		}
	}
	w.owed[key] = before + 1
	w.deliveries = append(w.deliveries, &delivery{key: key})
}

func (w *world) check() {
	w.t.Helper()
	for key, n := range w.effects {
		if n > 1+w.forgets[key] {
			w.t.Errorf("%s had %d effects, and was forgotten %d times", key, n, w.forgets[key])
		}
	}
	if w.t.Failed() {
		w.t.Fatalf("history:\n%s", strings.Join(w.log, "\n"))
	}
}

// drain lets everything come to its end, with a memory that works again.
func (w *world) drain() {
	w.healed = true
	w.catchUp(len(w.late))
	for range 2000 {
		w.step()
	}
	for _, d := range w.deliveries {
		if !d.over {
			w.t.Errorf("%s/%d never ended", d.key, d.retry)
		}
	}
	for key, n := range w.owed {
		if w.effects[key] < n {
			w.t.Errorf("%s had %d effects, and %d were owed: a message is lost", key, w.effects[key], n)
		}
	}
	w.check()
}

// Whatever the memory loses, delays or says twice: no second effect, nothing lost, no failure that is not the
// database's own. (DEDUP-031)
func TestLossesOfTheMemoryNeverDoubleAnEffectNorLoseOne(t *testing.T) {
	t.Parallel()
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	for seed := range uint64(seeds) {
		w := newWorld(t, seed)
		for range 120 {
			w.step()
			w.check()
		}
		w.drain()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		w.redis.Close()
	}
}
