package guard

import (
	"sync"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/store"
)

// scratch is what a step over a batch needs for its time, kept for the next one.
type scratch struct {
	deliveries []*Delivery
	claims     []store.Claim

	todo, again []*Delivery

	completions []store.Completion
	completing  []*Delivery

	rows     []store.Retry
	retrying []*Delivery
	dead     []broker.Message
	dying    []*Delivery

	settlements []store.Settlement
	settling    []*Delivery
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func newScratch() *scratch { return scratches.Get().(*scratch) }

// free keeps the memory, and lets go of what it points at.
func (s *scratch) free() {
	clear(s.deliveries)
	clear(s.claims)
	s.deliveries, s.claims = s.deliveries[:0], s.claims[:0]
	clear(s.todo)
	clear(s.again)
	s.todo, s.again = s.todo[:0], s.again[:0]
	s.reset()
	scratches.Put(s)
}

// reset empties what one pass of Settle collects.
func (s *scratch) reset() {
	clear(s.completions)
	clear(s.completing)
	clear(s.rows)
	clear(s.retrying)
	clear(s.dead)
	clear(s.dying)
	clear(s.settlements)
	clear(s.settling)
	s.completions, s.completing = s.completions[:0], s.completing[:0]
	s.rows, s.retrying = s.rows[:0], s.retrying[:0]
	s.dead, s.dying = s.dead[:0], s.dying[:0]
	s.settlements, s.settling = s.settlements[:0], s.settling[:0]
}
