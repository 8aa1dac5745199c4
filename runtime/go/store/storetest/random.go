package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

var randomBehaviours = []behaviour{
	{name: "random operations answer as the model does", check: func(w *world) { w.random(1, true) }},
	{name: "random operations over the retention answer as the model does", needs: []Capability{MovableClock, Cleaning, Tombstones},
		check: func(w *world) { w.random(2, false) }},
}

// random runs sequences of operations on the store and on the model. All of them are on the same store,
// each in a scope of its own; what is global to a store (due rows, dead letters) is emptied in between.
func (w *world) random(stream uint64, lanes bool) {
	for seed := range uint64(w.Seeds) {
		p := &play{world: w, m: new(model), random: rand.New(rand.NewPCG(seed, stream)), scope: fmt.Sprintf("random-%d", seed), ids: make(map[int64]int), jumps: !lanes}
		p.lanes = lanes && w.without(Lanes) == ""
		p.rows, p.letters = w.Store.FollowUps() && w.without(retries) == "", w.Store.FollowUps() && w.without(deadLetters) == ""
		p.dual, p.clock = w.without(DualKeys) == "", w.without(MovableClock) == ""
		p.run(seed)
		if w.t.Failed() {
			return
		}
	}
}

// play is one sequence.
type play struct {
	*world
	m                                        *model
	random                                   *rand.Rand
	scope                                    string
	ids                                      map[int64]int // of a row in the store: its order in the model
	tokens                                   int
	leases                                   []store.Grant
	claims                                   map[string]store.Claim // by owner
	marks                                    []store.Mark
	log                                      []string
	rows, letters, lanes, dual, clock, jumps bool
}

func (p *play) run(seed uint64) {
	defer func() {
		if p.t.Failed() {
			p.t.Logf("seed %d, the last operations:\n%s", seed, strings.Join(p.log[max(len(p.log)-40, 0):], "\n"))
		}
	}()
	p.claims = make(map[string]store.Claim)
	for range p.Steps {
		p.step()
		p.compare()
		if p.t.Failed() {
			return
		}
	}
	p.drain()
}

// one in n.
func (p *play) one(n int) bool { return p.random.IntN(n) == 0 }

func pick[T any](p *play, of ...T) T { return of[p.random.IntN(len(of))] }

func (p *play) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%4d %7s ", len(p.log), p.m.now)+fmt.Sprintf(format, args...))
}

func (p *play) differ(what string, got, want any) {
	p.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Fatalf("%s: the store says\n\t%v\nthe model\n\t%v", what, got, want)
	}
}

// crash runs an operation with a context that ends while it runs, and perhaps before.
func (p *play) crash(operation func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(p.ctx)
	if p.one(2) {
		cancel()
	} else {
		go cancel()
	}
	err := operation(ctx)
	cancel()
	if p.Quiet != nil {
		p.Quiet()
	}
	p.note("the reply is lost: %v", err)
}

func (p *play) step() {
	switch n := p.random.IntN(100); {
	case n < 30:
		p.doClaim()
	case n < 42:
		p.doComplete()
	case n < 62:
		p.doSettle()
	case n < 66:
		p.doRenew()
	case n < 76 && p.clock:
		d := time.Duration(pick(p, 20, 40, 60, 120, 1200)) * time.Second
		if p.jumps && p.one(8) {
			d = store.DefaultRetention + 24*time.Hour
			p.m.era++
		}
		p.note("the clock jumps by %v", d)
		p.m.now += d
		p.advance(d)
	case n < 79:
		key := p.key()
		p.note("forget %s", key)
		got, err := p.Store.Forget(p.ctx, p.scope, []string{key})
		p.fine(err)
		p.differ("forget", got, p.m.forget(p.scope, key))
	case n < 81 && p.jumps:
		p.note("clean")
		_, err := p.Store.Clean(p.ctx, 100000) // those of the sequences before, too
		p.fine(err)
		p.m.clean()
	case n < 91 && p.rows:
		p.doSchedule()
	case n < 95 && p.rows:
		p.doLook()
	case p.letters:
		p.doLetters()
	}
}

func (p *play) fine(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) key() string { return fmt.Sprintf("k%d", p.random.IntN(5)) }

// lane is that of a key: three keys share one.
func (p *play) laneOf(key string) store.Lane {
	if !p.lanes || key == "k4" {
		return store.Lane{}
	}
	if key == "k3" {
		return store.Lane{Topic: origin, BizKey: "lane-2"}
	}
	return store.Lane{Topic: origin, BizKey: "lane-1"}
}

