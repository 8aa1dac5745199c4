package protocol

import (
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// turn is one step from a state: it changes a copy, and names what it did.
type turn struct {
	x    *search
	s    state
	full bool   // there was no room
	bad  string // what must not happen, and did
	name string // empty, unless the search walks
}

// steps goes every way on from a state.
func (x *search) steps(s *state, each func(t *turn)) {
	try := func(name string, change func(t *turn)) {
		t := &turn{x: x, s: *s, name: name}
		change(t)
		if t.bad == "" && !t.full {
			t.s.normalize()
		}
		each(t)
	}
	for i := range s.workers {
		x.workerSteps(s, i, try)
	}
	for i := range x.world.schedulers {
		x.schedulerSteps(s, i, try)
	}
	x.otherSteps(s, try)
}

// says is a name, where names are asked for.
func (x *search) says(format string, args ...any) string {
	if !x.walk {
		return ""
	}
	for i := range args {
		if d, ok := args[i].(delivery); ok {
			args[i] = fmt.Sprintf("%s from %d at %d/%d+%d", keys[d.msg], d.src, d.redrive, d.retry, d.hold)
		}
	}
	return fmt.Sprintf(format, args...)
}

func (t *turn) add(text string) {
	if t.x.walk {
		t.name += text
	}
}

type tryStep func(name string, change func(t *turn))

// workerSteps are those of one worker.
func (x *search) workerSteps(s *state, i int, try tryStep) {
	w := &s.workers[i]
	if w.phase == idle {
		if i > 0 && s.workers[i-1].phase == idle {
			return // the same as the other
		}
		x.takes(s, i, try)
		return
	}
	who := x.says("a worker with %v ", w.d)
	if s.faults > 0 {
		try(who+"crashes", func(t *turn) {
			t.s.faults--
			t.s.workers[i] = worker{}
		})
	}
	switch w.phase {
	case claiming:
		try(who+"claims", func(t *turn) { t.claims(i, false) })
		if s.faults > 0 {
			try(who+"claims, and the reply is lost", func(t *turn) { t.claims(i, true) })
		}
	case running:
		try(who+"commits", func(t *turn) { t.commits(i) })
		for _, o := range []idem.Outcome{idem.OutcomeRetryable, idem.OutcomeOutOfOrder, idem.OutcomeNonRetryable} {
			try(who+"ends "+o.String(), func(t *turn) { t.concludes(i, x.decide(o, w)) })
		}
	case deferring:
		try(who+"defers", func(t *turn) { t.defers(i) })
	case parking:
		try(who+"parks", func(t *turn) { t.parks(i) })
	case ending:
		try(who+"ends CRASH_LOOP", func(t *turn) { t.concludes(i, x.decide(idem.OutcomeCrashLoop, w)) })
	case leaving:
		try(who+"leaves the lane", func(t *turn) {
			t.leave(w.d.msg)
			t.acks(i)
		})
	case settling:
		try(who+"settles", func(t *turn) { t.settlesAfter(i) })
	case publishing:
		try(who+"makes durable what follows", func(t *turn) {
			t.follow(w.next, idem.State(w.state), false)
			t.acks(i)
		})
	case acking:
		try(who+"acknowledges", func(t *turn) {
			t.s.ack(w.d.src)
			t.s.workers[i] = worker{}
		})
	}
}

// takes are the deliveries that a worker may take; one that another has is a fault, of a rebalance.
func (x *search) takes(s *state, i int, try tryStep) {
	for _, d := range s.topic {
		if d.msg == 0 {
			continue
		}
		taken := false
		for j := range s.workers {
			taken = taken || s.workers[j].phase != idle && s.workers[j].d.src == d.src
		}
		if taken && s.faults == 0 {
			continue
		}
		try(x.says("a worker takes %v, taken before: %v", d, taken), func(t *turn) {
			if taken {
				t.s.faults--
			}
			if x.rules.ackedFirst {
				t.s.ack(d.src)
			}
			t.s.workers[i] = worker{phase: claiming, d: d, owner: t.s.freshOwner()}
		})
	}
}

// schedulerSteps are those of one scheduler. There is none where nothing is in msg_retry.
func (x *search) schedulerSteps(s *state, i int, try tryStep) {
	me := &s.schedulers[i]
	token := uint8(i + 1)
	if me.phase != looking && s.faults > 0 {
		try("a scheduler crashes", func(t *turn) {
			t.s.faults--
			t.s.schedulers[i] = scheduler{}
			t.free(token) // when its lease has ended, which nobody notices before
		})
		for _, r := range s.rows {
			if r.token == token {
				try("a scheduler's claim ends while it goes on", func(t *turn) {
					t.s.faults--
					t.free(token)
				})
			}
		}
	}
	switch me.phase {
	case looking:
		if i > 0 && s.schedulers[i-1].phase == looking {
			return // the same as the other
		}
		for n, r := range s.rows {
			if r.d.msg != 0 && !r.parked && r.token == 0 {
				try(x.says("a scheduler claims the row of %v", r.d), func(t *turn) {
					t.s.rows[n].token = token
					t.s.schedulers[i] = scheduler{phase: claimed, d: r.d}
					if x.rules.markBeforePublishing {
						t.s.schedulers[i].phase = premature
						t.s.drop(n)
					}
				})
			}
		}
	case claimed, premature:
		try(x.says("a scheduler publishes %v", me.d), func(t *turn) {
			t.full = !t.s.add(me.d)
			t.s.schedulers[i].phase = published
			if me.phase == premature {
				t.s.schedulers[i] = scheduler{}
			}
		})
	case published:
		try(x.says("a scheduler marks the row of %v", me.d), func(t *turn) {
			for n, r := range t.s.rows {
				mine := r.token == token || x.rules.markWithoutToken
				same := r.d.redrive == me.d.redrive && r.d.position() == me.d.position() || x.rules.markWithoutPosition
				if r.d.msg == me.d.msg && r.d.src == me.d.src && mine && same {
					t.s.drop(n)
					break
				}
			}
			t.s.schedulers[i] = scheduler{}
		})
	}
}

func (t *turn) free(token uint8) {
	for n := range t.s.rows {
		if t.s.rows[n].token == token {
			t.s.rows[n].token = 0
		}
	}
}

// otherSteps are those of time, of the sweep and of the operator.
func (x *search) otherSteps(s *state, try tryStep) {
	for n := range s.records {
		r, msg := &s.records[n], uint8(n+1)
		if !r.live {
			continue
		}
		worked := false
		for i := range s.workers {
			worked = worked || s.workers[i].d.msg == msg && s.workers[i].owner == r.owner
		}
		if worked && s.faults == 0 {
			continue
		}
		try(x.says("the lease of %s ends, a worker goes on: %v", keys[msg], worked), func(t *turn) {
			if worked {
				t.s.faults--
			}
			t.s.record(msg).live = false
		})
	}
	for n, r := range s.rows {
		if r.token != 0 && s.schedulers[r.token-1].phase == looking {
			try(x.says("the claim of the row of %v ends", r.d), func(t *turn) { t.s.rows[n].token = 0 })
		}
	}
	if s.head != 0 && !x.rules.noSweep && s.done(s.head) {
		try("a sweep lets the lane go", func(t *turn) { t.leave(s.head) })
	}
	if s.redriving.msg != 0 {
		try("the redriven delivery is written", func(t *turn) {
			t.s.redriving = delivery{}
			t.redriven(s.redriving)
		})
		if s.faults > 0 {
			try("the operator's process crashes", func(t *turn) {
				t.s.faults--
				t.s.redriving = delivery{}
			})
		}
		return
	}
	for n, d := range s.letters {
		if d.msg == 0 || s.redrives == 0 {
			continue
		}
		again := d
		again.redrive, again.retry, again.hold = max(d.redrive, s.record(d.msg).redrive)+1, 0, 0
		name := x.says("the operator redrives %v", d)
		try(name, func(t *turn) {
			t.s.redrives--
			t.s.letters[n] = delivery{}
			if x.rules.redriveMarksFirst {
				t.s.redriving = again
				return
			}
			t.redriven(again)
		})
		if !x.world.followUps && s.faults > 0 {
			try(name+", and crashes before it is marked", func(t *turn) {
				t.s.faults--
				t.s.redrives--
				t.redriven(again)
			})
		}
	}
}

// redriven makes the delivery of a redrive durable. It is in no lane until it comes back.
func (t *turn) redriven(d delivery) {
	if t.x.world.followUps {
		t.put(d, false)
		return
	}
	t.full = t.full || !t.s.add(d)
}

func (s *state) done(msg uint8) bool {
	st := idem.State(s.record(msg).state)
	return st == idem.StateSuccess || st == idem.StateDead
}
