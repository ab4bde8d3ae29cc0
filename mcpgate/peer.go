package mcpgate

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// peer is one client: a process at the other end of standard input, an HTTP session,
// or all requests of one principal in the revision without sessions. It has a
// connection of its own to every server.
type peer struct {
	g     *Gateway
	owner session.Owner
	conns []*conn
	// session is the id of a session over HTTP, "" for a client that has none.
	session string
	stdio   bool // reached over standard input and output
	shared  bool // stands for all requests of a principal in the revision without sessions
	began   time.Time

	// stray takes a message that belongs to no request of the client; it reports false
	// where there is no way to the client.
	stray func(text []byte) bool

	mu        sync.Mutex
	version   string                    // negotiated by initialize
	abilities abilities                 // that the client declared in initialize
	hello     *hello                    // what a server that starts anew is told first
	open      map[jsonrpc.ID]*exchange  // by the client's id
	order     []*exchange               // the newest last
	asked     map[jsonrpc.ID]*serverAsk // by our id: requests of servers that the client answers
	homes     map[string]*conn          // resources and tasks, by the server that named them
	next      int64                     // last of our ids towards the client
	closed    bool
}

// exchange is one request of the client on its way.
type exchange struct {
	p      *peer
	id     jsonrpc.ID
	method string
	modern bool   // in the revision without sessions
	token  []byte // the client's progress token as JSON text, nil for none
	meta   requestMeta
	cancel context.CancelCauseFunc
	// lasting is the context of what servers are asked for: in the revisions with
	// sessions a client that is gone has not cancelled.
	lasting  context.Context
	observed *observation
	header   func(name string) (string, bool) // of the HTTP request, where headers mirror the body; else nil

	mu     sync.Mutex
	send   func(text []byte) bool // a message on the request's stream; nil once it is answered
	parked *parked                // the question that the client is asked in the answer
	no     string                 // the question to which the client's user said no
}

// tell sends a message on the request's own stream. It reports false where that is
// over.
func (x *exchange) tell(text []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.send == nil {
		return false
	}
	return x.send(text)
}

// over ends the stream: what comes later has no way to the client.
func (x *exchange) over() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.send = nil
}

// reply answers a request.
type reply struct {
	text   []byte
	status int  // of HTTP, 0 for 200
	stream bool // the server answered with a stream, and so do we
}

// errCancelled is why a request ended that the client gave up.
var errCancelled = errors.New("mcpgate: the client cancelled the request")

