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
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// Options are what a Gateway is made of.
type Options struct {
	// Gate decides the calls. It should be in deny mode tool_result.
	Gate *gate.Gate
	// Upstreams are the configured ones; an API without one goes to the provider's
	// own address.
	Upstreams []Upstream
	// Replay answers models "stopgate-*", and requests without a credential for an
	// API that has no configured upstream (DECISIONS S45). May be nil.
	Replay http.RoundTripper
	// Settings begin with DefaultSettings.
	Settings Settings
	// Token is what clients must show; needed for anything but loopback, and with
	// upstream keys (DECISIONS S46). Tokens are more of them, each for one principal.
	Token  string
	Tokens []Token
	// TLS makes Serve speak HTTPS; nil for plain HTTP.
	TLS *tls.Config
	// Observer is told about exchanges. May be nil.
	Observer Observer
	// Policies take part in exchanges, in this order, in front of the gate (V3).
	Policies []events.Policy
	// Events is told what policies and judges emit, with the context that the Observer
	// gave the exchange. It must not block.
	Events func(context.Context, events.Event)
	// Ledger remembers responses that can be continued by their id. Nil keeps them in
	// memory, for this gateway alone.
	Ledger ledger.Store
	// Log gets one line per exchange, without content. Nil discards it.
	Log *slog.Logger
}

// Gateway is the handler. It is safe for concurrent use.
type Gateway struct {
	gate     *gate.Gate
	conf     atomic.Pointer[configuration]
	tls      *tls.Config
	observer Observer
	log      *slog.Logger
	buffers  sync.Pool // of *buffers
	outputs  sync.Pool // of *output
	lent     sse.Buffers

	stop      context.CancelCauseFunc // ends every exchange
	stopped   context.Context
	draining  atomic.Bool
	exchanges atomic.Int64
	held      atomic.Int64
	faults    faults
	events    func(context.Context, events.Event)
	book      *ledger.Book
}

// New returns a gateway. It refuses settings that would be unsafe.
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
	g.book = ledger.New(o.Ledger)
	g.buffers.New = func() any { return new(buffers) }
	g.outputs.New = func() any { return &output{p: make([]byte, 0, usualOutput)} }
	g.stopped, g.stop = context.WithCancelCause(context.Background())
	return g, nil
}

// Close ends every exchange and closes idle upstream connections.
func (g *Gateway) Close() {
	g.stop(errDraining)
	g.conf.Load().upstreams.closeIdle(upstreams{})
}

// ServeHTTP serves one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := visit{configuration: g.conf.Load()}
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
	defer v.seen.end()
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

// visit is a request that comes in.
type visit struct {
	*configuration
	principal stopgate.Principal
	seen      *sight
}

// route finds out what a request wants and whether it may. Probes come under any
// host name and show nothing but health.
func (v *visit) route(r *http.Request) (*route, *refusal) {
	if rt := find(v.routes, r); rt != nil && (rt.how == health || rt.how == ready) {
		return rt, nil
	}
	if no := v.admit(r); no != nil {
		return nil, no
	}
	if rt := find(v.routes, r); rt != nil { // the token may have stood in the path
		return rt, nil
	}
	return nil, &refusal{status: http.StatusNotFound, code: stopgate.CodeRouteUnknown, message: unserved(v.routes, r)}
}

// overloaded is why the n-th request at once is one too many, for its client, "" for the
// code's own text, and for the log, "" if it is not (FM14).
func (g *Gateway) overloaded(n int64, l Limits) (message, why string) {
	switch {
	case g.draining.Load():
		return shuttingDown, "draining"
	case n > l.Exchanges:
		return "", "[limits] exchanges"
	case g.held.Load() >= l.HeldProcess:
		return "", "[limits] held_bytes_total"
	}
	return "", ""
}

// refuse answers with an error in the form of the dialect that the path suggests.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	g.faults.count(no.code)
	writeRefusal(w, errorDialect(r), no)
	g.sayRefused(r, no)
}

func writeRefusal(w http.ResponseWriter, d wire.Dialect, no *refusal) {
	message := no.message
	if message == "" {
		message = no.code.Public()
	}
	body := d.ErrorBody(no.status, no.code, message)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if no.status != http.StatusServiceUnavailable && no.status != http.StatusBadGateway && no.status != http.StatusGatewayTimeout {
		h.Set("X-Should-Retry", "false") // a repeated request meets the same policy
	}
	if no.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="stopgate"`)
	}
	w.WriteHeader(no.status)
	_, _ = w.Write(body) // nobody is left to tell
}

// Stats are the gateway's own numbers.
type Stats struct {
	Exchanges int64 // requests being served now
	Held      int64 // argument bytes held back now
	// Faults counts refusals and broken exchanges by code since the start.
	Faults map[stopgate.Code]int64
}

// Stats reports the gateway's state.
func (g *Gateway) Stats() Stats {
	return Stats{Exchanges: g.exchanges.Load(), Held: g.held.Load(), Faults: g.faults.copy()}
}

// faults counts by code: every fault moves a counter (INVARIANTS 2).
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

// serveHealth answers probes: healthz while the process works, readyz while it
// takes requests and its audit log can be written (FM4). A policy that was rejected
// shows, but the one before is as good as it was (FM11). So does a lockdown: it is an
// order that the gate carries out, and no reason to restart it or to send clients past it.
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
	_, _ = io.WriteString(w, fmt.Sprintf(`{"status":%q,"exchanges":%d,"held_bytes":%d,"lockdown":%t}`+"\n", word, g.exchanges.Load(), g.held.Load(), g.gate.Lockdown().Stands()))
}
