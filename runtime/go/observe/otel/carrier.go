package otel

import (
	"context"
	"slices"

	"github.com/idem-spec/idem/runtime/go/idem"
	"go.opentelemetry.io/otel/propagation"
)

// Carrier reads and writes a message's headers as OpenTelemetry's propagators do. It is a
// propagation.TextMapCarrier. Setting a header replaces it, however often it was there: a message has one
// traceparent, after any number of retries.
type Carrier struct{ Headers *idem.Headers }

// Get is the last value of a header that is not null. (HDR-012)
func (c Carrier) Get(name string) string {
	for _, h := range slices.Backward(*c.Headers) {
		if h.Name == name && h.Value != nil {
			return string(h.Value)
		}
	}
	return ""
}

// Set replaces a header, or adds it.
func (c Carrier) Set(name, value string) {
	kept := slices.DeleteFunc(slices.Clone(*c.Headers), func(h idem.Header) bool { return h.Name == name })
	*c.Headers = append(kept, idem.Header{Name: name, Value: []byte(value)})
}

// Keys are the names of the headers.
func (c Carrier) Keys() []string {
	names := make([]string, len(*c.Headers))
	for i, h := range *c.Headers {
		names[i] = h.Name
	}
	return names
}

// Extract gives ctx the trace that a message came with, so that spans a handler starts belong to it.
func Extract(ctx context.Context, headers idem.Headers) context.Context {
	return propagation.TraceContext{}.Extract(ctx, Carrier{&headers})
}

// Trace is the trace of ctx, for the idem.Context of a message that is produced; empty where there is none.
func Trace(ctx context.Context) (traceparent, tracestate string) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"], carrier["tracestate"]
}

// remote is the span that a traceparent names.
func remote(ctx context.Context, traceparent, tracestate string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate})
}
