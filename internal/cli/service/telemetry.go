package service

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
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/record/live"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/mcpgate"
)

// Telemetry exports events and metrics of a running gate.
type Telemetry struct {
	Events    *live.Stream
	publisher *redis.Publisher // nil for none
	spans     *otel.Tracer     // nil for none
	numbers   *metrics.Metrics
	address   string   // where the numbers are served, "" for nowhere
	hide      []string // pointers of arguments that are not shown; nil: none are
	// External makes the external policies of policy files.
	External *external.Factory
	log      *slog.Logger
	Work     sync.WaitGroup
}

// OpenTelemetry opens the exporters of the settings. It makes no connection yet.
func OpenTelemetry(ctx context.Context, s tables.Telemetry, numbers *metrics.Metrics, log *slog.Logger) (*Telemetry, error) {
	t := &Telemetry{Events: live.New(s.Events), numbers: numbers, address: s.Metrics, log: log}
	t.External = Externals(log, numbers.External)
	numbers.Drops("live", func() float64 { return float64(t.Events.Lost()) })
	instance := t.Events.Epoch()
	if host, err := os.Hostname(); err == nil {
		instance = host + "/" + instance
	}
	var err error
	if s.OTLP != nil {
		if t.spans, err = otel.Open(ctx, otel.Options{
			Endpoint: strings.TrimSuffix(s.OTLP.Endpoint, "/"), Headers: s.Headers, Sample: s.OTLP.Sample, Service: s.OTLP.Service, Version: release.Version(), Instance: instance,
			Content: s.Content, Hide: gate.Hide(s.Hide...), Propagate: s.Propagate, Failed: once(func(err error) { log.Warn("spans do not reach the collector", "error", err) }),
		}); err != nil {
			return nil, err
		}
		numbers.Drops("otlp", func() float64 { n := t.spans.Stats(); return float64(n.Dropped + n.Failed) })
		if s.Content {
			t.hide = s.Hide
		}
	}
	if s.Redis == nil {
		return t, nil
	}
	t.publisher, err = redis.New(redis.Options{
		URL: s.RedisURL, Channel: s.Redis.Channel, Stream: s.Redis.Stream, StreamLength: s.Redis.StreamLength, Gate: instance,
		Changed: func(err error) {
			if err != nil {
				log.Warn("live events do not reach Redis", "error", err)
			} else {
				log.Info("live events reach Redis")
			}
		},
	}, t.Events)
	if err == nil {
		numbers.Drops("redis", func() float64 { return float64(t.publisher.Stats().Dropped) })
	}
	return t, err
}

// once passes on an error once a minute, not each.
func once(tell func(error)) func(error) {
	var last time.Time
	return func(err error) {
		if now := time.Now(); now.Sub(last) > time.Minute {
			last = now
			tell(err)
		}
	}
}

// Tracer returns the tracer of a gate's proposals.
func (t *Telemetry) Tracer() gate.Option {
	list := []gate.Tracer{t.numbers, t.Events.Tracer(), decisionLog{t.log}}
	if t.spans != nil {
		list = append(list, t.spans)
	}
	return gate.WithTracer(gate.Tracers(list...), t.hide...)
}

// Observer returns the observer of a gateway's exchanges.
func (t *Telemetry) Observer() gateway.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return gateway.Observers(t.numbers, t.spans)
}

// MCPObserver returns the observer of an MCP gateway's requests.
func (t *Telemetry) MCPObserver() mcpgate.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return mcpgate.Observers(t.numbers, t.spans)
}

// AgentObserver returns the observer of the terminal agent's work.
func (t *Telemetry) AgentObserver() agent.Observer {
	if t.spans == nil {
		return t.numbers
	}
	return agent.Observers(t.numbers, t.spans)
}

// spansEnd is how long the last spans have.
const spansEnd = 2 * time.Second

// Close sends the last spans.
func (t *Telemetry) Close() {
	if t.spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), spansEnd)
	defer cancel()
	if err := t.spans.Close(ctx); err != nil {
		t.log.Warn("the last spans are lost", "error", err)
	}
}

// Run carries until ctx ends.
func (t *Telemetry) Run(ctx context.Context) {
	if t.publisher != nil {
		t.Work.Go(func() { _ = t.publisher.Run(ctx) })
	}
	if t.address != "" {
		t.Work.Go(func() { t.serve(ctx) })
	}
}

// serve answers scrapes until ctx ends. Several processes may have one policy file: the first
// has the address, the others log that and go on.
func (t *Telemetry) serve(ctx context.Context) {
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
		if r.Header.Get("Origin") != "" || !tables.IsLocalAddress(r.Host) {
			http.Error(w, "not for web pages", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
