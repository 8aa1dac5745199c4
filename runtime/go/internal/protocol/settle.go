package protocol

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// claims is the claim of a worker, and what follows from the answer.
func (t *turn) claims(i int, replyLost bool) {
	w := &t.s.workers[i]
	msg := w.d.msg
	c, g, before := t.x.claim(&t.s, w)
	ordered := t.x.world.order == park
	head := ordered && t.s.head == msg
	again := before != nil && g.Kind == idem.AdmitProceed && g.Fence == before.Fence
	if ordered && g.Kind == idem.AdmitProceed && !again && t.s.head != 0 && (!head && !t.x.rules.nothingParks || head && t.x.rules.headParks) {
		w.phase, w.retry, w.hold = parking, uint8(g.Counts.Retry), uint8(g.Counts.Hold)
		w.owner = 0
		return
	}
	w.head = head
	w.retry, w.hold = uint8(g.Counts.Retry), uint8(g.Counts.Hold)
	t.add(": " + g.Kind.String())
	if replyLost {
		t.s.faults--
	}
	switch g.Kind {
	case idem.AdmitProceed:
		t.begins(i, again)
		written := c.Claimed(c.Key, g.Lease.Fence, &g, before, time.Time{}, 0)
		t.s.keep(msg, w.owner, &written)
		if replyLost { // it will ask again
			w.head, w.retry, w.hold = false, 0, 0
			return
		}
		w.phase, w.fence = running, uint8(g.Lease.Fence)
	case idem.AdmitCrashLoop:
		if used := t.x.world.faults - t.s.faults; used < 2 {
			t.bad = fmt.Sprintf("%s is a crash loop after %d crashes", keys[msg], used)
		}
		w.phase, w.fence, w.owner = ending, uint8(g.Lease.Fence), 0
	case idem.AdmitInProgress:
		w.owner = 0
		switch {
		case t.x.rules.inProgressAcked:
			t.acks(i)
		case t.x.world.order == block: // it waits in place, and claims again
			*w = worker{phase: claiming, d: w.d, owner: t.s.freshOwner()}
		default:
			w.phase = deferring
		}
	case idem.AdmitStale:
		if t.x.rules.staleLeaves {
			t.leave(msg)
		}
		t.acks(i)
	default:
		w.owner = 0
		w.phase = leaving
		if !head {
			t.acks(i)
		}
	}
}

// begins checks what has to hold when a handler begins.
func (t *turn) begins(i int, again bool) {
	me := &t.s.workers[i]
	r := t.s.record(me.d.msg)
	for j := range t.s.workers {
		other := &t.s.workers[j]
		if j != i && other.phase == running && other.d.msg == me.d.msg && r.live && other.fence == r.fence && other.owner == r.owner {
			t.bad = fmt.Sprintf("two handlers run %s under a live lease", keys[me.d.msg])
		}
	}
	if again {
		return
	}
	for _, msg := range t.s.entered {
		if msg == 0 || msg == me.d.msg || me.d.redrive > 0 {
			return
		}
		if !t.s.done(msg) {
			t.bad = fmt.Sprintf("%s overtakes %s in their lane", keys[me.d.msg], keys[msg])
		}
	}
}

// holds says whether a worker's claim is still its own. (DEDUP-020)
func (t *turn) holds(w *worker) bool {
	r := t.s.record(w.d.msg)
	if w.phase == ending || w.phase == settling && w.owner == 0 { // a crash loop
		free := idem.State(r.state) == idem.StateFailed || idem.State(r.state) == idem.StateProcessing && !r.live
		return r.fence == w.fence && free || t.x.rules.crashLoopUnfenced
	}
	return idem.State(r.state) == idem.StateProcessing && r.fence == w.fence && r.owner == w.owner || t.x.rules.noFence
}

