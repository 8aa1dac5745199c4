package consumer

import "github.com/idem-spec/idem/runtime/go/guard"

// giveBack returns claims that never began, and puts their tasks where they belong now.
func (e *engine) giveBack(back []*task) {
	ds := make([]*guard.Delivery, len(back))
	alone := make([]bool, len(back))
	for i, t := range back {
		ds[i], alone[i] = &t.d, t.d.Alone || t.alone
	}
	if err := e.guard.GiveBack(e.base, ds); err != nil {
		e.warn("claims not given back: their leases run out by themselves", "error", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(back) - 1; i >= 0; i-- { // to the front, so that they keep their order
		t := back[i]
		e.probeLost(t)
		if t.part.share.revoked {
			e.abandon(t)
			continue
		}
		e.land(t)
		if alone[i] {
			t.state = waiting
			e.suspects.pushFront(t)
			e.claimers.Signal()
			continue
		}
		e.waitFirst(t)
	}
}

// recall gives back what is claimed and has not begun, in the workers' chunks too: of a route that rests, or of a
// share that is revoked. The caller holds the lock.
func (e *engine) recall(r *route, wanted func(*task) bool) {
	cut := false
	for _, w := range e.crew {
		if w.route == r {
			cut = w.cut() || cut
		}
	}
	if cut {
		e.workers.Signal() // for what is not wanted back
	}
	var back []*task
	r.runnable.keep(func(t *task) bool {
		if wanted(t) {
			t.state = claiming
			back = append(back, t)
			return false
		}
		return true
	})
	if len(back) == 0 {
		return
	}
	e.side.Add(1)
	go func() {
		defer e.side.Done()
		e.giveBack(back)
	}()
}
