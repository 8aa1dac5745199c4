// Package tally counts what observers are told, for exporters that are asked from time to time. Telling costs
// tens of nanoseconds and no allocation; the labels that come from messages are bounded.
package tally

import (
	"context"
	"maps"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/eventtype"
	"github.com/idem-spec/idem/runtime/go/internal/names"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// DefaultEventTypes is how many event types have series of their own.
const DefaultEventTypes = eventtype.Most

// maxSeries bounds the series of one metric that is measured: what is told beyond goes to Other.
const maxSeries = 10000

// Other stands for the event types, and all else, beyond a bound.
const Other = eventtype.Other

// Skipped is the outcome of deliveries that were none of this consumer's, and Shadow in front of those that
// were only computed.
const (
	Skipped = "SKIPPED"
	Shadow  = "SHADOW_"
)

// DefaultBuckets are the upper bounds of the handler's time in seconds.
var DefaultBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Tally is an observe.Observer that counts. Make it with New.
type Tally struct {
	eventTypes int
	buckets    []float64
	nanos      []int64 // the buckets
	// fresh is called with each new series of deliveries, before anybody sees it.
	fresh func(*Deliveries)

	// deliveries and measured are replaced as a whole under mu, and read without it.
	mu         sync.Mutex
	types      map[string]int // distinct event types a scope
	deliveries atomic.Pointer[map[route]*Deliveries]
	measured   [64]atomic.Pointer[map[observe.Labels]*Value]
}

type route struct{ scope, eventType string }

// Deliveries are those of one scope and event type.
type Deliveries struct {
	Scope, EventType string
	outcomes         [2 * outcomeCount]atomic.Int64 // the second half in shadow mode
	skipped          atomic.Int64
	superseded       atomic.Int64
	handled          []atomic.Int64 // a bucket each, and one beyond
	handlerNanos     atomic.Int64
	// Extra is the exporter's own, which it makes when the series is new.
	Extra any
}

// outcomeCount is how many outcomes there are.
const outcomeCount = int(idem.OutcomeFenced) + 1

// Value is one series of a metric that is measured: an integer sum for counters, or a gauge.
type Value struct{ bits atomic.Uint64 }

// New makes a Tally. eventTypes and buckets have defaults where they are 0 and nil. fresh, if any, is called with
// each new series of deliveries, to set its Extra.
func New(eventTypes int, buckets []float64, fresh func(*Deliveries)) *Tally {
	if eventTypes <= 0 {
		eventTypes = DefaultEventTypes
	}
	if len(buckets) == 0 {
		buckets = DefaultBuckets
	}
	t := &Tally{eventTypes: eventTypes, buckets: buckets, fresh: fresh, types: map[string]int{}}
	for _, b := range buckets {
		t.nanos = append(t.nanos, int64(b*1e9))
	}
	t.deliveries.Store(&map[route]*Deliveries{})
	for i := range t.measured {
		t.measured[i].Store(&map[observe.Labels]*Value{})
	}
	return t
}

// Delivery counts a delivery.
func (t *Tally) Delivery(_ context.Context, d *observe.Delivery) { t.Count(d) }

// Of is the series that deliveries of an event type go to.
func (t *Tally) Of(scope, eventType string) *Deliveries {
	if s := (*t.deliveries.Load())[route{scope, eventType}]; s != nil {
		return s
	}
	return t.add(scope, eventType)
}

// Count counts a delivery, and returns the series that it went to.
func (t *Tally) Count(d *observe.Delivery) *Deliveries {
	s := t.Of(d.Scope, d.EventType)
	switch {
	case d.Skipped:
		s.skipped.Add(1)
		return s
	case int(d.Outcome) >= outcomeCount:
		return s
	case d.Shadow:
		s.outcomes[outcomeCount+int(d.Outcome)].Add(1)
	default:
		s.outcomes[d.Outcome].Add(1)
	}
	if d.Superseded {
		s.superseded.Add(1)
	}
	if d.Handler > 0 {
		s.handled[t.bucket(int64(d.Handler))].Add(1)
		s.handlerNanos.Add(int64(d.Handler))
	}
	return s
}

func (t *Tally) bucket(nanos int64) int {
	for i, bound := range t.nanos {
		if nanos <= bound {
			return i
		}
	}
	return len(t.nanos)
}

// add makes a series, or finds that of Other. A name of an event type that is none (a malformed message has
// whatever bytes it has) is folded too: what exporters are given has to be text.
func (t *Tally) add(scope, eventType string) *Deliveries {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.deliveries.Load()
	asked := route{scope, eventType}
	if s := old[asked]; s != nil {
		return s
	}
	if t.types[scope] >= t.eventTypes || !names.Is(eventType) {
		// Not kept under the name that was asked for: that would grow without a bound.
		asked.eventType = Other
		if s := old[asked]; s != nil {
			return s
		}
	} else {
		t.types[strings.Clone(scope)]++
	}
	// Clones: the name may be a part of a message's memory.
	kept := route{strings.Clone(asked.scope), strings.Clone(asked.eventType)}
	s := &Deliveries{
		Scope: strings.ToValidUTF8(kept.scope, "?"), EventType: kept.eventType, handled: make([]atomic.Int64, len(t.buckets)+1),
	}
	if t.fresh != nil {
		t.fresh(s)
	}
	next := maps.Clone(old)
	next[kept] = s
	t.deliveries.Store(&next)
	return s
}

// Measure adds to a counter or sets a gauge. What Delivery brings, and a metric or a value that is none, is
// ignored.
func (t *Tally) Measure(m observe.Metric, labels observe.Labels, value float64) {
	info := m.Info()
	if int(m) >= len(t.measured) || info.FromDelivery || info.Kind == observe.Histogram {
		return
	}
	labels = m.Only(labels)
	if math.IsNaN(value) {
		if info.Kind == observe.Gauge {
			t.remove(m, labels)
		}
		return
	}
	v := (*t.measured[m].Load())[labels]
	if v == nil {
		v = t.addValue(m, labels)
	}
	if info.Kind == observe.Gauge {
		v.bits.Store(math.Float64bits(value))
		return
	}
	if value < 0 || math.IsInf(value, 0) {
		return // a counter never falls
	}
	for {
		old := v.bits.Load()
		if v.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+value)) {
			return
		}
	}
}

func (t *Tally) addValue(m observe.Metric, l observe.Labels) *Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.measured[m].Load()
	if v := old[l]; v != nil {
		return v
	}
	l.Scope, l.EventType, l.Topic = clean(l.Scope), clean(l.EventType), clean(l.Topic)
	l.Outcome, l.Store = clean(l.Outcome), clean(l.Store)
	if len(old) >= maxSeries {
		l = m.Only(observe.Labels{Scope: Other, EventType: Other, Topic: Other, Outcome: Other, Store: Other, Partition: -1})
	}
	if v := old[l]; v != nil {
		return v
	}
	v := new(Value)
	next := maps.Clone(old)
	next[l] = v
	t.measured[m].Store(&next)
	return v
}

func (t *Tally) remove(m observe.Metric, l observe.Labels) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := maps.Clone(*t.measured[m].Load())
	delete(next, l)
	t.measured[m].Store(&next)
}

// clean is a copy that is text.
func clean(s string) string {
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "?")
	}
	return strings.Clone(s)
}
