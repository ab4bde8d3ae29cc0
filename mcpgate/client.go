package mcpgate

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/merge"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/session"
)

// client is one client: the process at the other end of standard input, an HTTP session,
// or, in the revision without sessions, all requests of one principal. It has its own
// connection to every server.
type client struct {
	*downstream.Client
	via   serve.Connection
	g     *Gateway
	owner session.Owner
	conns []*conn
	began time.Time

	mu        sync.Mutex
	version   string                 // negotiated by initialize
	elicits   bool                   // declared by the client in initialize
	handshake *handshake             // repeated for a server that is restarted
	resources merge.Resources[*conn] // which server listed them
}

var _ serve.Client = (*client)(nil)

// request is one request of the client that is in progress.
type request struct {
	*downstream.Request
	client      *client
	observation *observation
	header      func(name string) (string, bool) // of the HTTP request if headers mirror the body, nil otherwise

	mu              sync.Mutex
	pendingApproval *pendingApproval // the question that the response contains
	declinedID      string           // id of the question that the client's user declined
}

type reply = serve.Reply

func (g *Gateway) newClient(o session.Owner, c serve.Connection) *client {
	p := &client{
		Client: downstream.New(c.Send, c.Sessionless), via: c, g: g, owner: o, began: time.Now(),
	}
	for i := range g.servers {
		p.conns = append(p.conns, newConn(p, &g.servers[i]))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients[p] = true
	return p
}

// Begin implements [serve.Client]. The request's context ends when the client cancels the
// request.
func (p *client) Begin(ctx context.Context, m *jsonrpc.Message, send func([]byte) bool, header func(string) (string, bool)) (func() reply, bool) {
	x := &request{Request: downstream.NewRequest(m, send), client: p, header: header}
	if p.g.observer != nil {
		ctx, x.observation = p.g.observe(ctx, x.observedRequest())
	}
	ctx, ok := p.Client.Begin(ctx, x.Request, !x.Modern && !p.via.Stdio)
	if !ok {
		code := strconv.Itoa(jsonrpc.InvalidRequest)
		x.observation.end(code, code)
		return nil, false
	}
	ctx = context.WithValue(ctx, requestKey{}, x)
	return func() reply { return x.handle(ctx) }, true
}

type requestKey struct{}

// handle handles a registered request.
func (x *request) handle(ctx context.Context) (r reply) {
	defer x.client.Finish(x.Request)
	defer func() { x.observation.endWithResponse(r.Text) }()
	defer func() {
		if fault := recover(); fault != nil {
			x.client.g.log.Error("handling a request panicked", "method", x.Message.Method, "panic", fault)
			r = serve.Refuse(x.Message.ID, jsonrpc.InternalError, "internal error of the gateway")
		}
	}()
	return x.dispatch(ctx)
}

// HandleMessage implements [serve.Client].
func (p *client) HandleMessage(ctx context.Context, m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Response || m.Kind == jsonrpc.ErrorResponse:
		if !p.Respond(ctx, m) {
			p.g.log.Warn("a client's response was dropped", "reason", "unknown request")
		}
	case m.Method == "notifications/cancelled":
		if id, ok := m.Params.Get("requestId"); ok {
			p.Cancel(jsonrpc.ParseID(id))
		}
	case m.Method == "notifications/progress":
		p.Progress(ctx, m)
	case m.Method == "notifications/initialized":
		p.saveNotification(m)
		p.notifyServers(ctx, m)
	case protocol.IsNotification(m.Method):
		p.notifyServers(ctx, m)
	default:
		p.refuseWithoutID(ctx, m)
	}
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
	if c == nil {
		p.g.refuseUnknown(ctx, p.owner, stopgate.ToolName(inner), "", stopgate.CodeProtocolViolation)
		return
	}
	p.g.refuseCall(ctx, p.g.call(p.owner, c.server, stopgate.ToolName(inner), nil), stopgate.CodeProtocolViolation)
}

// notifyServers forwards a notification to every server.
func (p *client) notifyServers(ctx context.Context, m *jsonrpc.Message) {
	for _, c := range p.conns {
		c.Send(ctx, m.Method, jsonrpc.SingleLine(append([]byte(nil), m.Text...)))
	}
}

// Missed implements [serve.Client]: all list changes are reported again.
func (p *client) Missed() {
	for _, c := range p.conns {
		c.changed.Clear()
	}
}

// Close implements [serve.Client].
func (p *client) Close() {
	p.g.mu.Lock()
	delete(p.g.clients, p)
	p.g.mu.Unlock()
	p.mu.Lock()
	over := Session{Version: p.version, Transport: "tcp", Began: p.began}
	p.mu.Unlock()
	if p.via.Stdio {
		over.Transport = "pipe"
	}
	if !p.via.Sessionless {
		p.g.reportSession(over)
	}
	p.Client.Close()
	var all sync.WaitGroup
	for _, c := range p.conns {
		all.Go(func() { c.Close(downstream.ErrCancelled) })
	}
	all.Wait()
}
