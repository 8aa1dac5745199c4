package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The sizes of a world. A step that does not fit ends the search with an error.
const (
	messages    = 2 // A and B
	workers     = 2
	schedulers  = 2
	mostOnTopic = 7
	mostRows    = 6
	mostLetters = 5
)

// delivery is one delivery of a message. The zero value is none.
type delivery struct {
	msg                  uint8 // 1: A, 2: B
	src                  uint8 // which delivery it is: its topic and offset
	redrive, retry, hold uint8
}

func (d delivery) position() uint8 { return d.retry + d.hold }

// record is the dedup record of a message. The zero value is none.
type record struct {
	state                          uint8 // idem.State
	fence, attempts, owner         uint8
	redrive, position, retry, hold uint8
	live                           bool // its lease
}

// row is a row of msg_retry, caused by the delivery d.src.
type row struct {
	d      delivery
	parked bool
	token  uint8 // of the scheduler that has claimed it; 0: none
}

// The phases of a worker.
const (
	idle       uint8 = iota
	claiming         // it has a delivery and a token
	running          // in the handler
	deferring        // DEFER is to be written
	parking          // its message has to park
	ending           // CRASH_LOOP is to be written
	leaving          // a duplicate that was the head of its lane
	settling         // what follows is published, the record is still to be written (without follow-ups)
	publishing       // the record is written, what follows is still to be published (a mutation)
	acking           // all is durable
)

type worker struct {
	phase       uint8
	d           delivery
	owner       uint8
	fence       uint8
	retry, hold uint8 // the counts in force
	head        bool
	state       uint8    // idem.State to be written, or just written, while settling or publishing
	next        delivery // what follows, while publishing
}

// The phases of a scheduler.
const (
	looking   uint8 = iota
	claimed         // it has a row
	published       // the row's delivery is on the topic
	premature       // the row is gone, its delivery not yet on the topic (a mutation)
)

type scheduler struct {
	phase uint8
	d     delivery
}

// state is all there is. It is compared as a whole, so everything that has no order is sorted.
type state struct {
	records    [messages]record
	topic      [mostOnTopic]delivery // what is not acknowledged
	rows       [mostRows]row
	letters    [mostLetters]delivery // dead letters that wait; one that is redriven is gone
	workers    [workers]worker
	schedulers [schedulers]scheduler
	head       uint8           // of the lane; 0: it is not parked
	entered    [messages]uint8 // who has entered the lane and not ended, in order
	effects    [messages]uint8
	redriving  delivery // a letter that is marked, whose delivery is not yet durable (a mutation)
	faults     uint8    // that may still come
	redrives   uint8    // that may still come
}

func (s *state) record(msg uint8) *record { return &s.records[msg-1] }

// add puts a delivery on the topic as another one of its message, and says whether there is room.
func (s *state) add(d delivery) bool {
	d.src = s.freshSource()
	for i := range s.topic {
		if s.topic[i].msg == 0 {
			s.topic[i] = d
			return true
		}
	}
	return false
}

// freshSource is the smallest that nothing names.
func (s *state) freshSource() uint8 {
	var used [64]bool
	s.eachDelivery(func(d *delivery) { used[d.src] = true })
	for src := uint8(1); ; src++ {
		if !used[src] {
			return src
		}
	}
}

func (s *state) eachDelivery(f func(d *delivery)) {
	for i := range s.topic {
		f(&s.topic[i])
	}
	for i := range s.rows {
		f(&s.rows[i].d)
	}
	for i := range s.letters {
		f(&s.letters[i])
	}
	for i := range s.workers {
		f(&s.workers[i].d)
		f(&s.workers[i].next)
	}
	for i := range s.schedulers {
		f(&s.schedulers[i].d)
	}
	f(&s.redriving)
}

// freshOwner is the smallest token that neither a record nor another worker has.
func (s *state) freshOwner() uint8 {
	for owner := uint8(1); ; owner++ {
		used := false
		for i := range s.records {
			used = used || s.records[i].owner == owner
		}
		for i := range s.workers {
			used = used || s.workers[i].owner == owner
		}
		if !used {
			return owner
		}
	}
}

func (s *state) ack(src uint8) {
	for i := range s.topic {
		if s.topic[i].src == src {
			s.topic[i] = delivery{}
		}
	}
}

// drop removes a row.
func (s *state) drop(i int) {
	copy(s.rows[i:], s.rows[i+1:])
	s.rows[mostRows-1] = row{}
}

// enter and exit keep who is in the lane, for the invariant alone.
func (s *state) enter(msg uint8) {
	for i := range s.entered {
		if s.entered[i] == msg {
			return
		}
		if s.entered[i] == 0 {
			s.entered[i] = msg
			return
		}
	}
}

func (s *state) exit(msg uint8) {
	if i := slices.Index(s.entered[:], msg); i >= 0 {
		copy(s.entered[i:], s.entered[i+1:])
		s.entered[messages-1] = 0
	}
}

// inLane says that a message, or a copy of it, is in the lane.
func (s *state) inLane(msg uint8) bool {
	return s.head == msg || slices.ContainsFunc(s.rows[:], func(r row) bool { return r.parked && r.d.msg == msg })
}

