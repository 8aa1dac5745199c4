package tally

import (
	"math"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// Buckets are the upper bounds of histograms, in seconds.
func (t *Tally) Buckets() []float64 { return t.buckets }

// Each calls fn with each series of deliveries.
func (t *Tally) Each(fn func(*Deliveries)) {
	for _, s := range *t.deliveries.Load() {
		fn(s)
	}
}

// EachOutcome calls fn with each outcome that there was, and how often.
func (s *Deliveries) EachOutcome(fn func(outcome string, n int64)) {
	for i := range s.outcomes {
		n := s.outcomes[i].Load()
		switch {
		case n == 0:
		case i < outcomeCount:
			fn(idem.Outcome(i).String(), n)
		default:
			fn(Shadow+idem.Outcome(i-outcomeCount).String(), n)
		}
	}
	if n := s.skipped.Load(); n > 0 {
		fn(Skipped, n)
	}
}

// Superseded is how many were.
func (s *Deliveries) Superseded() int64 { return s.superseded.Load() }

// Handled is the histogram of the handler's time: how many there were, the seconds together, and how many
// took at most each bucket's bound.
func (s *Deliveries) Handled(bounds []float64) (count uint64, sum float64, buckets map[float64]uint64) {
	buckets = make(map[float64]uint64, len(bounds))
	for i := range s.handled {
		count += uint64(s.handled[i].Load())
		if i < len(bounds) {
			buckets[bounds[i]] = count
		}
	}
	return count, float64(s.handlerNanos.Load()) / 1e9, buckets
}

// EachValue calls fn with each series of a metric that is measured.
func (t *Tally) EachValue(m observe.Metric, fn func(labels observe.Labels, value float64)) {
	for l, v := range *t.measured[m].Load() {
		fn(l, math.Float64frombits(v.bits.Load()))
	}
}