// commits is the handler's transaction: its effect and SUCCESS, or neither.
func (t *turn) commits(i int) {
	w := &t.s.workers[i]
	if !t.holds(w) {
		t.fenced(i)
		return
	}
	msg := w.d.msg
	t.s.effects[msg-1]++
	if t.s.effects[msg-1] > 1 {
		t.bad = "the effect of " + keys[msg] + " happened twice"
		return
	}
	r := t.s.record(msg)
	r.state, r.owner, r.live = uint8(idem.StateSuccess), 0, false
	t.s.exit(msg)
	if w.head {
		t.leave(msg)
	}
	t.acks(i)
}

// fenced is what a worker does that has lost its claim.
func (t *turn) fenced(i int) {
	t.add(", fenced out")
	w := &t.s.workers[i]
	w.owner, w.fence, w.head = 0, 0, false
	switch {
	case t.x.rules.fencedAcked:
		t.acks(i)
	case t.x.world.order == block:
		*w = worker{phase: claiming, d: w.d, owner: t.s.freshOwner()}
	default:
		w.phase = deferring
	}
}

// acks is what is left to do once all is durable. Where no fault can come in between, it is done at once.
func (t *turn) acks(i int) {
	w := &t.s.workers[i]
	if t.s.faults > 0 && !t.x.rules.ackedFirst {
		*w = worker{phase: acking, d: w.d}
		return
	}
	t.s.ack(w.d.src)
	*w = worker{}
}

// concludes ends a delivery as it was decided.
func (t *turn) concludes(i int, a idem.Decision) {
	w := &t.s.workers[i]
	t.add(", " + a.Action.String())
	end := idem.StateFailed
	if a.Action == idem.ActionDeadLetter {
		end = idem.StateDead
	}
	next := w.d
	next.retry, next.hold = uint8(a.Counts.Retry), uint8(a.Counts.Hold)
	inPlace := t.x.world.order == block && a.Action == idem.ActionRetry
	leaves := a.Action == idem.ActionHold
	switch {
	case inPlace:
		if !t.holds(w) {
			t.fenced(i)
			return
		}
		at := w.d
		if t.x.rules.raisedInPlace {
			at = next
		}
		t.fail(end, at, false)
		r := t.s.record(w.d.msg) // the counts are raised, the position is not (DEDUP-011)
		r.retry, r.hold = max(at.retry, next.retry), max(at.hold, next.hold)
		*w = worker{phase: claiming, d: w.d, owner: t.s.freshOwner()}
	case t.x.world.followUps:
		if !t.holds(w) {
			t.fenced(i)
			return
		}
		t.fail(end, next, a.Action == idem.ActionHold)
		if t.x.rules.stateFirst {
			*w = worker{phase: publishing, d: w.d, next: next, state: uint8(end)}
			return
		}
		t.follow(next, end, leaves)
		t.acks(i)
	case t.x.rules.stateFirst:
		if !t.holds(w) {
			t.fenced(i)
			return
		}
		t.fail(end, next, a.Action == idem.ActionHold)
		*w = worker{phase: publishing, d: w.d, next: next, state: uint8(end)}
	default: // publish, and have it confirmed, before the record says so (DEDUP-021)
		t.follow(next, end, leaves)
		w.phase, w.state, w.next = settling, uint8(end), next
		w.next.src = 0
		w.head = a.Action == idem.ActionHold // the attempt is given back
	}
}

// settlesAfter writes the record of what was published before. What follows is durable in any case, so
// that a claim that was lost meanwhile changes nothing.
func (t *turn) settlesAfter(i int) {
	w := &t.s.workers[i]
	if t.holds(w) {
		t.fail(idem.State(w.state), w.next, w.head)
	}
	t.acks(i)
}

// fail makes a record FAILED or DEAD at the position of the delivery to come.
func (t *turn) fail(end idem.State, next delivery, giveBack bool) {
	r := t.s.record(next.msg)
	if giveBack && !t.x.rules.holdCostsAttempt {
		r.attempts--
	}
	r.state, r.owner, r.live = uint8(end), 0, false
	r.redrive, r.position, r.retry, r.hold = next.redrive, next.position(), next.retry, next.hold
}