func (p *play) doClaim() {
	claims := make([]store.Claim, 1+p.random.IntN(4))
	for i := range claims {
		key := p.key()
		c := store.Claim{
			Scope: p.scope, Key: key, Owner: p.owner(), Fingerprint: pick(p, "", "", print1, print1, print1, print2, otherPrint),
			RedriveCount: pick[int32](p, 0, 0, 0, 0, 1, 2), RetryCount: pick[int32](p, 0, 0, 0, 1, 2, 3), HoldCount: pick[int32](p, 0, 0, 0, 1),
			MaxAttempts: 4, Lease: 50 * time.Second, Old: p.one(8), Lane: p.laneOf(key),
		}
		if r := p.m.find(p.scope, key); r != nil && p.one(2) { // the delivery that is to come
			c.RedriveCount, c.RetryCount, c.HoldCount = int32(r.redrive), r.retry, r.hold
			if r.state == "DEAD" && p.one(2) {
				c.RedriveCount++
			}
		}
		if p.dual && p.one(4) {
			c.Previous = pick(p, "p"+key, "p"+key, p.key())
		}
		if p.dual && p.one(10) {
			c.Key, c.Lane = "p"+key, store.Lane{}
		}
		if len(p.leases) > 0 && p.one(10) { // a reply that was lost some time ago
			c = p.claims[pick(p, p.leases...).Lease.Owner]
			if c.Owner == "" {
				c = store.Claim{Scope: p.scope, Key: key, Owner: p.owner(), MaxAttempts: 4, Lease: 50 * time.Second, Lane: p.laneOf(key)}
			}
		}
		claims[i] = c
	}
	if p.one(4) && apart(claims) {
		p.note("claim %d", len(claims))
		p.crash(func(ctx context.Context) error {
			_, err := p.Store.Claim(ctx, claims)
			return err
		})
	}
	grants, err := p.Store.Claim(p.ctx, claims)
	p.fine(err)
	want := p.m.claim(claims, mapped(grants, func(g store.Grant) bool { return kind(g) == "IN_PROGRESS" }))
	for i, g := range grants {
		c := claims[i]
		p.note("claim %s+%s by %s at %d/%d+%d print %q old %v: %s", c.Key, c.Previous, c.Owner, c.RedriveCount, c.RetryCount, c.HoldCount, c.Fingerprint, c.Old, answerOf(g))
		if got := answerOf(g); kind(g) != "IN_PROGRESS" || want[i] != "IN_PROGRESS" && !p.unheard(&c) {
			p.differ(fmt.Sprintf("claim %d of %+v", i, c), got, want[i])
		}
		if g.Lease.Held() {
			p.leases = append(p.leases, g)
			p.claims[c.Owner] = c
		}
	}
	if len(p.leases) > 12 {
		p.leases = p.leases[len(p.leases)-12:]
	}
}

// unheard says that the memory may not know yet that a claim of the key has ended.
func (p *play) unheard(c *store.Claim) bool {
	r := p.m.find(c.Scope, c.Key)
	return p.Memory && r != nil && r.state == "SUCCESS" && p.m.now < r.ended
}

// apart says that no claim of a batch can change the answer to another when the batch is asked again.
func apart(claims []store.Claim) bool {
	seen := make(map[string]bool)
	for _, c := range claims {
		if seen[c.Key] || c.Dual() {
			return false
		}
		seen[c.Key] = true
	}
	return true
}

// lease takes a lease that is, or was, held; most are used once.
func (p *play) lease() (store.Grant, bool) {
	if len(p.leases) == 0 {
		return store.Grant{}, false
	}
	i := p.random.IntN(len(p.leases))
	g := p.leases[i]
	if !p.one(4) {
		p.leases = slices.Delete(p.leases, i, i+1)
	}
	return g, true
}

func (p *play) doComplete() {
	g, ok := p.lease()
	if !ok {
		return
	}
	c := store.Completion{Lease: g.Lease, Result: fmt.Append(nil, "result ", len(p.log)), Lane: p.laneOf(g.Lease.Key), Head: g.Head}
	p.note("complete %+v head %v", g.Lease, g.Head)
	crashed := p.one(8)
	if crashed {
		p.crash(func(ctx context.Context) error {
			_, err := p.Store.Complete(ctx, []store.Completion{c})
			return err
		})
	}
	done, err := p.Store.Complete(p.ctx, []store.Completion{c})
	p.fine(err)
	want := p.m.complete(c)
	if crashed && want { // it may have been written the first time
		return
	}
	p.differ("complete", done[0], want)
}

