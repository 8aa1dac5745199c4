package consumer

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// claimLoop claims what waits.
func (e *engine) claimLoop() {
	defer e.wg.Done()
	var batch []*task
	var ds []*guard.Delivery
	for {
		if batch = e.takeWaiting(batch[:0]); len(batch) == 0 {
			return
		}
		started := time.Now()
		batch = e.claimAll(batch, &ds)
		e.claimed(batch, started)
		clear(batch)
	}
}

// takeWaiting waits for a batch; none says that the engine is stopped.
func (e *engine) takeWaiting(batch []*task) []*task {
	e.mu.Lock()
	defer e.mu.Unlock()
	gathered := e.config.Gather <= 0
	for !e.stopped {
		switch {
		case e.alone:
		case e.suspected():
			if t := e.takeAlone(); t != nil {
				return append(batch, t)
			}
		default:
			batch = e.fill(batch)
			if len(batch) == 0 {
				break
			}
			if gathered || len(batch) >= e.atOnce {
				return batch
			}
			gathered = true
			e.mu.Unlock()
			e.pause(e.config.Gather)
			e.mu.Lock()
			continue
		}
		if len(batch) > 0 {
			return batch
		}
		e.claimers.Wait()
	}
	for _, t := range batch {
		e.abandon(t)
	}
	return nil
}

// fill takes what the routes have room for, each route in its turn first. The caller holds the lock.
func (e *engine) fill(batch []*task) []*task {
	now := time.Time{}
	for i := range e.routes {
		r := e.routes[(e.next+i)%len(e.routes)]
		if r.paused {
			continue
		}
		if r.breaker.state != breakerClosed {
			if now.IsZero() {
				now = time.Now()
			}
			if t := e.takeProbe(r, now); t != nil {
				e.takeOff(t, claiming)
				r.claiming++
				batch = append(batch, t)
			}
			continue
		}
		room := r.ahead(e.config, e.atOnce) - r.runnable.len() - r.claiming
		for room > 0 && len(batch) < e.atOnce {
			t := r.waiting.pop()
			if t == nil {
				break
			}
			if t.dropped {
				e.recycle(t)
				continue
			}
			e.takeOff(t, claiming)
			r.claiming++
			batch = append(batch, t)
			room--
		}
	}
	e.next++
	e.resume()
	return batch
}

// aheadFor is for how long work is claimed ahead: no longer, since leases run while claims wait for a worker.
const aheadFor = 20 * time.Millisecond

// ahead is how many deliveries of a route may be claimed and not begun. The caller holds the lock.
func (r *route) ahead(c *Config, atOnce int) int {
	workers := c.Workers
	if r.Workers > 0 {
		workers = min(workers, r.Workers)
	}
	if r.batch != nil {
		return 2 * workers * r.BatchSize
	}
	per := max(r.handler, time.Microsecond)
	return min(max(workers*int(aheadFor/per), workers), 2*atOnce)
}

// claimAll claims a batch, however long the store takes to come back. It leaves out those whose partition is
// lost meanwhile.
func (e *engine) claimAll(batch []*task, buf *[]*guard.Delivery) []*task {
	for try := 0; len(batch) > 0; try++ {
		ds := (*buf)[:0]
		for _, t := range batch {
			ds = append(ds, &t.d)
		}
		err := e.guard.Claim(e.base, ds)
		clear(ds)
		*buf = ds
		if err == nil {
			e.outage.over(e, "claim")
			break
		}
		e.outage.begins(e, "claim", err)
		going := e.pause(backoff(try))
		e.mu.Lock()
		kept := batch[:0]
		for _, t := range batch {
			if going && !t.part.share.revoked {
				kept = append(kept, t)
				continue
			}
			t.route.claiming--
			e.probeLost(t)
			e.abandon(t)
		}
		batch = kept
		e.mu.Unlock()
	}
	return batch
}

// backoff is how long to wait for something that is down.
func backoff(try int) time.Duration {
	return min(50*time.Millisecond<<min(try, 10), 5*time.Second)
}

const (
	// fewAtOnce is the smallest limit of a batch that a quick store gets.
	fewAtOnce = 64
	// quickClaim is what a delivery of a batch takes with a store that is in this process.
	quickClaim = time.Microsecond
)

// resize fits how many deliveries go to the store at once to the n that took so long. A large batch spreads a round
// trip over many deliveries; where there is none to spread, it only has deliveries wait until they have left the
// processor's caches. Whoever has claims gather wants what Batch says. The caller holds the lock.
func (e *engine) resize(n int, took time.Duration) {
	if n < min(fewAtOnce, e.config.Batch) || e.config.Gather > 0 {
		return
	}
	if took < time.Duration(n)*quickClaim {
		e.atOnce = max(e.atOnce/2, min(fewAtOnce, e.config.Batch))
	} else if took > 2*time.Duration(n)*quickClaim {
		e.atOnce = min(2*e.atOnce, e.config.Batch)
	}
}

// claimed sorts a batch that the store has answered for.
func (e *engine) claimed(batch []*task, started time.Time) {
	var back []*task
	now := time.Now()
	e.mu.Lock()
	e.resize(len(batch), now.Sub(started))
	run, settle := 0, 0
	for _, t := range batch {
		r, d := t.route, &t.d
		r.claiming--
		switch {
		case d.Status != guard.Ready:
			e.probeLost(t)
			e.toSettle(t)
			settle++
		case t.part.share.revoked || r.resting(t) || d.Alone && !t.alone:
			back = append(back, t)
		case t.toStore:
			wait := max(t.due.Sub(now), 0)
			d.End(idem.Result{Outcome: idem.OutcomeInProgress, AfterMs: wait.Milliseconds()}, nil)
			e.probeLost(t)
			e.toSettle(t)
			settle++
		default:
			t.state = runnable
			r.runnable.push(t)
			run++
		}
	}
	if run > 0 {
		e.workers.Signal()
	}
	if settle > 0 {
		e.settlers.Signal()
	}
	e.mu.Unlock()
	if len(back) > 0 {
		e.giveBack(back)
	}
}