func (g *Gateway) newPeer(o session.Owner, stray func([]byte) bool) *peer {
	p := &peer{
		g: g, owner: o, stray: stray, open: map[jsonrpc.ID]*exchange{}, asked: map[jsonrpc.ID]*serverAsk{},
		homes: map[string]*conn{}, began: time.Now(),
	}
	for i := range g.servers {
		p.conns = append(p.conns, newConn(p, &g.servers[i]))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peers[p] = true
	return p
}

// begin registers a request. Its context ends when the client cancels it.
func (p *peer) begin(ctx context.Context, m *jsonrpc.Message, send func([]byte) bool) (context.Context, *exchange, bool) {
	x := &exchange{p: p, id: m.ID, method: m.Method, send: send, meta: readMeta(m.Params)}
	x.modern = x.meta.version >= modernRevision
	if x.meta.token.IsValid() {
		x.token = append([]byte(nil), x.meta.token.Raw()...)
	}
	if p.g.observer != nil {
		ctx, x.observed = p.g.observed(ctx, p.served(m, x))
	}
	x.lasting = ctx
	if !x.modern && !p.stdio {
		x.lasting = context.WithoutCancel(ctx)
	}
	var ends [2]context.CancelCauseFunc
	ctx, ends[0] = context.WithCancelCause(ctx)
	x.lasting, ends[1] = context.WithCancelCause(x.lasting)
	x.cancel = func(cause error) {
		ends[0](cause)
		ends[1](cause)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.order) >= maxOpen || !p.shared && p.open[m.ID] != nil {
		x.cancel(errCancelled)
		code := strconv.Itoa(jsonrpc.InvalidRequest)
		x.observed.end(code, code)
		return ctx, nil, false
	}
	if !p.shared {
		p.open[m.ID] = x
	}
	p.order = append(p.order, x)
	return context.WithValue(ctx, exchangeKey{}, x), x, true
}

type exchangeKey struct{}

// finish forgets a request.
func (p *peer) finish(x *exchange) {
	x.over()
	x.cancel(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[x.id] == x {
		delete(p.open, x.id)
	}
	for i, other := range p.order {
		if other == x {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
}

// newest is the request that a message of a server which names none is most likely
// about.
func (p *peer) newest() *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.order); n > 0 && !p.shared {
		return p.order[n-1]
	}
	return nil
}

// out sends a message that belongs to no request of the client.
func (p *peer) out(text []byte) bool {
	if p.stray != nil && p.stray(text) {
		return true
	}
	x := p.newest()
	return x != nil && x.tell(text)
}

// notNow is why a request is not begun.
const notNow = "this id belongs to a request that is still open, or too many requests are"

// serve answers one request.
func (p *peer) serve(ctx context.Context, m *jsonrpc.Message, send func([]byte) bool) reply {
	ctx, x, ok := p.begin(ctx, m, send)
	if !ok {
		return refuse(m.ID, jsonrpc.InvalidRequest, notNow)
	}
	return p.answer(ctx, m, x)
}

// answer is serve for a request that is registered.
func (p *peer) answer(ctx context.Context, m *jsonrpc.Message, x *exchange) (r reply) {
	defer p.finish(x)
	defer func() { x.observed.answered(r.text) }()
	defer func() {
		if fault := recover(); fault != nil {
			p.g.log.Error("a request failed", "method", m.Method, "panic", fault)
			r = refuse(m.ID, jsonrpc.InternalError, "the gate failed")
		}
	}()
	return p.dispatch(ctx, m, x)
}

// note takes a notification or a response of the client.
func (p *peer) note(ctx context.Context, m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Response || m.Kind == jsonrpc.Failure:
		p.answered(ctx, m)
	case m.Method == "notifications/cancelled":
		p.cancelled(m)
	case m.Method == "notifications/progress":
		p.progressed(ctx, m)
	case m.Method == "notifications/initialized":
		p.initialized(ctx, m)
	case notifies(m.Method):
		p.tellAll(ctx, m)
	default:
		p.unasked(ctx, m)
	}
}

// notifies reports a method that servers and clients can only take for a notification.
func notifies(method string) bool {
	return strings.HasPrefix(method, "notifications/") && !jsonrpc.StrangeMethod(method)
}

// unasked takes a request without an id: nobody may wait for its answer, but a lenient
// server does what it says (THREATS G8). It goes nowhere.
func (p *peer) unasked(ctx context.Context, m *jsonrpc.Message) {
	p.g.log.Warn("from a client", "what", "a notification that is not one", "method", visible.Elide(visible.Text(m.Method), 64))
	name := textOf(m.Params, "name")
	if name == "" || !strings.HasSuffix(m.Method, "/call") {
		p.g.unevaluated(ctx, p.owner, stopgate.CodeProtocolViolation, m.Method)
		return
	}
	c, inner, ok := p.split(name)
	if !ok {
		c, inner = nil, name
	}
	call := stopgate.Call{Tool: stopgate.ToolName(inner), Session: p.owner.Session, Principal: p.owner.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect}
	if c != nil {
		call = p.g.call(p.owner, c.server, stopgate.ToolName(inner), nil)
	}
	p.refuseCall(ctx, call, stopgate.CodeProtocolViolation)
}

// cancelled gives a request up; whoever waits for a server tells it.
func (p *peer) cancelled(m *jsonrpc.Message) {
	id, ok := m.Params.Get("requestId")
	if !ok {
		return
	}
	p.mu.Lock()
	x := p.open[jsonrpc.Literal(id)]
	p.mu.Unlock()
	if x != nil && x.method != "initialize" {
		x.over()
		x.cancel(errCancelled)
	}
}

// tellAll forwards a notification to every server.
func (p *peer) tellAll(ctx context.Context, m *jsonrpc.Message) {
	for _, c := range p.conns {
		c.send(ctx, m.Method, jsonrpc.Line(append([]byte(nil), m.Text...)))
	}
}

// close ends the connections to the servers.
func (p *peer) close() {
	p.g.mu.Lock()
	delete(p.g.peers, p)
	p.g.mu.Unlock()
	p.mu.Lock()
	p.closed = true
	open := append([]*exchange(nil), p.order...)
	over := Session{Version: p.version, Transport: "tcp", Began: p.began}
	p.mu.Unlock()
	if p.stdio {
		over.Transport = "pipe"
	}
	if !p.shared {
		p.g.over(over)
	}
	for _, x := range open {
		x.over()
		x.cancel(errCancelled)
	}
	var all sync.WaitGroup
	for _, c := range p.conns {
		all.Go(c.close)
	}
	all.Wait()
}

// requestMeta is what a request says beside its parameters.
type requestMeta struct {
	version      string
	traceparent  string
	tracestate   string
	token        jsonstream.Value
	capabilities jsonstream.Value
	abilities    abilities
}

// Members of _meta in the revision without sessions.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

func readMeta(params jsonstream.Value) (r requestMeta) {
	if !params.IsValid() {
		return r
	}
	meta, ok := params.Get("_meta")
	if !ok || meta.Kind() != jsonstream.Object {
		return r
	}
	if v, ok := meta.Get(metaVersion); ok && v.Kind() == jsonstream.String {
		r.version = v.Text()
	}
	r.traceparent, r.tracestate = textOf(meta, "traceparent"), textOf(meta, "tracestate")
	r.token, _ = meta.Get("progressToken")
	if jsonrpc.Literal(r.token) == "" {
		r.token = jsonstream.Value{}
	}
	if r.capabilities, ok = meta.Get(metaCapabilities); ok {
		r.abilities = abilitiesOf(r.capabilities)
	}
	return r
}

// refuse is an error that the gate itself answers.
func refuse(id jsonrpc.ID, code int, message string) reply {
	return reply{text: jsonrpc.AppendError(nil, id, code, message, nil), status: statusOf(code)}
}