// follow makes durable what follows from a delivery of a claim: a delivery to come, or a dead letter.
func (t *turn) follow(next delivery, end idem.State, leaves bool) {
	if end == idem.StateDead {
		t.die(next)
		t.s.exit(next.msg)
		t.leave(next.msg)
		return
	}
	if !t.x.world.followUps {
		t.full = t.full || !t.s.add(next)
		return
	}
	if leaves {
		t.put(next, false)
		t.leave(next.msg)
		if !t.s.inLane(next.msg) {
			t.s.exit(next.msg)
		}
		return
	}
	t.join(next)
}

// defers writes a delivery that is to come again as it is, without a claim.
func (t *turn) defers(i int) {
	w := &t.s.workers[i]
	a := t.x.decide(idem.OutcomeInProgress, w)
	next := w.d
	next.retry, next.hold = uint8(a.Counts.Retry), uint8(a.Counts.Hold)
	if t.x.world.followUps {
		t.join(next)
	} else {
		t.full = t.full || !t.s.add(next)
	}
	t.acks(i)
}

// join writes a row where the lane stands: behind its head, or as its head. (CONS-013)
func (t *turn) join(d delivery) {
	if t.x.world.order != park {
		t.put(d, false)
		return
	}
	behind := t.s.head != 0 && t.s.head != d.msg
	if !t.put(d, behind) {
		return // a later delivery of it is durable
	}
	if !behind {
		t.s.head = d.msg
	}
	if !t.s.done(d.msg) {
		t.s.enter(d.msg)
	}
}

// parks writes a row behind the head of the lane, decided again under its lock.
func (t *turn) parks(i int) {
	w := &t.s.workers[i]
	if (t.s.head == 0 || t.s.head == w.d.msg) && !t.x.rules.parkedBlindly && !t.x.rules.headParks {
		*w = worker{phase: claiming, d: w.d, owner: t.s.freshOwner()}
		t.add(", which is free")
		return
	}
	next := w.d
	next.retry, next.hold = w.retry, w.hold
	if t.put(next, true) && !t.s.done(next.msg) {
		t.s.enter(next.msg)
	}
	t.acks(i)
}

// leave lets the next message go, where msg is the head.
func (t *turn) leave(msg uint8) {
	if t.x.world.order != park || t.s.head != msg {
		return
	}
	t.s.head = 0
	for n := range t.s.rows {
		r := &t.s.rows[n]
		if !r.parked || t.s.head != 0 && r.d.msg != t.s.head {
			continue
		}
		t.s.head = r.d.msg
		r.parked = false
		if t.x.rules.oneRowGoes {
			return
		}
	}
}

// put writes a row, or raises the one of the same delivery, and says whether it did. (DEDUP-027)
func (t *turn) put(d delivery, parked bool) bool {
	for n := range t.s.rows {
		r := &t.s.rows[n]
		if r.d.msg != d.msg {
			continue
		}
		if t.x.rules.uniqueByCount {
			if r.d.redrive == d.redrive && r.d.position() == d.position() {
				return false
			}
			continue
		}
		if r.d.src != d.src {
			continue
		}
		behind := d.redrive < r.d.redrive || d.redrive == r.d.redrive && d.position() < r.d.position()
		if behind && !t.x.rules.lowerReplaces {
			return false
		}
		token := r.token
		*r = row{d: d, parked: parked}
		if t.x.rules.raisedKeepsToken {
			r.token = token
		}
		return true
	}
	for n := range t.s.rows {
		if t.s.rows[n].d.msg == 0 {
			t.s.rows[n] = row{d: d, parked: parked}
			return true
		}
	}
	t.full = true
	return true
}

// die writes a dead letter. In a table it is unique by the delivery that ended; on a topic it is not.
func (t *turn) die(d delivery) {
	for n := range t.s.letters {
		l := &t.s.letters[n]
		if t.x.world.followUps && l.msg == d.msg && l.src == d.src {
			if d.redrive > l.redrive {
				*l = d
			}
			return
		}
	}
	for n := range t.s.letters {
		if t.s.letters[n].msg == 0 {
			t.s.letters[n] = d
			return
		}
	}
	t.full = true
}
