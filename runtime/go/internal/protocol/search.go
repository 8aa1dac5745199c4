package protocol

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// search visits every state of a world, nearest first. Of a state it keeps a hash of 128 bits, and where it
// came from; the way to a fault is walked again when it is asked for.
type search struct {
	world  world
	rules  rules
	policy idem.Policy

	index  map[[2]uint64]int32
	near   []state // those that are to be expanded, all as far from the start
	far    []state // those behind them
	from   []int32 // the state before
	ended  []bool  // quiescent
	next   []int32 // the states behind each, from starts[i] to starts[i+1]
	starts []int32
	bad    string // of the step that was just made
	walk   bool   // steps are named
}

// fault is what a search has found.
type fault struct {
	what string
	way  []string // the steps that lead to it
	last state
}

func (f *fault) String() string {
	return fmt.Sprintf("%s, after %d steps:\n  %s\n  then:%s", f.what, len(f.way), strings.Join(f.way, "\n  "), &f.last)
}

// endless is the fault of a state from which no end can be reached.
const endless = "no end can be reached"

// errLimit says that a search did not see everything.
var errLimit = errors.New("the search reached its limit")

// run is nil where the rules hold in every state, or the first fault, and how many states there were. It
// returns errLimit where there are more than limit, or more of something than a state has room for.
func run(w world, r rules, limit int) (*fault, int, error) {
	x := &search{world: w, rules: r, policy: w.policy(), index: make(map[[2]uint64]int32)}
	x.visit(w.start(), -1)
	expanded := 0
	for at := int32(0); int(at) < len(x.from); at++ {
		if expanded == len(x.near) {
			x.near, x.far, expanded = x.far, x.near[:0], 0
		}
		s := x.near[expanded]
		expanded++
		x.starts = append(x.starts, int32(len(x.next)))
		x.ended = append(x.ended, s.quiescent())
		if x.ended[at] {
			if what := x.unended(&s); what != "" {
				return x.found(at, what, ""), len(x.from), nil
			}
		}
		var err error
		bad := ""
		x.steps(&s, func(t *turn) {
			switch {
			case t.bad != "" && bad == "":
				bad = t.bad
			case t.full:
				err = fmt.Errorf("%w: no room for more", errLimit)
			case bad == "":
				x.visit(t.s, at)
			}
		})
		if bad != "" {
			return x.found(at, bad, bad), len(x.from), nil
		}
		if err == nil && len(x.from) > limit {
			err = fmt.Errorf("%w: %d states", errLimit, limit)
		}
		if err != nil {
			return nil, len(x.from), err
		}
	}
	x.starts = append(x.starts, int32(len(x.next)))
	return x.endless(), len(x.from), nil
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(s *state) [2]uint64 {
	return [2]uint64{maphash.Comparable(seeds[0], *s), maphash.Comparable(seeds[1], *s)}
}

// visit adds a state, unless it is known.
func (x *search) visit(s state, from int32) {
	id := hashOf(&s)
	at, known := x.index[id]
	if !known {
		at = int32(len(x.from))
		x.index[id] = at
		x.from, x.far = append(x.from, from), append(x.far, s)
	}
	if from >= 0 {
		x.next = append(x.next, at)
	}
}

// found is a fault in a state, or in the step from it that is bad.
func (x *search) found(at int32, what, bad string) *fault {
	var ids []int32
	for ; at >= 0; at = x.from[at] {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	x.walk = true
	f := &fault{what: what}
	s := x.world.start()
	for n := range ids {
		last := n == len(ids)-1
		if last && bad == "" {
			break
		}
		var next *turn
		x.steps(&s, func(t *turn) {
			switch {
			case next != nil:
			case last && t.bad == bad, !last && t.bad == "" && !t.full && x.index[hashOf(&t.s)] == ids[n+1]:
				next = t
			}
		})
		f.way = append(f.way, next.name)
		s = next.s
	}
	f.last = s
	return f
}

// unended says which message has not ended as it should, in a state in which nothing is under way.
func (x *search) unended(s *state) string {
	for msg := uint8(1); msg <= messages; msg++ {
		if x.world.copies[msg-1] == 0 {
			continue
		}
		letters := 0
		for _, d := range s.letters {
			if d.msg == msg {
				letters++
			}
		}
		effects := s.effects[msg-1]
		success := s.record(msg).state == uint8(idem.StateSuccess)
		switch {
		case effects == 0 && letters == 0:
			return fmt.Sprintf("%s is lost: no effect, no dead letter, and nothing under way", keys[msg])
		case success != (effects == 1):
			return fmt.Sprintf("%s has %d effects, and its record says success %v", keys[msg], effects, success)
		case x.world.followUps && effects == 1 && letters > 0:
			return fmt.Sprintf("%s succeeded, and is a dead letter too", keys[msg])
		case x.world.followUps && letters > 1:
			return fmt.Sprintf("%s is %d dead letters", keys[msg], letters)
		}
	}
	return ""
}

// endless finds a state from which no end can be reached.
func (x *search) endless() *fault {
	ends := slices.Clone(x.ended)
	for changed := true; changed; {
		changed = false
		for at := len(ends) - 1; at >= 0; at-- {
			if ends[at] {
				continue
			}
			for _, next := range x.next[x.starts[at]:x.starts[at+1]] {
				if ends[next] {
					ends[at], changed = true, true
					break
				}
			}
		}
	}
	if at := slices.Index(ends, false); at >= 0 {
		return x.found(int32(at), endless, "")
	}
	return nil
}
