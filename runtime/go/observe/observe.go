// Package observe is what the runtime tells of itself: each delivery that ended, and a fixed list of
// metrics. The packages below it turn them into OpenTelemetry, Prometheus and slog; nothing else of the
// runtime imports those. METRICS.md lists the metrics for those who read dashboards.
package observe

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Observer is told what happened. It is called from many goroutines and must not block; what it panics
// with is dropped, since a failing observer changes no outcome.
type Observer interface {
	// Delivery tells of one delivery that ended: its outcome is durable. d is the callee's until it returns.
	Delivery(ctx context.Context, d *Delivery)
	// Measure adds to a counter, sets a gauge, or records into a histogram, as the metric's Kind says. NaN ends
	// the series of a gauge: a partition that was given back, an event type without dead letters. Metrics whose
	// Info says FromDelivery are the observer's to derive from Delivery, and nobody measures them.
	Measure(m Metric, labels Labels, value float64)
}

// Delivery is one delivery that ended.
type Delivery struct {
	Scope, EventType, Key, BizKey, EventID string
	Topic                                  string
	Partition                              int32
	Offset                                 int64
	Outcome                                idem.Outcome
	Action                                 idem.Action
	Reason                                 string // why, where it is no success
	Counts                                 idem.Counts
	RedriveCount                           int32
	Attempts                               int64
	Delay                                  time.Duration // until the next delivery
	Handler                                time.Duration // time in the handler; 0 where it did not run
	Total                                  time.Duration // from the fetch to the durable outcome
	Age                                    time.Duration // since produced_at; 0 where it is unknown
	Recovered                              bool          // it took over a claim that ended without a word
	Superseded                             bool          // another key made the transition (STATE-011)
	SupersededBy                           string        // that key, where the row keeps it
	Layer                                  Layer         // what kept it from another effect
	Shadow                                 bool          // nothing was done (shadow mode)
	Skipped                                bool          // it was for another scope, or of an ignored event type
	Traceparent, Tracestate                string
	Err                                    error
}

// None observes nothing.
type None struct{}

// Delivery does nothing.
func (None) Delivery(context.Context, *Delivery) {}

// Measure does nothing.
func (None) Measure(Metric, Labels, float64) {}
