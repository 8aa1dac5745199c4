// Package observe is what the runtime tells of itself: each delivery that ended, and a fixed list of
// metrics. The packages below it turn them into OpenTelemetry, Prometheus and slog; nothing else of the
// runtime imports those.
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
	// Measure adds to a counter, sets a gauge, or records into a histogram, as the metric's Kind says.
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
	Shadow                                 bool          // nothing was done (shadow mode)
	Skipped                                bool          // it was for another scope, or of an ignored event type
	Traceparent, Tracestate                string
	Err                                    error
}

// Labels are a metric's. What a metric does not have stays empty; Partition counts with MetricLag and its
// kin alone.
type Labels struct {
	Scope, EventType, Topic, Outcome, Store string
	Partition                               int32
}

// Kind is what Measure does with a value.
type Kind uint8

// The kinds.
const (
	Counter Kind = iota
	Gauge
	Histogram
)

// Metric is one of the runtime's metrics. Info has its name, unit and meaning.
type Metric uint8

// The metrics.
const (
	Messages          Metric = iota // idem_messages_total
	HandlerSeconds                  // idem_handler_seconds
	DeadLetters                     // idem_dead_letters
	DeadLetterOldest                // idem_dead_letter_oldest_age_seconds
	ConsumerLag                     // idem_consumer_lag
	ConsumerLagGrowth               // idem_consumer_lag_growth
	ConsumerOldest                  // idem_consumer_oldest_message_age_seconds
	InFlight                        // idem_messages_in_flight
	RouteOpen                       // idem_route_breaker_open
	RetriesPending                  // idem_retries_pending
	RetriesParked                   // idem_retries_parked
	RetryOldestDue                  // idem_retry_oldest_due_age_seconds
	RetriesPublished                // idem_retries_published_total
	OutboxPending                   // idem_outbox_pending
	OutboxFailed                    // idem_outbox_failed
	OutboxOldest                    // idem_outbox_oldest_age_seconds
	OutboxSent                      // idem_outbox_sent_total
	StoreErrors                     // idem_store_errors_total
	StoreDegraded                   // idem_store_degraded
	RecordsCleaned                  // idem_records_cleaned_total
	LeaseLost                       // idem_leases_lost_total
	Superseded                      // idem_superseded_total
	Rebalances                      // idem_rebalances_total
	metricCount
)

// None observes nothing.
type None struct{}

// Delivery does nothing.
func (None) Delivery(context.Context, *Delivery) {}

// Measure does nothing.
func (None) Measure(Metric, Labels, float64) {}
