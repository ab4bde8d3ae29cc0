package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/record/live"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/mcpgate"
)

// telemetry is what carries events and numbers out of a running gate.
type telemetry struct {
	events    *live.Stream
	publisher *redis.Publisher // nil for none
	spans     *otel.Tracer     // nil for none
	numbers   *metrics.Metrics
	address   string   // where the numbers are served, "" for nowhere
	hide      []string // pointers of arguments that are not shown; nil: none are
	log       *slog.Logger
	work      sync.WaitGroup
}

// openTelemetry opens what the settings name. It connects to nothing yet.
func openTelemetry(ctx context.Context, s telemetrySettings, numbers *metrics.Metrics, log *slog.Logger) (*telemetry, error) {
	t := &telemetry{events: live.New(s.Events), numbers: numbers, address: s.Metrics, log: log}
	numbers.Drops("live", func() float64 { return float64(t.events.Lost()) })
	instance := t.events.Epoch()
	if host, err := os.Hostname(); err == nil {
		instance = host + "/" + instance
	}
	var err error
	if s.OTLP != nil {
		if t.spans, err = otel.Open(ctx, otel.Options{
			Endpoint: strings.TrimSuffix(s.OTLP.Endpoint, "/"), Headers: s.headers, Sample: s.OTLP.Sample, Service: s.OTLP.Service, Version: release.Version(), Instance: instance,
			Content: s.Content, Hide: gate.Hide(s.hide...), Propagate: s.Propagate, Failed: once(func(err error) { log.Warn("spans do not reach the collector", "error", err) }),
		}); err != nil {
			return nil, err
		}
		numbers.Drops("otlp", func() float64 { n := t.spans.Stats(); return float64(n.Dropped + n.Failed) })
		if s.Content {
			t.hide = s.hide
		}
	}
	if s.Redis == nil {
		return t, nil
	}
	t.publisher, err = redis.New(redis.Options{
		URL: s.redisURL, Channel: s.Redis.Channel, Stream: s.Redis.Stream, StreamLength: s.Redis.StreamLength, Gate: instance,
		Changed: func(err error) {
			if err != nil {
				log.Warn("live events do not reach Redis", "error", err)
			} else {
				log.Info("live events reach Redis")
			}
		},
	}, t.events)
	if err == nil {
		numbers.Drops("redis", func() float64 { return float64(t.publisher.Stats().Dropped) })
	}
	return t, err
}

// once tells of an error once a minute, not of each.
func once(tell func(error)) func(error) {
	var last time.Time
	return func(err error) {
		if now := time.Now(); now.Sub(last) > time.Minute {
			last = now
			tell(err)
		}
	}
}

// tracer is what a gate tells of its proposals.
func (t *telemetry) tracer() gate.Option {
	list := []gate.Tracer{t.numbers, t.events.Tracer(), decisionLog{t.log}}
	if t.spans != nil {
		list = append(list, t.spans)
	}
	return gate.WithTracer(gate.Tracers(list...), t.hide...)
}

// observer is what a gateway tells of its exchanges.
func (t *telemetry) observer() gateway.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return gateway.Observers(t.numbers, t.spans)
}

// mcpObserver is what an MCP gateway tells of its requests.
func (t *telemetry) mcpObserver() mcpgate.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return mcpgate.Observers(t.numbers, t.spans)
}

// agentObserver is what the terminal agent tells of its work.
func (t *telemetry) agentObserver() agent.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return agent.Observers(t.numbers, t.spans)
}

// spansEnd is how long the last spans have.
const spansEnd = 2 * time.Second

// close sends what is left.
func (t *telemetry) close() {
	if t.spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), spansEnd)
	defer cancel()
	if err := t.spans.Close(ctx); err != nil {
		t.log.Warn("the last spans are lost", "error", err)
	}
}

// run carries until ctx ends.
func (t *telemetry) run(ctx context.Context) {
	if t.publisher != nil {
		t.work.Go(func() { _ = t.publisher.Run(ctx) })
	}
	if t.address != "" {
		t.work.Go(func() { t.serve(ctx) })
	}
}

// serve answers scrapes until ctx ends. Several processes may have one policy file: the
// first has the address, the others say so and go on.
func (t *telemetry) serve(ctx context.Context) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", t.address)
	if err != nil {
		t.log.Warn("metrics are not served", "error", err)
		return
	}
	t.log.Info("metrics", "url", "http://"+l.Addr().String()+"/metrics")
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", t.numbers.Handler())
	srv := &http.Server{Handler: onlyPrograms(mux), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelDebug)}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		t.log.Warn("metrics are not served any more", "error", err)
	}
}

// onlyPrograms keeps web pages out, whatever name they have found for this address.
func onlyPrograms(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || !stays(r.Host) {
			http.Error(w, "not for web pages", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// stays reports whether an address is one of this machine alone.
func stays(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}
