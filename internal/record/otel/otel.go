// Package otel writes what a gate does as OpenTelemetry spans, and sends them over
// OTLP/HTTP.
//
//	x, err := otel.Open(ctx, otel.Options{Endpoint: "http://127.0.0.1:4318"})
//	g, err := gate.New(program, gate.WithTracer(x))
//	gw, err := gateway.New(gateway.Options{Gate: g, Observer: x})
//	defer x.Close(ctx)
//
// An exchange is a span of the kind server, the request to the provider a span of the
// kind client below it, and so are the judge's; each decision is a span of its own, with
// one for the time in which people were asked. The names are those of OpenTelemetry's
// conventions for generative AI, and stopgate.*.
//
// What it promises: spans hold names, codes, sizes and times; messages, arguments and
// results only where Content is set. Nothing waits for the collector: a span
// that finds the queue full is dropped and counted (FM3). No global of the
// SDK is set.
package otel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options set up a [Tracer].
type Options struct {
	// Endpoint is the base URL of the collector, to which /v1/traces is added; "" takes
	// it from the environment, OTEL_EXPORTER_OTLP_ENDPOINT and the like.
	Endpoint string
	// Headers are sent with every request.
	Headers map[string]string
	// Sample is the part of the traces that begin here which are kept, 0 to 1.
	Sample float64
	// Service, Version and Instance name this process in its traces.
	Service, Version, Instance string
	// Content puts what models, tools and people say into spans: messages, arguments of
	// calls, results.
	Content bool
	// Hide are the values of arguments and results that are not shown even so.
	Hide gate.Hidden
	// Propagate sends the trace on to providers.
	Propagate bool
	// Failed hears of exports that failed. May be nil.
	Failed func(error)
	// Exporter replaces the one over OTLP/HTTP.
	Exporter sdk.SpanExporter
}

// Tracer makes spans. It is a [gate.Tracer] and a [gateway.Observer].
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

// Open begins to trace. It connects when the first spans are sent.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if !(o.Sample >= 0 && o.Sample <= 1) {
		return nil, fmt.Errorf("otel: sample is a part between 0 and 1, not %v", o.Sample)
	}
	if o.Exporter == nil {
		settings := []otlptracehttp.Option{
			otlptracehttp.WithTimeout(exportLimit), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}), // the queue has newer spans by then
			otlptracehttp.WithProxy(stay),
		}
		if o.Endpoint != "" {
			settings = append(settings, otlptracehttp.WithEndpointURL(o.Endpoint+"/v1/traces"))
		}
		if len(o.Headers) > 0 {
			settings = append(settings, otlptracehttp.WithHeaders(o.Headers))
		}
		exporter, err := otlptracehttp.New(ctx, settings...)
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

// stay is the proxy of a request to the collector, and an error for one that goes where an
// answer says: spans are for the collector alone. A client of our own would not look at
// the certificates that the environment names.
func stay(r *http.Request) (*url.URL, error) {
	if r.Response != nil {
		return nil, fmt.Errorf("the collector answered %s, which is not followed", r.Response.Status)
	}
	return http.ProxyFromEnvironment(r)
}

// Stats are a tracer's numbers since its start, in spans.
type Stats struct {
	Exported int64
	Dropped  int64 // the queue was full
	Failed   int64 // the collector did not take them
}

// Stats reports the numbers.
func (t *Tracer) Stats() Stats {
	return Stats{t.queue.exported.Load(), t.queue.dropped.Load(), t.queue.failed.Load()}
}

// Close sends what is queued, until ctx ends, and closes the exporter.
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
