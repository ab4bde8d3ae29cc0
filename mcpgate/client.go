package mcpgate

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// client is one client: the process at the other end of standard input, an HTTP session,
// or, in the revision without sessions, all requests of one principal. It has its own
// connection to every server.
type client struct {
	g     *Gateway
	owner session.Owner
	conns []*conn
	// session is the id of an HTTP session, "" otherwise.
	session     string
	stdio       bool // connected by standard input and output
	sessionless bool // all requests of a principal in the revision without sessions
	began       time.Time

	// unsolicited sends a message that belongs to no request of the client. It returns
	// false if there is no way to the client.
	unsolicited func(text []byte) bool

	mu             sync.Mutex
	version        string                        // negotiated by initialize
	abilities      abilities                     // declared by the client in initialize
	handshake      *handshake                    // repeated for a server that is restarted
	requests       map[jsonrpc.ID]*request       // by the client's id
	order          []*request                    // oldest first
	serverRequests map[jsonrpc.ID]*serverRequest // requests of servers and of the gateway to the client, by the gateway's id
	knownServers   map[string]*conn              // servers of resources and tasks, by "resource:URI" or "task:ID"
	lastID         int64                         // last request id towards the client
	closed         bool
}

// request is one request of the client that is in progress.
type request struct {
	p             *client
	m             *jsonrpc.Message
	id            jsonrpc.ID
	method        string
	modern        bool   // of the revision without sessions
	progressToken []byte // the client's progress token as JSON text, nil for none
	meta          requestMeta
	cancel        context.CancelCauseFunc
	// serverCtx is the context for requests to servers. In the revisions with sessions it
	// outlives the client's connection: a disconnect is not a cancellation.
	serverCtx   context.Context
	observation *observation
	header      func(name string) (string, bool) // of the HTTP request if headers mirror the body, nil otherwise

	mu              sync.Mutex
	write           func(text []byte) bool // writes to the request's stream; nil after the response
	pendingApproval *pendingApproval       // the question that the response contains
	declinedID      string                 // id of the question that the client's user declined
}

// send sends a message on the request's stream. It returns false if the stream is closed.
func (x *request) send(text []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.write == nil {
		return false
	}
	return x.write(text)
}

// closeStream closes the request's stream.
func (x *request) closeStream() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.write = nil
}

// reply is the response to a request.
type reply struct {
	text   []byte // without text, nothing is sent
	status int    // HTTP status, 0 for 200
	stream bool   // respond with a stream, as the server did
}

// errCancelled is the cause of a request that the client cancelled.
var errCancelled = errors.New("mcpgate: the client cancelled the request")

