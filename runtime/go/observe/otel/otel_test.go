package otel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/otel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

type world struct {
	*otel.Observer
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
}

func newWorld(t testing.TB, c otel.Config) world {
	t.Helper()
	w := world{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans))
	c.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader))
	o, err := otel.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, o.Close()) })
	w.Observer = o
	return w
}

// collect gives the data of each metric by name.
func (w *world) collect(t *testing.T) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, w.reader.Collect(t.Context(), &all))
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			byName[m.Name] = m
		}
	}
	return byName
}

func success() *observe.Delivery {
	return &observe.Delivery{
		Scope: "payments", EventType: "orders.paid", Key: "orders.paid:v1:8317", Topic: "orders", Partition: 3, Offset: 99, EventID: "e-1",
		Outcome: idem.OutcomeOK, Action: idem.ActionAck, Attempts: 1, Handler: 3 * time.Millisecond, Total: 5 * time.Millisecond, Traceparent: traceparent,
	}
}

func failure() *observe.Delivery {
	d := success()
	d.Outcome, d.Action, d.Reason, d.Err = idem.OutcomeRetryable, idem.ActionRetry, "RETRYABLE: no bank", errors.New("no bank")
	d.Counts.Retry = 2
	return d
}

func TestFailureHasASpanThatLinksToTheProducer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, otel.Config{})
	w.Delivery(t.Context(), success())
	require.Empty(t, w.spans.Ended(), "a success is not sampled by default")
	w.Delivery(t.Context(), failure())
	require.Len(t, w.spans.Ended(), 1)
	span := w.spans.Ended()[0]
	assert.Equal(t, "process orders", span.Name())
	assert.Equal(t, trace.SpanKindConsumer, span.SpanKind())
	assert.Equal(t, 5*time.Millisecond, span.EndTime().Sub(span.StartTime()))
	assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: "RETRYABLE: no bank"}, span.Status())
	require.Len(t, span.Links(), 1)
	assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", span.Links()[0].SpanContext.TraceID().String())
	assert.False(t, span.Parent().IsValid())
	assert.Contains(t, span.Attributes(), attribute.String("idem.idempotency_key", "orders.paid:v1:8317"))
	assert.Contains(t, span.Attributes(), attribute.String("idem.outcome", "RETRYABLE"))
	assert.Contains(t, span.Attributes(), attribute.Int("idem.retry_count", 2))
	require.Len(t, span.Events(), 1)
	assert.Equal(t, "exception", span.Events()[0].Name)
}

func TestProducersSpanIsTheParentWhereAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, otel.Config{Parent: true})
	w.Delivery(t.Context(), failure())
	d := failure()
	d.Traceparent = "no traceparent"
	w.Delivery(t.Context(), d)
	require.Len(t, w.spans.Ended(), 2)
	assert.Equal(t, "00f067aa0ba902b7", w.spans.Ended()[0].Parent().SpanID().String())
	assert.False(t, w.spans.Ended()[1].Parent().IsValid())
	assert.Empty(t, w.spans.Ended()[1].Links())
}

func TestSuccessesAreSampledByTheirKey(t *testing.T) {
	t.Parallel()
	a, b := newWorld(t, otel.Config{SuccessRatio: .25}), newWorld(t, otel.Config{SuccessRatio: .25})
	for i := range 2000 {
		d := success()
		d.Key = fmt.Sprintf("k%d", i)
		a.Delivery(t.Context(), d)
		b.Delivery(t.Context(), d)
	}
	assert.InDelta(t, 500, len(a.spans.Ended()), 100)
	require.Len(t, b.spans.Ended(), len(a.spans.Ended()))
	for i, span := range a.spans.Ended() {
		require.Equal(t, span.Attributes(), b.spans.Ended()[i].Attributes())
	}
	all := newWorld(t, otel.Config{SuccessRatio: 1})
	for i := range 500 {
		d := success()
		d.Key = fmt.Sprintf("k%d", i)
		all.Delivery(t.Context(), d)
	}
	assert.Len(t, all.spans.Ended(), 500)
}

func TestBatchHasASpan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, otel.Config{})
	observe.TellBatch(t.Context(), observe.Multi(observe.None{}, w.Observer, w.Observer), &observe.Batch{Scope: "payments", Step: "claim", Size: 12, Took: time.Millisecond, Err: errors.New("refused")})
	require.Len(t, w.spans.Ended(), 2)
	span := w.spans.Ended()[0]
	assert.Equal(t, "claim batch", span.Name())
	assert.Equal(t, codes.Error, span.Status().Code)
	assert.Contains(t, span.Attributes(), attribute.Int("messaging.batch.message_count", 12))
}

func TestEveryMetricIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, otel.Config{})
	d := success()
	d.Superseded = true
	w.Delivery(t.Context(), d)
	for _, m := range observe.Metrics() {
		w.Measure(m, observe.Labels{Scope: "payments", EventType: "orders.paid", Topic: "t", Outcome: "OK", Store: "s", Partition: 3}, 2)
	}
	collected := w.collect(t)
	require.Len(t, collected, len(observe.Metrics()))
	for _, m := range observe.Metrics() {
		info, data := m.Info(), collected[m.Info().Name]
		assert.Equal(t, info.Unit, data.Unit)
		assert.Equal(t, info.Help, data.Description)
		var set attribute.Set
		value := 2.0
		if info.FromDelivery {
			value = 1
		}
		switch points := data.Data.(type) {
		case metricdata.Sum[float64]:
			assert.Equal(t, observe.Counter, info.Kind, info.Name)
			assert.True(t, points.IsMonotonic)
			assert.Equal(t, value, points.DataPoints[0].Value, info.Name)
			set = points.DataPoints[0].Attributes
		case metricdata.Gauge[float64]:
			assert.Equal(t, observe.Gauge, info.Kind, info.Name)
			assert.Equal(t, value, points.DataPoints[0].Value, info.Name)
			set = points.DataPoints[0].Attributes
		case metricdata.Histogram[float64]:
			assert.Equal(t, observe.Histogram, info.Kind, info.Name)
			assert.EqualValues(t, 1, points.DataPoints[0].Count)
			assert.Equal(t, .003, points.DataPoints[0].Sum)
			set = points.DataPoints[0].Attributes
		}
		assert.Equal(t, len(info.Labels), set.Len(), info.Name)
		for _, name := range info.Labels {
			assert.True(t, set.HasValue(attribute.Key(name)), "%s has %s", info.Name, name)
		}
	}
}

func TestCarrierReplacesAndReadsTheLastValue(t *testing.T) {
	t.Parallel()
	headers := idem.Headers{
		{Name: "traceparent", Value: []byte("old")}, {Name: "x", Value: []byte("1")}, {Name: "traceparent", Value: []byte(traceparent)}, {Name: "traceparent"},
	}
	before := headers
	assert.Equal(t, traceparent, otel.Carrier{Headers: &headers}.Get("traceparent"))
	assert.Equal(t, []string{"traceparent", "x", "traceparent", "traceparent"}, otel.Carrier{Headers: &headers}.Keys())
	ctx := otel.Extract(t.Context(), headers)
	assert.Equal(t, "00f067aa0ba902b7", trace.SpanContextFromContext(ctx).SpanID().String())
	for range 100 { // retries: one header, however often (spring-kafka#3816)
		otel.Carrier{Headers: &headers}.Set("traceparent", "new")
	}
	assert.Equal(t, idem.Headers{{Name: "x", Value: []byte("1")}, {Name: "traceparent", Value: []byte("new")}}, headers)
	assert.Equal(t, "old", string(before[0].Value), "the slice that others hold stays as it is")

	parent, state := otel.Trace(ctx)
	assert.Equal(t, traceparent, parent)
	assert.Empty(t, state)
	parent, _ = otel.Trace(t.Context())
	assert.Empty(t, parent)
}

func TestWrongConfigIsNamed(t *testing.T) {
	t.Parallel()
	for _, ratio := range []float64{-1, 1.5, math.NaN()} {
		_, err := otel.New(otel.Config{SuccessRatio: ratio})
		require.ErrorContains(t, err, "SuccessRatio")
	}
	_, err := otel.New(otel.Config{EventTypes: -1})
	require.ErrorContains(t, err, "EventTypes")
}

func TestSuccessWithoutASpanAllocatesNothing(t *testing.T) {
	w := newWorld(t, otel.Config{SuccessRatio: 0})
	d, ctx := success(), context.Background()
	assert.Zero(t, testing.AllocsPerRun(1000, func() { w.Delivery(ctx, d) }))
}

func BenchmarkSuccess(b *testing.B) {
	w := newWorld(b, otel.Config{})
	d, ctx := success(), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		w.Delivery(ctx, d)
	}
}