// quiescent says that nothing is under way.
func (s *state) quiescent() bool {
	for i := range s.topic {
		if s.topic[i].msg != 0 {
			return false
		}
	}
	for i := range s.workers {
		if s.workers[i].phase != idle {
			return false
		}
	}
	for i := range s.schedulers {
		if s.schedulers[i].phase != looking {
			return false
		}
	}
	return s.rows[0].d.msg == 0 && s.redriving.msg == 0
}

// normalize gives states that differ by names alone one form: fences, tokens and sources are numbered
// anew, and what has no order is sorted. Parked rows keep theirs, before the others.
func (s *state) normalize() {
	for i := range s.workers {
		w := &s.workers[i]
		if w.phase == idle {
			*w = worker{}
		}
	}
	s.normalizeFences()
	named := s.namedBy()
	slices.SortFunc(s.topic[:], func(a, b delivery) int {
		return cmp.Or(compareContents(a, b), cmp.Compare(named[a.src], named[b.src]), cmp.Compare(a.src, b.src))
	})
	slices.SortStableFunc(s.rows[:], func(a, b row) int {
		switch {
		case (a.d.msg == 0) != (b.d.msg == 0):
			return cmp.Compare(b.d.msg, a.d.msg)
		case a.parked != b.parked:
			return -cmp.Compare(number(a.parked), number(b.parked))
		case a.parked:
			return 0
		}
		return cmp.Or(compareDeliveries(a.d, b.d), cmp.Compare(a.token, b.token))
	})
	slices.SortFunc(s.letters[:], compareDeliveries)
	slices.SortFunc(s.workers[:], func(a, b worker) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), compareDeliveries(a.d, b.d), cmp.Compare(a.fence, b.fence), cmp.Compare(a.owner, b.owner))
	})
	if a, b := s.schedulers[0], s.schedulers[1]; cmp.Or(cmp.Compare(b.phase, a.phase), compareDeliveries(a.d, b.d)) > 0 {
		s.schedulers[0], s.schedulers[1] = b, a
		for i := range s.rows {
			if t := s.rows[i].token; t != 0 {
				s.rows[i].token = 3 - t
			}
		}
	}
	var names [64]uint8
	next := uint8(1)
	s.eachDelivery(func(d *delivery) {
		if d.src == 0 {
			return
		}
		if names[d.src] == 0 {
			names[d.src] = next
			next++
		}
		d.src = names[d.src]
	})
	var owners [16]uint8
	next = 1
	rename := func(owner *uint8) {
		if *owner == 0 {
			return
		}
		if owners[*owner] == 0 {
			owners[*owner] = next
			next++
		}
		*owner = owners[*owner]
	}
	for i := range s.records {
		rename(&s.records[i].owner)
	}
	for i := range s.workers {
		rename(&s.workers[i].owner)
	}
}

// normalizeFences keeps of the fences of each message what is equal and what is larger.
func (s *state) normalizeFences() {
	for msg := uint8(1); msg <= messages; msg++ {
		var there [64]bool
		there[s.record(msg).fence] = true
		for i := range s.workers {
			if s.workers[i].d.msg == msg {
				there[s.workers[i].fence] = true
			}
		}
		var rank [64]uint8
		next := uint8(1)
		for fence := 1; fence < len(there); fence++ {
			if there[fence] {
				rank[fence] = next
				next++
			}
		}
		s.record(msg).fence = rank[s.record(msg).fence]
		for i := range s.workers {
			if w := &s.workers[i]; w.d.msg == msg {
				w.fence = rank[w.fence]
			}
		}
	}
}

// namedBy is, for each source, a number for who else names it, so that of two copies that are alike the one
// that a worker has comes behind the other, whatever they are called.
func (s *state) namedBy() (named [64]uint32) {
	for i := range s.workers {
		w := &s.workers[i]
		named[w.d.src] += 1 + uint32(w.phase)
	}
	for i := range s.rows {
		r := &s.rows[i]
		named[r.d.src] += 64 * (1 + 2*uint32(r.d.position()) + uint32(number(r.parked)))
	}
	for i := range s.letters {
		named[s.letters[i].src] += 1 << 16
	}
	return named
}

func compareDeliveries(a, b delivery) int {
	return cmp.Or(compareContents(a, b), cmp.Compare(a.src, b.src))
}

func compareContents(a, b delivery) int {
	return cmp.Or(cmp.Compare(a.msg, b.msg), cmp.Compare(a.redrive, b.redrive), cmp.Compare(a.retry, b.retry), cmp.Compare(a.hold, b.hold))
}

func number(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// String is what there is of everything, for a fault's report.
func (s *state) String() string {
	var b strings.Builder
	put := func(name string, there bool, value any) {
		if there {
			fmt.Fprintf(&b, "\n    %s %+v", name, value)
		}
	}
	for i, r := range s.records {
		put("record of "+keys[i+1], r.state != 0, r)
	}
	for _, d := range s.topic {
		put("on the topic", d.msg != 0, d)
	}
	for _, r := range s.rows {
		put("row", r.d.msg != 0, r)
	}
	for _, d := range s.letters {
		put("dead letter", d.msg != 0, d)
	}
	for _, w := range s.workers {
		put("worker", w.phase != idle, w)
	}
	for _, p := range s.schedulers {
		put("scheduler", p.phase != looking, p)
	}
	put("head of the lane", s.head != 0, s.head)
	put("effects", true, s.effects)
	return b.String()
}