func (p *play) doRenew() {
	g, ok := p.lease()
	if !ok || p.jumps {
		return
	}
	r := store.Renewal{Lease: g.Lease, For: 90 * time.Second} // never less than is left
	p.note("renew %+v", g.Lease)
	done, err := p.Store.Renew(p.ctx, []store.Renewal{r})
	p.fine(err)
	p.differ("renew", done[0], p.m.renew(r))
}

func (p *play) doSettle() {
	var x store.Settlement
	g, ok := p.lease()
	key, offset := p.key(), p.random.Int64N(4)
	if ok && !p.one(4) {
		key = g.Lease.Key
		x.Lease, x.State = g.Lease, idem.StateFailed
		c := p.claims[g.Lease.Owner]
		x.RedriveCount, x.RetryCount, x.HoldCount = c.RedriveCount, g.Counts.Retry, g.Counts.Hold
	} else if !p.rows || !p.letters {
		return
	}
	lane := p.laneOf(key)
	what := pick(p, "retry", "retry", "retry", "hold", "defer", "die", "die", "in place", "park", "leave")
	if x.Lease.Owner == "" && x.Lease.Held() {
		what = "die"
	}
	row := retry(key, offset, due(pick(p, 0, 50*time.Second, 610*time.Second)))
	row.Scope, row.BizKey = p.scope, lane.BizKey
	switch what {
	case "retry":
		x.RetryCount++
		x.Retry = row
	case "hold":
		x.HoldCount++
		x.Retry, x.Leave, x.GiveBack = row, true, x.Lease.Held()
		row.Action = idem.ActionHold
	case "defer":
		x.Retry, x.GiveBack = row, x.Lease.Held()
		row.Action = idem.ActionDefer
	case "die":
		x.State = idem.StateDead
		x.DeadLetter = deadLetter(key, offset)
		x.DeadLetter.Scope, x.DeadLetter.RedriveCount = p.scope, x.RedriveCount
		x.DeadLetter.Reason = fmt.Sprint("reason ", len(p.log))
	case "in place":
		if !x.Lease.Held() {
			return
		}
		x.Kept = idem.Counts{Retry: x.RetryCount + 1}
	case "park":
		x = store.Settlement{Retry: row}
		row.Park, row.Action = true, idem.ActionDefer
		row.Due = 0
	case "leave":
		x = store.Settlement{Lease: store.Lease{Scope: p.scope, Key: key}, Leave: true}
	}
	if !p.rows {
		x.Retry = nil
	}
	if !p.letters {
		x.DeadLetter = nil
	}
	if x.Lease.Scope == "" && x.Retry == nil && x.DeadLetter == nil || !p.rows && !x.Lease.Held() {
		return
	}
	if !x.Lease.Held() && x.Retry != nil {
		x.RetryCount, x.RedriveCount = pick[int32](p, 0, 1, 2), pick[int32](p, 0, 0, 1)
	}
	row.RedriveCount, row.RetryCount, row.HoldCount = x.RedriveCount, x.RetryCount, x.HoldCount
	x.Lane = lane
	p.note("%s %s %+v from offset %d at %d/%d+%d", what, key, x.Lease, offset, x.RedriveCount, x.RetryCount, x.HoldCount)
	crashed := p.one(8) && (x.Lease.Held() || !x.Leave) // leaving twice is not the same as once
	if crashed {
		p.crash(func(ctx context.Context) error {
			_, err := p.Store.Settle(ctx, []store.Settlement{x})
			return err
		})
	}
	settled, err := p.Store.Settle(p.ctx, []store.Settlement{x})
	p.fine(err)
	want := p.m.settle(x)
	p.note("  %s", settledName(settled[0]))
	if crashed && x.Lease.Held() && want == "written" && settled[0] == store.SettledFenced {
		return // it was written the first time
	}
	p.differ(what, settledName(settled[0]), want)
}

// nameOf is a row in the words of both.
func nameOf(r *store.Retry) string {
	return fmt.Sprintf("%s from %d at %d/%d+%d %s %q", r.Key, r.SourceOffset, r.RedriveCount, r.RetryCount, r.HoldCount, r.Action, r.Payload)
}

