package guard

import (
	"context"
	"sync"
	"time"
)

// handling is the context of a handler: it has the key, ends at the time limit, with its parent, or where the lease
// is lost. It is one allocation, and has a timer only once somebody waits for Done, which many handlers never do.
type handling struct {
	context.Context // the parent
	key             string
	kept            []byte // by Keep
	limit           time.Time

	mu     sync.Mutex
	err    error
	done   chan struct{} // nil: nobody waits yet
	timer  *time.Timer
	detach func() bool // from the parent
	after  map[*afterwards]struct{}
}

// afterwards is what AfterFunc was given.
type afterwards struct{ f func() }

type handlingKey struct{}

// Value answers for itself, and asks the parent for all else.
func (h *handling) Value(key any) any {
	if _, ok := key.(handlingKey); ok {
		return h
	}
	return h.Context.Value(key)
}

// Deadline is the time limit, or the parent's where that is earlier.
func (h *handling) Deadline() (time.Time, bool) {
	if t, ok := h.Context.Deadline(); ok && t.Before(h.limit) {
		return t, true
	}
	return h.limit, true
}

// Done arms what ends the context by itself.
func (h *handling) Done() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		h.done = make(chan struct{})
		if h.err != nil {
			close(h.done)
			return h.done
		}
		h.timer = time.AfterFunc(time.Until(h.limit), func() { h.end(context.DeadlineExceeded) })
		h.detach = context.AfterFunc(h.Context, func() { h.end(h.Context.Err()) })
	}
	return h.done
}

// Err looks at the clock and at the parent by itself, where nobody waits for Done.
func (h *handling) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look(time.Now())
	return h.err
}

// look finds out whether the context has ended. The caller holds the lock.
func (h *handling) look(now time.Time) {
	if h.err != nil {
		return
	}
	if err := h.Context.Err(); err != nil {
		h.endLocked(err)
	} else if !now.Before(h.limit) {
		h.endLocked(context.DeadlineExceeded)
	}
}

func (h *handling) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endLocked(err)
}

func (h *handling) endLocked(err error) {
	if h.err != nil {
		return
	}
	h.err = err
	if h.done != nil {
		close(h.done)
		h.timer.Stop()
		h.detach()
	}
	for a := range h.after {
		go a.f()
	}
	h.after = nil
}

// AfterFunc is what package context asks a context of somebody else's for, so that each one derived from it does not
// need a goroutine to wait in.
func (h *handling) AfterFunc(f func()) (stop func() bool) {
	h.Done() // from now on somebody waits
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		go f()
		return func() bool { return false }
	}
	if h.after == nil {
		h.after = make(map[*afterwards]struct{})
	}
	a := &afterwards{f}
	h.after[a] = struct{}{}
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		_, waits := h.after[a]
		delete(h.after, a)
		return waits
	}
}

// cancel ends it as any context whose cancel function is called.
func (h *handling) cancel() { h.end(context.Canceled) }

// finish ends it once the handler is back at now, and says whether it ran out of time.
func (h *handling) finish(now time.Time) (timedOut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look(now)
	timedOut = h.err == context.DeadlineExceeded && h.Context.Err() == nil
	h.endLocked(context.Canceled)
	return timedOut
}
