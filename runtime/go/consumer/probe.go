package consumer

import "time"

// takeProbe takes the delivery that shows whether a route that rests works again. The caller holds the lock.
func (e *engine) takeProbe(r *route, now time.Time) *task {
	if r.breaker.state != breakerOpen || now.Before(r.breaker.until) {
		return nil
	}
	r.waiting.keep(func(t *task) bool {
		if t.dropped {
			e.recycle(t)
			return false
		}
		return true
	})
	found := -1
	for i := range r.waiting.len() {
		if r.breaker.admits(r.waiting.at(i).d.Key, now, false) {
			found = i
			break
		}
	}
	if found < 0 && r.waiting.len() > 0 && r.breaker.admits(r.waiting.at(0).d.Key, now, true) {
		found = 0
	}
	if found < 0 {
		return nil
	}
	t := r.waiting.at(found)
	r.waiting.keep(func(other *task) bool { return other != t })
	t.probe = r.breaker.starts(t.d.Key)
	return t
}

// probeLost takes note of a probe that never came to its handler: another one may go. The caller holds the
// lock.
func (e *engine) probeLost(t *task) {
	if t.probe {
		t.probe = false
		t.route.breaker.ends(t.d.Key, neither, true, time.Now())
		e.claimers.Signal()
	}
}

// resting says that a delivery of the route that is claimed is not to begin. The caller holds the lock.
func (r *route) resting(t *task) bool {
	return r.paused || r.breaker.state != breakerClosed && !t.probe
}
