package main

import (
	"fmt"

	"github.com/stopgate/stopgate/audit/live"
	"github.com/stopgate/stopgate/gateway/events"
)

// emits tells what event policies and judges say to those who watch: stopgate events,
// GET /v1/events, Redis (V3-04).
func emits(to *live.Stream) func(events.Event) {
	return func(e events.Event) {
		said := &live.Said{Name: e.Policy, Type: e.Type, Summary: e.Summary, Severity: e.Severity.String(), Session: e.Session}
		if len(e.Details) > 0 {
			said.Details = make(map[string]string, len(e.Details)+1)
			for k, v := range e.Details {
				said.Details[k] = fmt.Sprint(v)
			}
		}
		to.Write(live.Event{Time: e.Time, Type: live.Policy, Said: said})
	}
}
