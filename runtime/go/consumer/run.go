package consumer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	// maxChunk is the most deliveries that a worker takes at a time, and chunkFor how long they should take it.
	maxChunk = 64
	chunkFor = 200 * time.Microsecond
	// chunkLate is when those of a chunk that have not begun are for other workers: one of them is slow.
	chunkLate = 2 * time.Millisecond
	// firstGuess is what a handler takes until it is known.
	firstGuess = time.Millisecond
)

// worker runs handlers. Its chunk is its own, but for those that have not begun and are late.
type worker struct {
	e     *engine
	route *route // of the chunk: a task that was late may be another's by now
	tasks []*task
	ds    []*guard.Delivery
	// cursor is the next one to begin and, in its upper half, where the chunk ends: both in one word, so that a
	// delivery is begun once.
	cursor atomic.Uint64
	late   *time.Timer
}

// runLoop runs what is claimed.
func (e *engine) runLoop() {
	defer e.wg.Done()
	w := &worker{e: e}
	e.mu.Lock()
	e.crew = append(e.crew, w)
	e.mu.Unlock()
	w.late = time.AfterFunc(time.Hour, w.share)
	defer w.late.Stop()
	w.late.Stop()
	for w.take() {
		w.work()
	}
}

// work runs a chunk, and hands on what it came to, also where a handler ends its goroutine, by runtime.Goexit, which
// nothing can stop: another worker takes the place of this one then.
func (w *worker) work() {
	started, n, back := time.Now(), 0, false
	defer func() {
		if !back {
			n = w.leave()
		}
		w.done(n, time.Since(started))
	}()
	n = w.run()
	back = true
}

// leave ends a worker whose goroutine ends, and begins another. It says how many of its chunk have begun: the last
// one of them has ended as a failure, and what has not begun is for others.
func (w *worker) leave() (begun int) {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.cut() {
		e.workers.Signal()
	}
	e.crew = slices.DeleteFunc(e.crew, func(other *worker) bool { return other == w })
	e.wg.Add(1) // before this one's Done
	go e.runLoop()
	return int(w.cursor.Load() & (1<<32 - 1))
}

// take waits for a chunk; false where the engine is stopped.
func (w *worker) take() bool {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.stopped {
			return false
		}
		for i := range e.routes {
			r := e.routes[(e.next+i)%len(e.routes)]
			if r.runnable.len() == 0 || r.Workers > 0 && r.running >= r.Workers {
				continue
			}
			w.fill(r)
			e.next++
			if e.hasRunnable() {
				e.workers.Signal()
			}
			return true
		}
		e.workers.Wait()
	}
}

// hasRunnable says that there is work for one more worker. The caller holds the lock.
func (e *engine) hasRunnable() bool {
	for _, r := range e.routes {
		if r.runnable.len() > 0 && (r.Workers == 0 || r.running < r.Workers) {
			return true
		}
	}
	return false
}

// fill takes a chunk of a route. The caller holds the lock.
func (w *worker) fill(r *route) {
	n := r.BatchSize
	if r.batch == nil {
		n = min(max(int(chunkFor/max(r.handler, 1)), 1), maxChunk)
	}
	w.route, w.tasks = r, w.tasks[:0]
	for range n {
		t := r.runnable.pop()
		if t == nil {
			break
		}
		t.state = running
		w.tasks = append(w.tasks, t)
	}
	r.running++
	if r.waiting.len() > 0 { // there is room to claim more
		w.e.claimers.Signal()
	}
	w.cursor.Store(uint64(len(w.tasks)) << 32)
	if r.batch != nil { // all of it begins at once
		w.cursor.Store(uint64(len(w.tasks))<<32 | uint64(len(w.tasks)))
	}
	if r.batch == nil && len(w.tasks) > 1 {
		w.late.Reset(chunkLate)
	}
}

// run runs the chunk, and says how many of it were left to it.
func (w *worker) run() int {
	r := w.route
	if r.batch != nil {
		w.ds = w.ds[:0]
		for _, t := range w.tasks {
			w.ds = append(w.ds, &t.d)
		}
		r.batch(w.tasks[0].part.share.context(r), w.ds)
		clear(w.ds)
		return len(w.tasks)
	}
	n := 0
	for {
		c := w.cursor.Load()
		if c&(1<<32-1) >= c>>32 {
			break
		}
		if !w.cursor.CompareAndSwap(c, c+1) {
			continue
		}
		t := w.tasks[n]
		n++
		r.run(t.part.share.context(r), &t.d)
	}
	if len(w.tasks) > 1 {
		w.late.Stop()
	}
	return n
}

