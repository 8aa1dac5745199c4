package consumer

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
)

// taskState is where a delivery is.
type taskState uint8

const (
	inLane   taskState = iota // behind another one of its lane
	waiting                   // in its route's queue, to be claimed
	claiming                  // in a call to the store
	runnable                  // claimed
	running                   // in its handler
	settling                  // in a call to the store, or waiting for one
	held                      // in place, until a timer wakes it
)

// inFlight says that somebody is at work on it, who has to see what became of its partition.
func (s taskState) inFlight() bool { return s >= claiming && s <= settling }

// task is a delivery in a consumer. Except for d, which belongs to whoever is at work on it, it is under the
// engine's lock.
type task struct {
	d     guard.Delivery
	route *route
	part  *partition
	seq   uint64 // in the partition's watermark
	size  int64
	state taskState
	// dropped says that its partition is gone while it waits in a queue.
	dropped bool
	// probe says that it is the breaker's, and alone that it is claimed with nothing else in the process.
	probe, alone bool
	// shadow says that it was told of, and that nothing else becomes of it.
	shadow bool
	// toStore says that it is not to run, but to wait in the store until due.
	toStore bool
	// late says that it could not be settled, and is tried again.
	late  bool
	due   time.Time // when it is tried again
	tries int       // of its settlement
	epoch uint64    // counts uses, so that a late timer knows that it is late

	hash           uint64 // of its lane's key
	lane           *lane
	before, behind *task
}

// newTask is a task of this engine's: one that another engine has used may have timers there, under its lock.
func (e *engine) newTask() *task {
	if t, ok := e.tasks.Get().(*task); ok {
		return t
	}
	return new(task)
}

// recycle lets go of what a task points at, and keeps it for another delivery. The caller holds the lock.
func (e *engine) recycle(t *task) {
	d := &t.d
	d.Message, d.Rules, d.Err, d.Value = nil, nil, nil, nil
	t.route, t.part, t.lane, t.before, t.behind = nil, nil, nil, nil, nil
	t.seq, t.size, t.state, t.tries, t.due = 0, 0, inLane, 0, time.Time{}
	t.dropped, t.probe, t.alone, t.shadow, t.toStore, t.late = false, false, false, false, false, false
	t.epoch++
	e.tasks.Put(t)
}
