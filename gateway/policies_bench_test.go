package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// BenchmarkPolicies measures the cost of event policies for a stream of text, without a socket:
// none, one without a hook, one that redacts, one in Go that forwards everything.
func BenchmarkPolicies(b *testing.B) {
	redact, err := events.Redact(events.Redaction{Patterns: []string{`sk-[A-Za-z0-9]{20,}`, `\d{4} \d{4} \d{4} \d{4}`}})
	if err != nil {
		b.Fatal(err)
	}
	forward := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error { return s.SendText(delta, false) })
	list := textEvents(64 << 10)
	body := bytes.Join(list, nil)
	for _, c := range []struct {
		name     string
		policies []events.Policy
	}{
		{"none", nil}, {"passthrough", []events.Policy{events.Passthrough{}}}, {"redact", []events.Policy{redact}}, {"forward", []events.Policy{forward}},
	} {
		b.Run(c.name, func(b *testing.B) {
			gw, err := gateway.New(gateway.Options{
				Gate: newBenchGate(), Settings: gateway.DefaultSettings(), Policies: c.policies,
				Upstreams: []gateway.Upstream{{ID: "test", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
				})}},
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			cpu := processCPU()
			for b.Loop() {
				w := &nowhere{header: http.Header{}}
				gw.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+chatPath, strings.NewReader(benchRequest)))
				if !strings.HasSuffix(w.tail, "data: [DONE]\n\n") {
					b.Fatalf("the stream ends in %q", w.tail)
				}
			}
			b.ReportMetric(float64(processCPU()-cpu)/float64(b.N)/float64(len(list)), "cpu-ns/event")
		})
	}
}
