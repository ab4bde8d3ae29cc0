package otel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/otel"
)

// Proves V3-02, V3-04: an event of a policy is an event of the span of its exchange, and the policy
// knows the span.
func TestEmit(t *testing.T) {
	kept := &keeping{}
	x := open(t, otel.Options{Exporter: kept})
	p, found := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte("version = 1\n")}}, policy.Options{})
	if p == nil {
		t.Fatal(found)
	}
	g, err := gate.New(p)
	if err != nil {
		t.Fatal(err)
	}
	var seen speaker
	gw, err := gateway.New(gateway.Options{
		Gate: g, Settings: gateway.DefaultSettings(), Observer: gateway.Observers(x), Events: x.Emit, Policies: []events.Policy{&seen},
		Upstreams: []gateway.Upstream{{ID: "up", BaseURL: "http://127.0.0.1:1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gw.Close()
	r := httptest.NewRequest("POST", "http://127.0.0.1/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[]}`))
	w := httptest.NewRecorder()
	if gw.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("status %d", w.Code)
	}
	closed(t, x)
	var emitted []string
	for _, s := range kept.spans {
		for _, e := range s.Events {
			text := s.SpanContext.TraceID().String() + " " + s.SpanContext.SpanID().String() + " " + e.Name
			for _, a := range e.Attributes {
				text += " " + string(a.Key) + "=" + a.Value.AsString()
			}
			emitted = append(emitted, text)
		}
	}
	want := seen.trace + " " + seen.span + " test.said stopgate.policy=speaker stopgate.summary=One line. stopgate.severity=warning stopgate.details.a=1 stopgate.details.b=x"
	if len(emitted) != 1 || emitted[0] != want {
		t.Errorf("%q\nwant %q", emitted, want)
	}
	x.Emit(t.Context(), events.Event{}) // no span to add to
}

// speaker emits an event and refuses the request.
type speaker struct{ trace, span string }

func (*speaker) Name() string { return "speaker" }

func (s *speaker) OnRequest(_ context.Context, x *events.Exchange, _ *events.Request) error {
	s.trace, s.span = x.TraceID, x.SpanID
	x.Emit(events.Event{Type: "test.said", Summary: "One line.", Severity: events.Warning, Details: map[string]any{"b": "x", "a": 1}})
	return &events.Rejection{Message: "No."}
}
