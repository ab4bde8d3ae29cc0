package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/gateway/texts"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// Options configure a Gateway.
type Options struct {
	// Gate decides the calls. Its deny mode should be tool_result.
	Gate *gate.Gate
	// Upstreams are the configured providers. An API without one uses the provider's public
	// address.
	Upstreams []Upstream
	// Replay serves models "stopgate-*", and requests without a credential for an API without a
	// configured upstream (S45). It may be nil.
	Replay http.RoundTripper
	// Settings are the settings; start from DefaultSettings.
	Settings Settings
	// Token is required from clients. It is mandatory for listeners other than loopback and with
	// upstream keys (S46). Tokens are further tokens, each for one principal.
	Token  string
	Tokens []Token
	// Identity authenticates clients without such a token. If set, every request needs a token. It
	// may be nil.
	Identity Identity
	// Certificates authenticate clients with a certificate, over the TLS connections of Serve. Every
	// request then needs a certificate or a token, and a connection a certificate where there are no
	// tokens. It may be nil.
	Certificates Certificates
	// TLS makes Serve use HTTPS; nil means plain HTTP.
	TLS *tls.Config
	// Observer receives notifications about exchanges. It may be nil.
	Observer Observer
	// Policies are the event policies, in order. They run before the gate.
	Policies []events.Policy
	// Events receives the events of policies and judges, with the context that Observer returned
	// for the exchange. It must not block.
	Events func(context.Context, events.Event)
	// ResponseLog stores responses that clients can continue by id. If nil, they are stored in
	// memory, for this gateway only.
	ResponseLog ResponseStore
	// Log receives one line per exchange, without content. Nil discards it.
	Log *slog.Logger
}

// ResponseStore stores entries by principal and key. Principals share no entries. Its methods are
// safe for concurrent use.
type ResponseStore interface {
	// PutLogEntries stores all entries or none, durably before it returns. It overwrites existing
	// keys.
	PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
	// LogEntry returns the entry of a key, or nil if there is none.
	LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// Gateway is an http.Handler. It is safe for concurrent use.
type Gateway struct {
	gate     *gate.Gate
	conf     atomic.Pointer[configuration]
	tls      *tls.Config
	observer Observer
	log      *slog.Logger
	buffers  sync.Pool // of *buffers
	outputs  sync.Pool // of *output
	lent     sse.BufferPool

	stop      context.CancelCauseFunc // cancels every exchange
	stopped   context.Context
	draining  atomic.Bool
	exchanges atomic.Int64
	buffered  atomic.Int64
	faults    faults
	events    func(context.Context, events.Event)
	responses *responselog.Log
	texts     *texts.Tracker
}

// New returns a gateway. It rejects unsafe settings.
func New(o Options) (*Gateway, error) {
	if o.Gate == nil {
		return nil, errors.New("gateway: no gate")
	}
	c, err := newConfiguration(&o, nil)
	if err != nil {
		return nil, err
	}
	g := &Gateway{gate: o.Gate, log: o.Log, tls: o.TLS, observer: o.Observer, events: o.Events}
	g.conf.Store(c)
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.responses = responselog.New(o.ResponseLog)
	g.texts = texts.New(g.gate)
	g.buffers.New = func() any { return new(buffers) }
	g.outputs.New = func() any { return &output{p: make([]byte, 0, usualOutput)} }
	g.stopped, g.stop = context.WithCancelCause(context.Background())
	return g, nil
}

// Close cancels every exchange and closes idle upstream connections.
func (g *Gateway) Close() {
	g.stop(errDraining)
	g.conf.Load().upstreams.CloseIdle(nil)
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := clientRequest{configuration: g.conf.Load()}
	rt, no := v.route(r)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	switch rt.how {
	case health, ready:
		g.serveHealth(w, rt.how)
		return
	case gated, passed, counted, passedUnjudged:
	default:
		return
	}
	n := g.exchanges.Add(1)
	defer g.exchanges.Add(-1)
	w, r = g.watched(w, r, rt, &v)
	defer v.observed.end()
	message, full := g.overloaded(n, v.settings.Limits)
	switch {
	case full != "":
		w.Header().Set("Retry-After", "1")
		g.refuse(w, r, &refusal{status: http.StatusServiceUnavailable, code: stopgate.CodeOverloaded, message: message, why: full})
	case rt.how == gated:
		g.serveGated(w, r, rt, v)
	case rt.how == counted:
		g.serveCounted(w, r, rt, v)
	default:
		g.servePassed(w, r, rt, v)
	}
}

// clientRequest is an incoming request.
type clientRequest struct {
	*configuration
	principal stopgate.Principal
	groups    stopgate.Groups
	observed  *observedExchange
}

// route finds the route of a request and admits it. Health probes are allowed under any host name.
func (v *clientRequest) route(r *http.Request) (*route, *refusal) {
	if rt := find(v.routes, r); rt != nil && (rt.how == health || rt.how == ready) {
		return rt, nil
	}
	if no := v.admit(r); no != nil {
		return nil, no
	}
	if rt := find(v.routes, r); rt != nil { // the token may have been part of the path
		return rt, nil
	}
	return nil, &refusal{status: http.StatusNotFound, code: stopgate.CodeRouteUnknown, message: unserved(v.routes, r)}
}

// overloaded returns messages for the client and for the log if the n-th concurrent request exceeds
// a limit (FM14). An empty message means the code's public text; an empty why means that no limit
// is exceeded.
func (g *Gateway) overloaded(n int64, l Limits) (message, why string) {
	switch {
	case g.draining.Load():
		return shuttingDown, "draining"
	case n > l.Exchanges:
		return "", "[limits] exchanges"
	case g.buffered.Load() >= l.HeldProcess:
		return "", "[limits] held_bytes_total"
	}
	return "", ""
}

// refuse responds with an error in the format of the dialect that the path suggests.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	g.faults.count(no.code)
	writeRefusal(w, registry.Closest(r.URL.Path, r.Header).Dialect, no)
	g.logRefused(r, no)
}