func (p *play) claimDue() ([]store.Retry, []*mRow) {
	p.tokens++
	token := fmt.Sprintf("%s-%d", p.scope, p.tokens)
	rows, err := p.retries().ClaimDue(p.ctx, token, 1000, 50*time.Second)
	p.fine(err)
	want := p.m.dueRows(token, 50*time.Second)
	a := mapped(rows, func(r store.Retry) string { return nameOf(&r) })
	b := mapped(want, func(r *mRow) string { return nameOf(&r.Retry) })
	slices.Sort(a)
	slices.Sort(b)
	p.note("due: %v", a)
	p.differ("due rows", a, b)
	for i := range rows {
		for _, m := range want {
			if nameOf(&rows[i]) == nameOf(&m.Retry) {
				p.ids[rows[i].ID] = m.order
			}
		}
	}
	return rows, want
}

// doSchedule claims what is due, and marks some rows now, some later, with a token that may be old by then.
func (p *play) doSchedule() {
	if p.one(2) {
		rows, _ := p.claimDue()
		for i := range rows {
			p.marks = append(p.marks, store.MarkOf(&rows[i]))
		}
	}
	for range 3 {
		if len(p.marks) == 0 {
			return
		}
		i := p.random.IntN(len(p.marks))
		k := p.marks[i]
		if p.one(3) { // a scheduler that tries twice
			k.Position += int64(pick(p, 0, 1))
		} else {
			p.marks = slices.Delete(p.marks, i, i+1)
		}
		row := p.m.marked(k, p.ids)
		if p.one(4) {
			p.note("postpone %+v", k)
			p.fine(p.retries().Postpone(p.ctx, []store.Mark{k}, 70*time.Second))
			if row != nil {
				row.token, row.claimed, row.at = "", 0, p.m.now+70*time.Second
			}
			continue
		}
		p.note("mark %+v", k)
		done, err := p.retries().MarkPublished(p.ctx, []store.Mark{k})
		p.fine(err)
		p.differ("mark", done[0], row != nil)
		if row != nil {
			p.m.rows = slices.DeleteFunc(p.m.rows, func(x *mRow) bool { return x == row })
		}
	}
}

// doLook sweeps, wakes, and asks for the next due time.
func (p *play) doLook() {
	if p.lanes && p.one(2) {
		n, err := p.retries().SweepLanes(p.ctx, 1000)
		p.fine(err)
		p.note("sweep: %d", n)
		p.differ("sweep", n, p.m.sweep())
		return
	}
	if p.one(2) {
		biz := pick(p, "lane-1", "lane-2", "")
		n, err := p.retries().Wake(p.ctx, p.scope, biz)
		p.fine(err)
		p.note("wake %q: %d", biz, n)
		p.differ("wake", n, p.m.wake(p.scope, biz))
		return
	}
	got, there, err := p.retries().NextDue(p.ctx)
	p.fine(err)
	want, wantThere := p.m.next()
	if there != wantThere || got < 0 || (got-want).Abs() > 8*time.Second {
		p.t.Fatalf("next due: the store says %v, %v, the model %v, %v", got, there, want, wantThere)
	}
}

func (p *play) doLetters() {
	found, err := p.deadLetters().ListDeadLetters(p.ctx, store.DeadLetterFilter{Scope: p.scope}, 0, 1000)
	p.fine(err)
	if len(found) == 0 {
		return
	}
	d := pick(p, found...)
	mine := p.letter(&d)
	if p.one(4) {
		p.note("drop the dead letter of %s from %d", d.Key, d.SourceOffset)
		n, err := p.deadLetters().DropDeadLetters(p.ctx, []int64{d.ID})
		p.fine(err)
		p.differ("drop", n, 1)
		p.m.letters = slices.DeleteFunc(p.m.letters, func(x *mLetter) bool { return x == mine })
		return
	}
	if !p.rows {
		return
	}
	row := retry(d.Key, d.SourceOffset)
	row.Scope, row.BizKey, row.Action = p.scope, p.laneOf(d.Key).BizKey, idem.ActionRedrive
	row.RedriveCount, row.RetryCount = d.RedriveCount+1, 0
	p.note("redrive %s from %d", d.Key, d.SourceOffset)
	for _, want := range []bool{true, false} {
		done, err := p.deadLetters().Redrive(p.ctx, []int64{d.ID}, []store.Retry{*row})
		p.fine(err)
		p.differ("redrive", done[0], want)
	}
	p.m.put(*row, false, store.Lane{})
	mine.redriven = true
}

