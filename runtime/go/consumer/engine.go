package consumer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// An engine takes deliveries from the partitions through their stages. It is a monitor: one lock, held for
// short and over whole batches, and goroutines of three kinds that take batches from it.
//
//	admit -> waiting -> claim -> runnable -> run -> settling -> settle -> finish
//	           ^                                                  |
//	           +------------- hold (Block), until a timer --------+
//
// Batches gather by themselves: what comes while one call to the store is on its way goes with the next.
type engine struct {
	guard    *guard.Guard
	store    store.Store
	config   *Config
	observer observe.Observer
	log      *slog.Logger
	routes   []*route
	byType   map[string]*route
	ignored  map[string]bool

	rowsDue func() // tells the scheduler, if there is one here, that rows are due sooner than it knows

	// base is for the store and outlives the handlers; it ends when the engine is stopped.
	base  context.Context
	stop  context.CancelFunc
	tasks sync.Pool
	wg    sync.WaitGroup // of claims, runs and settlements
	side  sync.WaitGroup // of what is given back

	mu       sync.Mutex
	claimers sync.Cond
	workers  sync.Cond
	settlers sync.Cond
	crew     []*worker
	lanes    *lanes
	settleQ  queue
	flight   int   // tasks that are in flight
	late     int   // those of them that could not be settled, and are tried again
	suspects queue // given back, to be claimed alone
	alone    bool  // one of them is in flight
	next     int   // the route to begin with
	atOnce   int   // how many deliveries one call to the store claims or settles
	stopped  bool

	outage  outage
	waker   waker
	patient []*partition // those that fetch no more while enough waits to be claimed
}

// settlersOf is how many settlements may be on their way: one that waits for a broker does not hold back the
// next.
const settlersOf = 2

func newEngine(c *Consumer) *engine {
	e := &engine{
		guard: c.guard, store: c.store, config: &c.config, observer: c.config.Observer, log: c.config.Log,
		routes: c.routes, byType: c.byType, ignored: c.ignored, lanes: newLanes(), atOnce: c.config.Batch,
	}
	e.claimers.L, e.workers.L, e.settlers.L = &e.mu, &e.mu, &e.mu
	e.waker.ready = make(chan struct{}, 1)
	return e
}

// start begins the goroutines. base carries values and has no end.
func (e *engine) start(base context.Context) {
	e.base, e.stop = context.WithCancel(base)
	e.wg.Add(1 + e.config.Workers + settlersOf)
	go e.claimLoop()
	for range e.config.Workers {
		go e.runLoop()
	}
	for range settlersOf {
		go e.settleLoop()
	}
	if retries, ok := e.store.(store.Retries); ok && e.guard.CanPark() {
		e.waker.on = true
		e.side.Add(1)
		go e.wakeLoop(retries)
	}
}

// haltFor is how long handlers have whose contexts have ended.
const haltFor = 5 * time.Second

// halt ends them. What is still on its way then is not acknowledged. It waits for the handlers, for a while:
// false says that some do not end.
func (e *engine) halt() bool {
	e.mu.Lock()
	e.stopped = true
	e.mu.Unlock()
	e.stop()
	e.claimers.Broadcast()
	e.workers.Broadcast()
	e.settlers.Broadcast()
	ended := make(chan struct{})
	go func() {
		e.wg.Wait()
		e.side.Wait()
		close(ended)
	}()
	timer := time.NewTimer(haltFor)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// takeOff puts a task in flight. The caller holds the lock.
func (e *engine) takeOff(t *task, s taskState) {
	t.state = s
	e.flight++
	t.part.share.flight++
}

// land takes it out of flight, into another state. The caller holds the lock.
func (e *engine) land(t *task) {
	e.flight--
	if t.late {
		t.late = false
		e.late--
	}
	t.part.share.landed()
	if t.alone {
		t.alone, e.alone = false, false
		e.claimers.Signal()
	} else if e.calm() && e.suspects.len() > 0 {
		e.claimers.Signal()
	}
}

// calm says that no claim is held but those that only wait to be settled. The caller holds the lock.
func (e *engine) calm() bool { return e.flight == e.late }

// finish is the end of a delivery that may be acknowledged. The caller holds the lock.
func (e *engine) finish(t *task) {
	p := t.part
	if p.mark.done(t.seq) {
		p.window.bytes -= t.size
		p.roomier()
	}
	e.leave(t)
	e.land(t)
	e.recycle(t)
}

// leave takes a task out of its lane, and lets the next one go. The caller holds the lock.
func (e *engine) leave(t *task) {
	if next := e.lanes.leave(t); next != nil && next.state == inLane {
		e.wait(next)
	}
}

// wait puts a task at the end of its route's queue. The caller holds the lock.
func (e *engine) wait(t *task) {
	t.state = waiting
	t.route.waiting.push(t)
	e.claimers.Signal()
}

// waitFirst puts a task back at the front. The caller holds the lock.
func (e *engine) waitFirst(t *task) {
	t.state = waiting
	t.route.waiting.pushFront(t)
	e.claimers.Signal()
}

// toSettle puts a task that is in flight where it is settled. The caller holds the lock.
func (e *engine) toSettle(t *task) {
	t.state = settling
	e.settleQ.push(t)
}

// drop forgets a task that is not in flight: its partition is another's. The caller holds the lock.
func (e *engine) drop(t *task) {
	s := t.state
	e.leave(t)
	if s == waiting { // the queue has it
		t.dropped = true
		return
	}
	e.recycle(t)
}

// abandon is the end of a task in flight whose partition is another's, and whose claim is given back. The
// caller holds the lock.
func (e *engine) abandon(t *task) {
	e.leave(t)
	e.land(t)
	e.recycle(t)
}

// pause waits for a time, or until the engine is stopped, which it says.
func (e *engine) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.base.Done():
		return false
	}
}