func writeRefusal(w http.ResponseWriter, d provider.Dialect, no *refusal) {
	message := no.message
	if message == "" {
		message = no.code.Public()
	}
	body := d.ErrorBody(no.status, no.code, message)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if no.status != http.StatusServiceUnavailable && no.status != http.StatusBadGateway && no.status != http.StatusGatewayTimeout {
		h.Set("X-Should-Retry", "false") // the same policy applies to a repeated request
	}
	if no.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="stopgate"`)
	}
	w.WriteHeader(no.status)
	_, _ = w.Write(body) // the client is gone
}

// Stats are counters of the gateway.
type Stats struct {
	Exchanges int64 // current number of requests
	Held      int64 // argument bytes currently buffered
	// Faults counts refusals and failed exchanges by code since the start.
	Faults map[stopgate.Code]int64
}

// Stats returns the current counters.
func (g *Gateway) Stats() Stats {
	return Stats{Exchanges: g.exchanges.Load(), Held: g.buffered.Load(), Faults: g.faults.copy()}
}

// faults counts faults by code.
type faults struct {
	mu sync.Mutex
	by map[stopgate.Code]int64
}

func (f *faults) count(code stopgate.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[stopgate.Code]int64{}
	}
	f.by[code]++
}

func (f *faults) copy() map[stopgate.Code]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	by := make(map[stopgate.Code]int64, len(f.by))
	for code, n := range f.by {
		by[code] = n
	}
	return by
}

// serveHealth serves health probes: healthz succeeds while the process works, readyz while it
// accepts requests and its audit log is writable (FM4). A rejected policy is shown but does not
// fail the probe, because the previous policy is still in force (FM11). Neither does a lockdown: it
// is an order that the gate carries out, not a reason to restart it or to bypass it.
func (g *Gateway) serveHealth(w http.ResponseWriter, how treatment) {
	status, word := http.StatusOK, "ok"
	switch h := g.gate.Health(); {
	case how == ready && g.draining.Load():
		status, word = http.StatusServiceUnavailable, "draining"
	case how == ready && h.Failing():
		status, word = http.StatusServiceUnavailable, "degraded"
	case h.Degraded():
		word = "degraded"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, fmt.Sprintf(`{"status":%q,"exchanges":%d,"held_bytes":%d,"lockdown":%t}`+"\n", word, g.exchanges.Load(), g.buffered.Load(), g.gate.Lockdown().Active()))
}
