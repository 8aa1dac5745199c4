// Package prometheus exports the runtime's metrics to Prometheus, under the names of ../METRICS.md.
//
//	metrics, err := prometheus.New(prometheus.Config{})
//	consumer.Config{Observer: metrics, ...}
//	http.Handle("/metrics", metrics.Handler())
//
// A Collector is an observe.Observer and a prometheus.Collector: Handler serves it alone, and whoever has a
// registry registers it there. Counting is cheap and allocates nothing; the work is done when Prometheus asks.
package prometheus

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/internal/tally"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Config of a Collector. The zero value is good.
type Config struct {
	// EventTypes is how many event types of a group have series of their own; further ones, and those that are
	// no names, share event_type="other". Event types come from messages: nothing else bounds them. 0: 200.
	EventTypes int
	// Buckets are the upper bounds of idem_handler_seconds, rising. Nil: 0.5 ms to 30 s.
	Buckets []float64
	// Constant are labels on every series, such as the service's name.
	Constant map[string]string
}

// Collector counts what it is told, and tells Prometheus.
type Collector struct {
	tally *tally.Tally
	descs []*prometheus.Desc // by metric
}

// New makes a Collector. The error names the field that is wrong.
func New(c Config) (*Collector, error) {
	if c.EventTypes < 0 {
		return nil, fmt.Errorf("prometheus: EventTypes is %d: give 1 or more, or 0 for %d", c.EventTypes, tally.DefaultEventTypes)
	}
	for i, b := range c.Buckets {
		if b <= 0 || i > 0 && b <= c.Buckets[i-1] {
			return nil, fmt.Errorf("prometheus: Buckets has %g at %d: bounds are above 0 and rise", b, i)
		}
	}
	collector := &Collector{tally: tally.New(c.EventTypes, c.Buckets, nil)}
	for _, m := range observe.Metrics() {
		info := m.Info()
		collector.descs = append(collector.descs, prometheus.NewDesc(info.Name, info.Help, info.Labels, c.Constant))
	}
	return collector, nil
}

// Delivery counts a delivery.
func (c *Collector) Delivery(_ context.Context, d *observe.Delivery) { c.tally.Count(d) }

// Measure adds to a counter or sets a gauge.
func (c *Collector) Measure(m observe.Metric, labels observe.Labels, value float64) {
	c.tally.Measure(m, labels, value)
}

// Describe describes all metrics.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect gives all series as they are.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.tally.Each(func(s *tally.Deliveries) {
		s.EachOutcome(func(outcome string, n int64) {
			out <- prometheus.MustNewConstMetric(c.descs[observe.Messages], prometheus.CounterValue, float64(n), s.Scope, s.EventType, outcome)
		})
		if n := s.Superseded(); n > 0 {
			out <- prometheus.MustNewConstMetric(c.descs[observe.Superseded], prometheus.CounterValue, float64(n), s.Scope, s.EventType)
		}
		if count, sum, buckets := s.Handled(c.tally.Buckets()); count > 0 {
			out <- prometheus.MustNewConstHistogram(c.descs[observe.HandlerSeconds], count, sum, buckets, s.Scope, s.EventType)
		}
	})
	for _, m := range observe.Metrics() {
		info := m.Info()
		kind := prometheus.CounterValue
		if info.Kind == observe.Gauge {
			kind = prometheus.GaugeValue
		}
		c.tally.EachValue(m, func(l observe.Labels, value float64) {
			labels := make([]string, len(info.Labels))
			for i, name := range info.Labels {
				labels[i] = l.Value(name)
			}
			out <- prometheus.MustNewConstMetric(c.descs[m], kind, value, labels...)
		})
	}
}

// Handler serves the metrics of this Collector alone. What cannot be gathered is left out, and the rest served.
func (c *Collector) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
