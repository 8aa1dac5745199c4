package guard

import (
	"context"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// beat is a delivery's place among those whose leases are renewed.
type beat struct {
	index  int // in beats.running, from 1; 0 where it is not among them
	run    uint64
	lease  store.Lease
	length time.Duration
	next   time.Time // when to renew
	until  time.Time // when the lease is over, unless it is renewed
	ctx    *handling // the handler's
}

// beats renews the leases of the running handlers of mode Idempotent, at a third of each, many in one call, and
// stops at the handler's time limit. Between two calls there is a timer and no goroutine. (DEDUP-028)
type beats struct {
	mu      sync.Mutex
	running []*Delivery
	runs    uint64
	timer   *time.Timer
	armed   bool
}

// ticks is how many times a lease's length the timer fires.
const ticks = 12

func (b *beats) add(g *Guard, d *Delivery, h *handling) {
	length := g.c.Lease
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs++
	b.running = append(b.running, d)
	d.beat = beat{
		index: len(b.running), run: b.runs, lease: d.Grant.Lease, length: length, next: d.claimed.Add(length / 3),
		until: d.claimed.Add(length), ctx: h,
	}
	if !b.armed {
		b.arm(g)
	}
}

// arm sets the timer. The caller holds the lock.
func (b *beats) arm(g *Guard) {
	b.armed = true
	tick := max(g.c.Lease/ticks, time.Millisecond)
	if b.timer == nil {
		b.timer = time.AfterFunc(tick, func() { b.tick(g) })
		return
	}
	b.timer.Reset(tick)
}

func (b *beats) remove(d *Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, last := d.beat.index-1, len(b.running)-1
	b.running[i] = b.running[last]
	b.running[i].beat.index = i + 1
	b.running[last] = nil
	b.running = b.running[:last]
	d.beat = beat{}
}

// due is one that is renewed: the delivery may be at another run when the answer is there.
type due struct {
	d   *Delivery
	run uint64
}

func (b *beats) tick(g *Guard) {
	var renewals []store.Renewal
	var of []due
	now := time.Now()
	wait := time.Duration(0)
	b.mu.Lock()
	for _, d := range b.running {
		if d.beat.next.After(now) || d.beat.ctx.limit.Before(now) || d.lost.Load() {
			continue
		}
		renewals = append(renewals, store.Renewal{Lease: d.beat.lease, For: d.beat.length})
		of = append(of, due{d, d.beat.run})
		wait = max(wait, d.beat.length/3)
	}
	b.mu.Unlock()
	var held []bool
	var err error
	if len(renewals) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		held, err = g.store.Renew(ctx, renewals)
		cancel()
	}
	if err != nil {
		g.storeError()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range of {
		t := &r.d.beat
		if t.index == 0 || t.run != r.run {
			continue
		}
		switch {
		case err != nil || len(held) != len(of):
			// Nobody knows: the next tick asks again. A lease that is over by all accounts ends the handler; what it
			// came to is still told under the claim, which the store knows.
			if !t.until.After(time.Now()) {
				t.ctx.cancel()
			}
		case held[i]:
			t.next, t.until = now.Add(t.length/3), now.Add(t.length)
		default:
			r.d.lost.Store(true)
			t.ctx.cancel()
		}
	}
	b.armed = false
	if len(b.running) > 0 {
		b.arm(g)
	}
}
