// Package otel exports the runtime's metrics and spans through the OpenTelemetry API. Which exporter they go to
// is said by the SDK, which is the program's.
//
//	telemetry, err := otel.New(otel.Config{SuccessRatio: 0.01})
//	defer telemetry.Close()
//	consumer.Config{Observer: telemetry, ...}
//
// The metrics are those of ../METRICS.md, under the same names. A recorded span costs half a microsecond, more
// than the rest of a delivery: batches, and deliveries that did not succeed, have one, and of the successes a
// share. Which ones is a hash of the idempotency key, so that services with one ratio record the same messages.
package otel

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/internal/tally"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scopeName is what OpenTelemetry calls the library.
const scopeName = "github.com/idem-spec/idem/runtime/go"

// Config of an Observer. The zero value records failures and batches, to the global providers.
type Config struct {
	Tracer trace.TracerProvider // nil: otel.GetTracerProvider()
	Meter  metric.MeterProvider // nil: otel.GetMeterProvider()
	// SuccessRatio is the share of plain successes that have a span, 0 to 1.
	SuccessRatio float64
	// Parent makes the producer's span the parent of the consumer's, which then follows the producer's decision
	// on sampling. By default it is a link, and a failure is recorded whatever the producer decided.
	Parent bool
	// EventTypes is how many event types of a group have series of their own; further ones share
	// event_type="other". 0: 200.
	EventTypes int
	// Buckets are the upper bounds of idem_handler_seconds. Nil: 0.5 ms to 30 s.
	Buckets []float64
}

// Observer is an observe.BatchObserver.
type Observer struct {
	tracer       trace.Tracer
	tally        *tally.Tally
	handler      metric.Float64Histogram
	registration metric.Registration
	threshold    float64 // of a hash, as a share of 2^64
	parent       bool
}

// New makes an Observer, and has the meter ask it. The error names the field that is wrong, or is the meter's.
func New(c Config) (*Observer, error) {
	if !(c.SuccessRatio >= 0 && c.SuccessRatio <= 1) {
		return nil, fmt.Errorf("otel: SuccessRatio is %g: give 0 to 1", c.SuccessRatio)
	}
	if c.EventTypes < 0 {
		return nil, fmt.Errorf("otel: EventTypes is %d: give 1 or more, or 0 for %d", c.EventTypes, tally.DefaultEventTypes)
	}
	if c.Tracer == nil {
		c.Tracer = otel.GetTracerProvider()
	}
	if c.Meter == nil {
		c.Meter = otel.GetMeterProvider()
	}
	o := &Observer{tracer: c.Tracer.Tracer(scopeName), threshold: c.SuccessRatio, parent: c.Parent}
	o.tally = tally.New(c.EventTypes, c.Buckets, func(s *tally.Deliveries) {
		set := attribute.NewSet(attribute.String(observe.LabelGroup, s.Scope), attribute.String(observe.LabelEventType, s.EventType))
		s.Extra = []metric.RecordOption{metric.WithAttributeSet(set)}
	})
	if err := o.register(c.Meter.Meter(scopeName)); err != nil {
		return nil, fmt.Errorf("otel: make the instruments: %w", err)
	}
	return o, nil
}

// Close takes the metrics from the meter.
func (o *Observer) Close() error { return o.registration.Unregister() }

// register makes an instrument of each metric. All but the histogram are read from the tally when they are
// asked for, which keeps the way of a delivery short.
func (o *Observer) register(meter metric.Meter) error {
	instruments := make([]metric.Float64Observable, len(observe.Metrics()))
	var observables []metric.Observable
	for _, m := range observe.Metrics() {
		info := m.Info()
		var err error
		switch info.Kind {
		case observe.Histogram:
			o.handler, err = meter.Float64Histogram(info.Name, metric.WithUnit(info.Unit), metric.WithDescription(info.Help),
				metric.WithExplicitBucketBoundaries(o.tally.Buckets()...))
		case observe.Gauge:
			instruments[m], err = meter.Float64ObservableGauge(info.Name, metric.WithUnit(info.Unit), metric.WithDescription(info.Help))
		default:
			instruments[m], err = meter.Float64ObservableCounter(info.Name, metric.WithUnit(info.Unit), metric.WithDescription(info.Help))
		}
		if err != nil {
			return err
		}
		if instruments[m] != nil {
			observables = append(observables, instruments[m])
		}
	}
	var err error
	o.registration, err = meter.RegisterCallback(func(_ context.Context, out metric.Observer) error {
		o.report(out, instruments)
		return nil
	}, observables...)
	return err
}

// report answers the meter.
func (o *Observer) report(out metric.Observer, instruments []metric.Float64Observable) {
	o.tally.Each(func(s *tally.Deliveries) {
		group, eventType := attribute.String(observe.LabelGroup, s.Scope), attribute.String(observe.LabelEventType, s.EventType)
		s.EachOutcome(func(outcome string, n int64) {
			out.ObserveFloat64(instruments[observe.Messages], float64(n), metric.WithAttributes(group, eventType, attribute.String(observe.LabelOutcome, outcome)))
		})
		if n := s.Superseded(); n > 0 {
			out.ObserveFloat64(instruments[observe.Superseded], float64(n), metric.WithAttributes(group, eventType))
		}
	})
	for m, instrument := range instruments {
		labels := observe.Metric(m).Info().Labels
		o.tally.EachValue(observe.Metric(m), func(l observe.Labels, value float64) {
			attributes := make([]attribute.KeyValue, len(labels))
			for i, name := range labels {
				attributes[i] = attribute.String(name, l.Value(name))
			}
			out.ObserveFloat64(instrument, value, metric.WithAttributes(attributes...))
		})
	}
}

// Measure adds to a counter or sets a gauge.
func (o *Observer) Measure(m observe.Metric, labels observe.Labels, value float64) {
	o.tally.Measure(m, labels, value)
}

// Delivery counts a delivery, and records a span of it where it is worth one.
func (o *Observer) Delivery(ctx context.Context, d *observe.Delivery) {
	series := o.tally.Count(d)
	if d.Handler > 0 {
		options, _ := series.Extra.([]metric.RecordOption)
		o.handler.Record(ctx, d.Handler.Seconds(), options...)
	}
	if o.worthASpan(d) {
		o.span(ctx, d)
	}
}
