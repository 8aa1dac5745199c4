// Package audit counts what became of deliveries, and keeps the counts in a store: how many duplicates were stopped,
// and where, outlives a process and its metrics. `idem audit` reads them. (CONS-040)
//
// A consumer has one by itself. A loop of your own gives it to guard.Config as the Observer, and calls Flush every
// ten seconds and at its end.
package audit

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/internal/tally"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Interval is how often counts are written. A crash loses those of the last one.
const Interval = 10 * time.Second

// The dimensions of a series' cells. Of outcomes there is one more: Superseded.
const (
	outcomes = int(idem.OutcomeFenced) + 2
	actions  = int(idem.ActionDeadLetter) + 1
	layers   = int(observe.LayerHandler) + 1
)

// cells are the counts of one scope and event type.
type cells [outcomes * actions * layers]atomic.Int64

// Counter is an observe.Observer that counts. Telling it costs no allocation, once an event type is known. Make it
// with New.
type Counter struct {
	observe.None
	store store.Audit
	tally *tally.Tally
}

// New makes a Counter that Flush writes into a store.
func New(s store.Audit) *Counter {
	return &Counter{store: s, tally: tally.New(0, nil, func(d *tally.Deliveries) { d.Extra = new(cells) })}
}

// Delivery counts a delivery that acted.
func (c *Counter) Delivery(_ context.Context, d *observe.Delivery) {
	if d.Skipped || d.Shadow {
		return
	}
	outcome, action, layer := int(d.Outcome), int(d.Action), int(d.Layer)
	if d.Superseded {
		outcome = outcomes - 1
	}
	if outcome >= outcomes || action >= actions || layer >= layers {
		return
	}
	c.tally.Of(d.Scope, d.EventType).Extra.(*cells)[(outcome*actions+action)*layers+layer].Add(1)
}

// Flush writes what was counted since the last one. What cannot be written is kept for the next.
func (c *Counter) Flush(ctx context.Context) error {
	var counts []store.Count
	var from []*atomic.Int64
	c.tally.Each(func(d *tally.Deliveries) {
		of := d.Extra.(*cells)
		for i := range of {
			if n := of[i].Swap(0); n != 0 {
				counts, from = append(counts, countOf(d, i, n)), append(from, &of[i])
			}
		}
	})
	if len(counts) == 0 {
		return nil
	}
	err := c.store.Count(ctx, counts)
	if err != nil {
		for i := range counts {
			from[i].Add(counts[i].N)
		}
	}
	return err
}

func countOf(d *tally.Deliveries, cell int, n int64) store.Count {
	outcome := store.Superseded
	if o := cell / layers / actions; o < outcomes-1 {
		outcome = idem.Outcome(o).String()
	}
	return store.Count{
		Scope: d.Scope, EventType: d.EventType, Outcome: outcome,
		Action: idem.Action(cell / layers % actions).String(), Layer: observe.Layer(cell % layers).String(), N: n,
	}
}
