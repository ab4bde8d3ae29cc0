package otel

import (
	"context"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/gateway/events"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Emit adds the event of an event policy to the span of its exchange (V3-04).
func (t *Tracer) Emit(ctx context.Context, e events.Event) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	list := []attribute.KeyValue{
		attribute.String("stopgate.policy", e.Policy), attribute.String("stopgate.summary", e.Summary), attribute.String("stopgate.severity", e.Severity.String()),
	}
	keys := make([]string, 0, len(e.Details))
	for k := range e.Details {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		list = append(list, attribute.String("stopgate.details."+k, fmt.Sprint(e.Details[k])))
	}
	span.AddEvent(e.Type, trace.WithTimestamp(e.Time), trace.WithAttributes(list...))
}

// Span returns the trace and the span of an exchange, for event policies.
func (x *exchange) Span() (traceID, spanID string) {
	c := x.server.SpanContext()
	return c.TraceID().String(), c.SpanID().String()
}
