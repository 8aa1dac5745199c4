package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of violation.
type Kind string

// The kinds.
const (
	Lost      Kind = "LOST"      // acknowledged, and neither done nor given up
	Twice     Kind = "TWICE"     // more effects than its mode allows
	Both      Kind = "BOTH"      // done, and given up in the same life
	Order     Kind = "ORDER"     // done after its successor in its lane
	Backwards Kind = "BACKWARDS" // a committed offset went back
	Overlap   Kind = "OVERLAP"   // two calls of one key while the first one's lease was live
	Unknown   Kind = "UNKNOWN"   // an effect of a message that nobody produced
)

// Violation is one broken promise.
type Violation struct {
	Kind   Kind
	Key    string // or "topic/partition"
	Detail string
}

func (v Violation) String() string { return string(v.Kind) + " " + v.Key + ": " + v.Detail }

// Check gives every violation, in a fixed order: by kind as they are checked, then by key.
func Check(h *History) []Violation {
	c := newCheck(h)
	c.lost()
	c.twice()
	c.order()
	c.backwards()
	c.overlap()
	return c.found
}

type check struct {
	h        *History
	produced map[string]*Produced
	effects  map[string][]Effect
	letters  map[string][]DeadLetter
	keys     []string // of produced, sorted
	found    []Violation
}

func newCheck(h *History) *check {
	c := &check{
		h: h, produced: make(map[string]*Produced, len(h.Produced)),
		effects: make(map[string][]Effect, len(h.Effects)), letters: make(map[string][]DeadLetter, len(h.DeadLetters)),
	}
	for i := range h.Produced {
		p := &h.Produced[i]
		if _, there := c.produced[p.Key]; !there {
			c.keys = append(c.keys, p.Key)
		}
		c.produced[p.Key] = p
	}
	slices.Sort(c.keys)
	for _, e := range h.Effects {
		c.effects[e.Key] = append(c.effects[e.Key], e)
	}
	for _, l := range h.DeadLetters {
		c.letters[l.Key] = append(c.letters[l.Key], l)
	}
	return c
}

func (c *check) add(kind Kind, key, format string, args ...any) {
	c.found = append(c.found, Violation{Kind: kind, Key: key, Detail: fmt.Sprintf(format, args...)})
}

func (c *check) lost() {
	for _, key := range c.keys {
		if c.produced[key].Acknowledged && len(c.effects[key]) == 0 && !c.givenUp(key) {
			c.add(Lost, key, "acknowledged to its producer, and neither done nor a dead letter")
		}
	}
}

// givenUp says that the last life of a key ended as a dead letter.
func (c *check) givenUp(key string) bool {
	return slices.ContainsFunc(c.letters[key], func(l DeadLetter) bool { return !l.Redriven })
}

func (c *check) twice() {
	for _, key := range c.keys {
		p, n := c.produced[key], len(c.effects[key])
		if p.Mode == Idempotent {
			continue
		}
		if n > 1 {
			c.add(Twice, key, "%d effects, by calls %s", n, callsOf(c.effects[key]))
		}
		if n > 0 && c.givenUp(key) {
			c.add(Both, key, "done, and a dead letter that was not redriven")
		}
	}
	unknown := make(map[string]bool)
	for _, e := range c.h.Effects {
		if c.produced[e.Key] == nil && !unknown[e.Key] {
			unknown[e.Key] = true
			c.add(Unknown, e.Key, "an effect of a message that nobody produced")
		}
	}
}

func callsOf(effects []Effect) string {
	words := make([]string, len(effects))
	for i, e := range effects {
		words[i] = fmt.Sprint(e.Call)
	}
	return strings.Join(words, ", ")
}

// order compares neighbours of each lane by the first effect of each: what was done twice is told once, by
// twice.
func (c *check) order() {
	lanes := make(map[string][]*Produced)
	for _, key := range c.keys {
		p := c.produced[key]
		if p.Lane != "" && len(c.effects[key]) > 0 && !c.h.Unordered[key] {
			lanes[p.Lane] = append(lanes[p.Lane], p)
		}
	}
	names := make([]string, 0, len(lanes))
	for name := range lanes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lane := lanes[name]
		slices.SortFunc(lane, func(a, b *Produced) int { return int(a.Seq - b.Seq) })
		for i := 1; i < len(lane); i++ {
			before, after := first(c.effects[lane[i-1].Key]), first(c.effects[lane[i].Key])
			if after < before {
				c.add(Order, lane[i].Key, "message %d of lane %s was done before message %d (%s)", lane[i].Seq, name, lane[i-1].Seq, lane[i-1].Key)
			}
		}
	}
}

func first(effects []Effect) int64 {
	at := effects[0].Order
	for _, e := range effects {
		at = min(at, e.Order)
	}
	return at
}

func (c *check) backwards() {
	type partition struct {
		group, topic string
		partition    int32
	}
	last := make(map[partition]int64)
	for _, m := range c.h.Commits {
		p := partition{m.Group, m.Topic, m.Partition}
		if before, seen := last[p]; seen && m.Offset < before {
			c.add(Backwards, fmt.Sprintf("%s/%d", m.Topic, m.Partition), "group %s went from offset %d back to %d", m.Group, before, m.Offset)
		}
		last[p] = m.Offset
	}
}

// overlap finds a call that started while another of the same key ran under a lease that no clock could
// have ended: within its own time, without any renewal. A call that began with no lease left is no claim's
// fault: its worker does not know yet that it was taken over.
func (c *check) overlap() {
	calls := make(map[string][]Call)
	var keys []string
	for _, call := range c.h.Calls {
		if call.Lease <= 0 {
			continue
		}
		if calls[call.Key] == nil {
			keys = append(keys, call.Key)
		}
		calls[call.Key] = append(calls[call.Key], call)
	}
	slices.Sort(keys)
	for _, key := range keys {
		of := calls[key]
		slices.SortStableFunc(of, func(a, b Call) int { return a.Start.Compare(b.Start) })
		for i := 1; i < len(of); i++ {
			before, after := of[i-1], of[i]
			if before.End.After(after.Start) && after.Start.Sub(before.Start) < before.Lease {
				c.add(Overlap, key, "%s started %s after %s, whose lease of %s was live and whose call went on", after.Worker,
					after.Start.Sub(before.Start).Round(time.Millisecond), before.Worker, before.Lease)
			}
		}
	}
}
