package consumer

import (
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// waker makes due now what waits for a state that has moved. It is under the engine's lock. (STATE-012)
type waker struct {
	on    bool
	keys  map[string]struct{}
	ready chan struct{}
}

// wakesAtMost bounds what is remembered; what is not falls due by itself, later.
const wakesAtMost = 100_000

// add takes note of a message that moved a state.
func (w *waker) add(t *task) {
	if !w.on || t.route.State == nil || t.d.BizKey == "" || t.d.Status != guard.Ended || t.d.Result.Outcome != idem.OutcomeOK || len(w.keys) >= wakesAtMost {
		return
	}
	if w.keys == nil {
		w.keys = make(map[string]struct{})
	}
	w.keys[t.d.BizKey] = struct{}{}
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// wakeLoop wakes, beside all else: that it is late or lost costs time alone.
func (e *engine) wakeLoop(retries store.Retries) {
	defer e.side.Done()
	for {
		select {
		case <-e.waker.ready:
		case <-e.base.Done():
			return
		}
		e.mu.Lock()
		keys := e.waker.keys
		e.waker.keys = nil
		e.mu.Unlock()
		for key := range keys {
			if _, err := retries.Wake(e.base, e.config.Scope, key); err != nil {
				if e.base.Err() == nil {
					e.warn("held messages not woken: they are tried again when they fall due", "error", err)
				}
				break
			}
		}
		if e.rowsDue != nil {
			e.rowsDue()
		}
	}
}
