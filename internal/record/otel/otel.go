// Package otel writes the work of a gate as OpenTelemetry spans, and sends them over OTLP/HTTP.
//
//	x, err := otel.Open(ctx, otel.Options{Endpoint: "http://127.0.0.1:4318"})
//	g, err := gate.New(program, gate.WithTracer(x))
//	gw, err := gateway.New(gateway.Options{Gate: g, Observer: x})
//	defer x.Close(ctx)
//
// An exchange is a server span; the requests to the provider and to a judge are client spans below
// it. Each decision is a span of its own, with a child span for the time spent on questions. The
// names are those of OpenTelemetry's conventions for generative AI, and stopgate.*.
//
// Guarantees: spans contain names, codes, sizes and times; messages, arguments and results only if
// Content is set. The gate never waits for the collector: spans are dropped and counted while the
// queue is full (FM3). The package sets no global of the SDK.
package otel

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure a [Tracer].
type Options struct {
	// Endpoint is the base URL of the collector, to which /v1/traces is added; "" uses the
	// environment, such as OTEL_EXPORTER_OTLP_ENDPOINT.
	Endpoint string
	// Headers are sent with every request.
	Headers map[string]string
	// Sample is the fraction of the traces started here that are kept, 0 to 1.
	Sample float64
	// Service, Version and Instance identify this process in its traces.
	Service, Version, Instance string
	// Content adds messages, arguments of calls and results to spans.
	Content bool
	// Hide selects values of arguments and results that are hidden even then.
	Hide gate.Hidden
	// Propagate sends the trace on to providers.
	Propagate bool
	// Failed is called with errors of exports. It may be nil.
	Failed func(error)
	// Exporter replaces the one over OTLP/HTTP.
	Exporter sdk.SpanExporter
}

// Tracer writes spans. It is a [gate.Tracer] and a [gateway.Observer].
type Tracer struct {
	o        Options
	queue    *queue
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	w3c      propagation.TraceContext
}

var (
	_ gate.Tracer      = (*Tracer)(nil)
	_ gateway.Observer = (*Tracer)(nil)
)

// Open returns a tracer. It connects when the first spans are sent.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if !(o.Sample >= 0 && o.Sample <= 1) {
		return nil, fmt.Errorf("otel: sample is a part between 0 and 1, not %v", o.Sample)
	}
	if o.Exporter == nil {
		to, err := openEndpoint(o)
		if err != nil {
			return nil, fmt.Errorf("otel: %w", err)
		}
		exporter, err := otlptrace.New(ctx, newCollector(to))
		if err != nil {
			return nil, fmt.Errorf("otel: %w", err)
		}
		o.Exporter = exporter
	}
	t := &Tracer{o: o, queue: newQueue(o.Exporter, o.Failed)}
	t.provider = sdk.NewTracerProvider(
		sdk.WithSpanProcessor(t.queue),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", o.Service), attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Instance),
		)),
	)
	t.tracer = t.provider.Tracer("github.com/stopgate/stopgate", trace.WithInstrumentationVersion(o.Version))
	return t, nil
}

// Stats are the counters of a tracer since its start, in spans.
type Stats struct {
	Exported int64
	Dropped  int64 // the queue was full
	Failed   int64 // the collector rejected them
}

// Stats returns the counters.
func (t *Tracer) Stats() Stats {
	return Stats{t.queue.exported.Load(), t.queue.dropped.Load(), t.queue.failed.Load()}
}

// Close sends the queued spans until ctx ends, and closes the exporter.
func (t *Tracer) Close(ctx context.Context) error {
	return errors.Join(t.provider.Shutdown(ctx), t.o.Exporter.Shutdown(ctx))
}

// exportLimit bounds one request to the collector.
const exportLimit = 5 * time.Second

// ParseHeaders reads headers as the environment of OpenTelemetry spells them:
// name=value, separated by commas, values with percent escapes.
func ParseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, errors.New("want NAME=VALUE,NAME=VALUE")
		}
		headers[name] = value
	}
	return headers, nil
}
