package otel

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// worthASpan says that a delivery was no plain success, or one of the sample.
func (o *Observer) worthASpan(d *observe.Delivery) bool {
	if d.Skipped {
		return false
	}
	if d.Action != idem.ActionAck || d.Recovered || d.Superseded || d.Err != nil {
		return true
	}
	return o.threshold > 0 && float64(idem.Hash(d.Key)) < o.threshold*(1<<64)
}

// span records a delivery that is over: it began Total ago.
func (o *Observer) span(ctx context.Context, d *observe.Delivery) {
	end := time.Now()
	options := make([]trace.SpanStartOption, 0, 4)
	options = append(options, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(end.Add(-d.Total)), trace.WithAttributes(attributes(d)...))
	producer := remote(context.Background(), d.Traceparent, d.Tracestate)
	if from := trace.SpanContextFromContext(producer); from.IsValid() {
		if o.parent {
			ctx = trace.ContextWithRemoteSpanContext(ctx, from)
		} else {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
		}
	}
	_, span := o.tracer.Start(ctx, "process "+d.Topic, options...)
	if d.Err != nil && span.IsRecording() {
		span.RecordError(d.Err, trace.WithTimestamp(end))
	}
	if d.Action != idem.ActionAck {
		span.SetStatus(codes.Error, d.Reason)
	}
	span.End(trace.WithTimestamp(end))
}

// attributes are those of the semantic conventions for messaging where they have one, and idem's own.
func attributes(d *observe.Delivery) []attribute.KeyValue {
	a := make([]attribute.KeyValue, 0, 16)
	a = append(a,
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", d.Topic),
		attribute.Int("messaging.destination.partition.id", int(d.Partition)),
		attribute.Int64("messaging.kafka.offset", d.Offset),
		attribute.String("messaging.consumer.group.name", d.Scope),
		attribute.String("idem.idempotency_key", d.Key),
		attribute.String("idem.event_type", d.EventType),
		attribute.String("idem.outcome", d.Outcome.String()),
		attribute.String("idem.action", d.Action.String()),
		attribute.Int64("idem.attempts", d.Attempts),
		attribute.Float64("idem.handler_seconds", d.Handler.Seconds()),
	)
	if d.EventID != "" {
		a = append(a, attribute.String("messaging.message.id", d.EventID))
	}
	if d.Counts != (idem.Counts{}) {
		a = append(a, attribute.Int("idem.retry_count", int(d.Counts.Retry)), attribute.Int("idem.hold_count", int(d.Counts.Hold)))
	}
	if d.RedriveCount != 0 {
		a = append(a, attribute.Int("idem.redrive_count", int(d.RedriveCount)))
	}
	if d.Superseded {
		a = append(a, attribute.String("idem.superseded_by", d.SupersededBy))
	}
	if d.Shadow {
		a = append(a, attribute.Bool("idem.shadow", true))
	}
	return a
}

// Batch records a span of a batch.
func (o *Observer) Batch(ctx context.Context, b *observe.Batch) {
	end := time.Now()
	_, span := o.tracer.Start(ctx, b.Step+" batch", trace.WithTimestamp(end.Add(-b.Took)), trace.WithAttributes(
		attribute.String("messaging.consumer.group.name", b.Scope),
		attribute.String("messaging.destination.name", b.Topic),
		attribute.Int("messaging.batch.message_count", b.Size),
	))
	if b.Err != nil {
		span.RecordError(b.Err, trace.WithTimestamp(end))
		span.SetStatus(codes.Error, b.Step)
	}
	span.End(trace.WithTimestamp(end))
}