func (g *Gateway) newClient(o session.Owner, stray func([]byte) bool) *client {
	p := &client{
		g: g, owner: o, unsolicited: stray, requests: map[jsonrpc.ID]*request{}, serverRequests: map[jsonrpc.ID]*serverRequest{},
		knownServers: map[string]*conn{}, began: time.Now(),
	}
	for i := range g.servers {
		p.conns = append(p.conns, newConn(p, &g.servers[i]))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients[p] = true
	return p
}

// begin registers a request. Its context ends when the client cancels the request.
func (p *client) begin(ctx context.Context, m *jsonrpc.Message, send func([]byte) bool) (context.Context, *request, bool) {
	x := &request{p: p, m: m, id: m.ID, method: m.Method, write: send, meta: readMeta(m.Params)}
	x.modern = x.meta.version >= modernRevision
	if x.meta.token.IsValid() {
		x.progressToken = append([]byte(nil), x.meta.token.Raw()...)
	}
	if p.g.observer != nil {
		ctx, x.observation = p.g.observe(ctx, x.observedRequest())
	}
	x.serverCtx = ctx
	if !x.modern && !p.stdio {
		x.serverCtx = context.WithoutCancel(ctx)
	}
	var ends [2]context.CancelCauseFunc
	ctx, ends[0] = context.WithCancelCause(ctx)
	x.serverCtx, ends[1] = context.WithCancelCause(x.serverCtx)
	x.cancel = func(cause error) {
		ends[0](cause)
		ends[1](cause)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.order) >= maxOpen || !p.sessionless && p.requests[m.ID] != nil {
		x.cancel(errCancelled)
		code := strconv.Itoa(jsonrpc.InvalidRequest)
		x.observation.end(code, code)
		return ctx, nil, false
	}
	if !p.sessionless {
		p.requests[m.ID] = x
	}
	p.order = append(p.order, x)
	return context.WithValue(ctx, requestKey{}, x), x, true
}

type requestKey struct{}

// finish removes a request.
func (p *client) finish(x *request) {
	x.closeStream()
	x.cancel(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests[x.id] == x {
		delete(p.requests, x.id)
	}
	for i, other := range p.order {
		if other == x {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
}

// newest returns the newest request: the most likely one for a message of a server that
// names no request.
func (p *client) newest() *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.order); n > 0 && !p.sessionless {
		return p.order[n-1]
	}
	return nil
}

// sendUnsolicited sends a message that belongs to no request of the client.
func (p *client) sendUnsolicited(text []byte) bool {
	if p.unsolicited != nil && p.unsolicited(text) {
		return true
	}
	x := p.newest()
	return x != nil && x.send(text)
}

// requestRefused is the error message for a request that begin refuses.
const requestRefused = "this id belongs to an open request, or too many requests are open"

// serve handles one request.
func (p *client) serve(ctx context.Context, m *jsonrpc.Message, send func([]byte) bool) reply {
	ctx, x, ok := p.begin(ctx, m, send)
	if !ok {
		return refuse(m.ID, jsonrpc.InvalidRequest, requestRefused)
	}
	return p.handle(ctx, m, x)
}

// handle handles a registered request.
func (p *client) handle(ctx context.Context, m *jsonrpc.Message, x *request) (r reply) {
	defer p.finish(x)
	defer func() { x.observation.endWithResponse(r.text) }()
	defer func() {
		if fault := recover(); fault != nil {
			p.g.log.Error("handling a request panicked", "method", m.Method, "panic", fault)
			r = refuse(m.ID, jsonrpc.InternalError, "internal error of the gateway")
		}
	}()
	return x.dispatch(ctx)
}

// handleMessage handles a notification or a response of the client.
func (p *client) handleMessage(ctx context.Context, m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Response || m.Kind == jsonrpc.ErrorResponse:
		p.handleResponse(ctx, m)
	case m.Method == "notifications/cancelled":
		p.handleCancel(m)
	case m.Method == "notifications/progress":
		p.handleProgress(ctx, m)
	case m.Method == "notifications/initialized":
		p.initialized(ctx, m)
	case isNotification(m.Method):
		p.notifyServers(ctx, m)
	default:
		p.refuseWithoutID(ctx, m)
	}
}

// isNotification reports whether all peers treat the method as a notification.
func isNotification(method string) bool {
	return strings.HasPrefix(method, "notifications/") && !jsonrpc.IsLookalikeMethod(method)
}

// refuseWithoutID refuses a request without an id. A lenient server would run it although
// no response is expected (G8), so it is not forwarded.
func (p *client) refuseWithoutID(ctx context.Context, m *jsonrpc.Message) {
	p.g.log.Warn("a client's notification was refused", "reason", "the method is that of a request", "method", visible.Elide(visible.Text(m.Method), 64))
	name := jsonrpc.TextOf(m.Params, "name")
	if name == "" || !strings.HasSuffix(m.Method, "/call") {
		p.g.unevaluated(ctx, p.owner, stopgate.CodeProtocolViolation, m.Method)
		return
	}
	c, inner, ok := p.route(name)
	if !ok {
		c, inner = nil, name
	}
	call := stopgate.Call{Tool: stopgate.ToolName(inner), Session: p.owner.Session, Principal: p.owner.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect}
	if c != nil {
		call = p.g.call(p.owner, c.server, stopgate.ToolName(inner), nil)
	}
	p.refuseCall(ctx, call, stopgate.CodeProtocolViolation)
}

// handleCancel cancels a request of the client and the server requests that it caused.
func (p *client) handleCancel(m *jsonrpc.Message) {
	id, ok := m.Params.Get("requestId")
	if !ok {
		return
	}
	p.mu.Lock()
	x := p.requests[jsonrpc.ParseID(id)]
	p.mu.Unlock()
	if x != nil && x.method != "initialize" {
		x.closeStream()
		x.cancel(errCancelled)
	}
}

// notifyServers forwards a notification to every server.
func (p *client) notifyServers(ctx context.Context, m *jsonrpc.Message) {
	for _, c := range p.conns {
		c.send(ctx, m.Method, jsonrpc.SingleLine(append([]byte(nil), m.Text...)))
	}
}

// close closes the connections to the servers.
func (p *client) close() {
	p.g.mu.Lock()
	delete(p.g.clients, p)
	p.g.mu.Unlock()
	p.mu.Lock()
	p.closed = true
	open := append([]*request(nil), p.order...)
	over := Session{Version: p.version, Transport: "tcp", Began: p.began}
	p.mu.Unlock()
	if p.stdio {
		over.Transport = "pipe"
	}
	if !p.sessionless {
		p.g.reportSession(over)
	}
	for _, x := range open {
		x.closeStream()
		x.cancel(errCancelled)
	}
	var all sync.WaitGroup
	for _, c := range p.conns {
		all.Go(c.close)
	}
	all.Wait()
}

// requestMeta is the member _meta of a request.
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
	r.traceparent, r.tracestate = jsonrpc.TextOf(meta, "traceparent"), jsonrpc.TextOf(meta, "tracestate")
	r.token, _ = meta.Get("progressToken")
	if jsonrpc.ParseID(r.token) == "" {
		r.token = jsonstream.Value{}
	}
	if r.capabilities, ok = meta.Get(metaCapabilities); ok {
		r.abilities = abilitiesOf(r.capabilities)
	}
	return r
}

// refuse returns an error response of the gateway.
func refuse(id jsonrpc.ID, code int, message string) reply {
	return reply{text: jsonrpc.AppendError(nil, id, code, message, nil), status: statusOf(code)}
}
