package service

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/record/live"
)

// Emit passes the events of event policies and judges on: to the span of the exchange, and to
// the stream of stopgate events, GET /v1/events and Redis (V3-04).
func (t *Telemetry) Emit(ctx context.Context, e events.Event) {
	if t.spans != nil {
		t.spans.Emit(ctx, e)
	}
	event := &live.PolicyEvent{Name: e.Policy, Type: e.Type, Summary: e.Summary, Severity: e.Severity.String(), Session: e.Session}
	if len(e.Details) > 0 {
		event.Details = make(map[string]string, len(e.Details))
		for k, v := range e.Details {
			event.Details[k] = fmt.Sprint(v)
		}
	}
	t.Events.Write(live.Event{Time: e.Time, Type: live.Policy, Policy: event})
}