func (p *play) letter(d *store.DeadLetter) *mLetter {
	for _, x := range p.m.letters {
		if x.Scope == d.Scope && x.SourceOffset == d.SourceOffset && x.Key == d.Key {
			return x
		}
	}
	p.t.Fatalf("the model has no dead letter of %s from %d", d.Key, d.SourceOffset)
	return nil
}

// compare looks at everything that can be read.
func (p *play) compare() {
	p.t.Helper()
	var keys []string
	for n := range 5 {
		keys = append(keys, fmt.Sprintf("k%d", n), fmt.Sprintf("pk%d", n))
	}
	records, err := p.Other.Records(p.ctx, p.scope, keys)
	p.fine(err)
	for i, r := range records {
		got, want := "none", "none"
		if r != nil {
			got = fmt.Sprintf("%s fence %d attempts %d at %d/%d (%d+%d) print %q result %q", r.State, r.Fence, r.Attempts, r.RedriveCount, r.Position, r.RetryCount, r.HoldCount, r.Fingerprint, r.Result)
			if r.State == idem.StateProcessing {
				got += " owner " + r.Owner
			}
		}
		if m := p.m.find(p.scope, keys[i]); m != nil {
			want = fmt.Sprintf("%s fence %d attempts %d at %d/%d (%d+%d) print %q result %q", m.state, m.fence, m.attempts, m.redrive, m.position, m.retry, m.hold, m.fingerprint, m.result)
			if m.state == "PROCESSING" {
				want += " owner " + m.owner
				if r != nil {
					left := time.UnixMilli(r.LeaseUntilMs).Sub(p.now())
					if (left - (m.until - p.m.now)).Abs() > 8*time.Second {
						p.t.Fatalf("lease of %s: %v is left in the store, %v in the model", keys[i], left, m.until-p.m.now)
					}
				}
			}
		}
		p.differ("record of "+keys[i], got, want)
	}
	if p.rows {
		c := p.counted()
		pending, parked := p.m.counts()
		p.differ("rows pending and parked", fmt.Sprint(c.Pending, c.Parked), fmt.Sprint(pending, parked))
	}
	if p.letters {
		found, err := p.deadLetters().ListDeadLetters(p.ctx, store.DeadLetterFilter{Scope: p.scope, Redriven: true}, 0, 1000)
		p.fine(err)
		slices.SortFunc(p.m.letters, func(a, b *mLetter) int { return a.order - b.order })
		name := func(d *store.DeadLetter, redriven bool) string {
			return fmt.Sprintf("%s from %d life %d %s redriven %v", d.Key, d.SourceOffset, d.RedriveCount, d.Reason, redriven)
		}
		p.differ("dead letters", mapped(found, func(d store.DeadLetter) string { return name(&d, !d.RedrivenAt.IsZero()) }),
			mapped(p.m.letters, func(d *mLetter) string { return name(&d.DeadLetter, d.redriven) }))
	}
}

// drain ends a sequence: every row becomes due and is marked, lanes are left, until nothing is left.
func (p *play) drain() {
	if !p.rows || !p.clock {
		return
	}
	for n := 0; len(p.m.rows)+len(p.m.lanes) > 0; n++ {
		if n > 200 {
			p.t.Fatalf("%d rows are never due, and %d lanes never over", len(p.m.rows), len(p.m.lanes))
		}
		p.m.now += 40 * time.Minute
		p.advance(40 * time.Minute)
		rows, want := p.claimDue()
		for i := range rows {
			done, err := p.retries().MarkPublished(p.ctx, []store.Mark{store.MarkOf(&rows[i])})
			p.fine(err)
			p.differ("mark", done[0], true)
		}
		p.m.rows = slices.DeleteFunc(p.m.rows, func(x *mRow) bool { return slices.Contains(want, x) })
		for _, l := range slices.Clone(p.m.lanes) {
			x := store.Settlement{Lease: store.Lease{Scope: l.scope, Key: l.head}, Lane: l.Lane, Leave: true}
			p.settle(store.SettledWritten, x)
			p.m.settle(x)
		}
		p.compare()
	}
	if p.letters {
		found, err := p.deadLetters().ListDeadLetters(p.ctx, store.DeadLetterFilter{Scope: p.scope, Redriven: true}, 0, 1000)
		p.fine(err)
		_, err = p.deadLetters().DropDeadLetters(p.ctx, mapped(found, func(d store.DeadLetter) int64 { return d.ID }))
		p.fine(err)
	}
}