// share gives back to the queue what of a late chunk has not begun.
func (w *worker) share() {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.cut() {
		e.workers.Signal()
	}
}

// cut takes from a chunk what has not begun, and puts it at the front of the queue; false where there is nothing.
// The caller holds the lock.
func (w *worker) cut() bool {
	for {
		c := w.cursor.Load()
		begun, end := int(c&(1<<32-1)), int(c>>32)
		if begun >= end {
			return false
		}
		if !w.cursor.CompareAndSwap(c, uint64(begun)<<32|uint64(begun)) {
			continue
		}
		for i := end - 1; i >= begun; i-- {
			t := w.tasks[i]
			t.state = runnable
			t.route.runnable.pushFront(t)
		}
		return true
	}
}

// done hands on what the first n of the chunk came to.
func (w *worker) done(n int, took time.Duration) {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	r := w.route
	r.running--
	if r.Workers > 0 && r.runnable.len() > 0 {
		e.workers.Signal()
	}
	if n > 0 {
		r.handler += (took/time.Duration(n) - r.handler) / 4
	}
	quiet := r.breaker.state == breakerClosed && len(r.breaker.failed) == 0 && !r.killed
	for _, t := range w.tasks[:n] {
		if !quiet || t.d.Result.Outcome != idem.OutcomeOK || t.d.Status != guard.Ended {
			quiet = false
			e.judge(t)
		}
		e.toSettle(t)
	}
	clear(w.tasks)
	e.settlers.Signal()
}

// judge sees what a delivery says of its route, and makes a DEFER of a failure that says nothing of the message
// itself: the route rests, or the handler was told to stop. The caller holds the lock.
func (e *engine) judge(t *task) {
	r, d := t.route, &t.d
	if d.Status != guard.Ended { // the handler was never asked
		d.End(idem.Result{Outcome: idem.OutcomeRetryable, Reason: "the handler did not run"}, d.Err)
	}
	v, now := verdictOf(d), time.Now()
	stopped := v == broke && isStopped(d.Err) && (r.killed || t.part.share.cancelled)
	if stopped {
		v = neither
	}
	was, probe := r.breaker.state, t.probe
	t.probe = false
	deferred := r.breaker.ends(d.Key, v, probe, now)
	if deferred {
		wait := max(r.breaker.until.Sub(now), 0)
		d.End(idem.Result{Outcome: idem.OutcomeInProgress, AfterMs: wait.Milliseconds()}, d.Err)
	} else if stopped {
		d.End(idem.Result{Outcome: idem.OutcomeInProgress}, d.Err)
	}
	if probe || was != r.breaker.state {
		e.breakerMoved(r, was, d.Err)
	}
}

// breakerMoved does what follows from a breaker's step. The caller holds the lock.
func (e *engine) breakerMoved(r *route, was breakerState, cause error) {
	switch r.breaker.state {
	case breakerOpen:
		if was == breakerClosed {
			e.recall(r, func(t *task) bool { return !t.probe })
			e.routeOpen(r, true, cause)
		}
		wait := time.Until(r.breaker.until)
		if wait <= 0 {
			e.claimers.Signal()
			return
		}
		time.AfterFunc(wait, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.claimers.Signal()
		})
	case breakerClosed:
		if was != breakerClosed {
			e.routeOpen(r, false, nil)
			e.claimers.Signal()
		}
	}
}

// verdictOf is what a delivery says of what its route depends on.
func verdictOf(d *guard.Delivery) verdict {
	switch d.Result.Outcome {
	case idem.OutcomeOK:
		return worked
	case idem.OutcomeRetryable, idem.OutcomeThrottled:
		if !strings.HasPrefix(d.Result.Reason, "RENEW:") { // that was the store
			return broke
		}
	}
	return neither
}

func isStopped(err error) bool { return errors.Is(err, context.Canceled) }
