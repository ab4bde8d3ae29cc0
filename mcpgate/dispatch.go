package mcpgate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/jsonstream"
)

// dispatch handles one request of the client.
func (x *request) dispatch(ctx context.Context) reply {
	if !x.modern && !x.p.ready(x.m.Method) {
		return refuse(x.m.ID, jsonrpc.InvalidRequest, "the session is not initialized")
	}
	if x.modern && slices.Contains(removed, x.m.Method) {
		return refuse(x.m.ID, jsonrpc.MethodNotFound, "there is no "+x.m.Method+" in this revision")
	}
	switch x.m.Method {
	case "initialize":
		return x.initialize(ctx)
	case "server/discover":
		return x.discover(ctx)
	case "ping":
		return x.result([]byte("{}"))
	case "tools/list":
		return x.listTools(ctx)
	case "tools/call":
		return x.callTool(ctx)
	case "prompts/list", "resources/list", "resources/templates/list":
		return x.listNamed(ctx)
	case "prompts/get":
		return x.getPrompt(ctx)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return x.useResource(ctx)
	case "completion/complete":
		return x.complete(ctx)
	case "logging/setLevel":
		return x.sendToAll(ctx)
	case "subscriptions/listen":
		return x.listen(ctx)
	}
	switch {
	case strings.HasSuffix(x.m.Method, "/call"), jsonrpc.IsLookalikeMethod(x.m.Method):
		// Other methods that run something are not evaluated and therefore refused.
		x.p.g.unevaluated(ctx, x.p.owner, stopgate.CodePolicyNotConfigured, x.m.Method)
		return refuse(x.m.ID, jsonrpc.MethodNotFound, "this method is not served")
	case strings.HasPrefix(x.m.Method, "tasks/"):
		return x.task(ctx)
	case x.p.g.set.RefuseUnknown || !x.p.g.one():
		return refuse(x.m.ID, jsonrpc.MethodNotFound, "this method is not served")
	}
	x.p.g.unevaluated(ctx, x.p.owner, stopgate.CodeNotEvaluated, x.m.Method)
	return x.passTo(ctx, x.p.conns[0], nil)
}

// removed are methods that the revision without sessions has removed.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// ready reports whether the client can use a method in the current state of the session.
func (p *client) ready(method string) bool {
	if method == "initialize" || method == "ping" || method == "server/discover" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handshake != nil
}

// passTo forwards a request to one server and returns its response. edit, if not nil,
// changes the request.
func (x *request) passTo(ctx context.Context, c *conn, edit func(*jsonrpc.Edits)) reply {
	r, err := x.ask(c, edit)
	if err != nil {
		return x.unreachable(c, err)
	}
	return x.forward(r)
}

// ask forwards the request to a server under the gateway's own id and progress token.
func (x *request) ask(c *conn, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	return x.askAs(c, nameOf(x.m), nil, nil, edit)
}

// askAs is ask for a request that has another name towards the server, and headers that
// mirror its arguments.
func (x *request) askAs(c *conn, name string, args []byte, headers map[string]string, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	m := x.m
	o := outgoing{x: x, method: m.Method}
	if o.about.setTarget(m, name); o.about.Tool != "" {
		o.about.Tool = canonical(c.server.ID, o.about.Tool)
	}
	o.about.Arguments, o.about.Traced = args, x.meta.traceparent != ""
	if x.modern {
		o.version, o.headers = x.meta.version, map[string]string{mirror.Method: m.Method}
		if name != "" {
			o.headers[mirror.Name] = mirror.Encode(name)
		}
		for k, v := range headers {
			o.headers[k] = v
		}
	}
	o.text = func(id jsonrpc.ID, seen *observation) ([]byte, error) {
		e := m.Edit().ID(id)
		seen.setTrace(e, m.Params)
		if x.meta.token.IsValid() {
			e.Replace(x.meta.token, []byte(id))
		}
		if edit != nil {
			edit(e)
		}
		return e.Text()
	}
	return c.request(x.serverCtx, o)
}

// nameOf returns the member that the header Mcp-Name mirrors.
func nameOf(m *jsonrpc.Message) string {
	member := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	default:
		return ""
	}
	return jsonrpc.TextOf(m.Params, member)
}

// forward returns a server's response under the client's id.
func (x *request) forward(r link.Reply) reply {
	e := r.Message.Edit().ID(x.id)
	if r.Message.Result.IsValid() {
		if meta, ok := r.Message.Result.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
			if id, ok := meta.Get(metaSubscription); ok {
				e.Replace(id, []byte(x.id))
			}
		}
	}
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// result returns a response with a result of the gateway.
func (x *request) result(result []byte) reply {
	return reply{text: jsonrpc.AppendResult(nil, x.id, result)}
}

// sendToAll sends a request to every server and forwards the first result, or the first
// error if there is no result.
func (x *request) sendToAll(ctx context.Context) reply {
	here, single := x.fromAll(ctx)
	if len(here) == 0 {
		return single
	}
	for _, s := range here {
		if s.value.Message.Kind == jsonrpc.Response {
			return x.forward(s.value)
		}
	}
	return x.forward(here[0].value)
}

// fromAll sends a request to every server and returns the responses. If there is only one
// server, or no server responds, single is the reply to the client.
func (x *request) fromAll(ctx context.Context) (results []serverResult[link.Reply], single reply) {
	if x.p.g.one() {
		return nil, x.passTo(ctx, x.p.conns[0], nil)
	}
	results, none := succeeded(x.p, gather(ctx, x.p, func(c *conn) (link.Reply, error) { return x.ask(c, nil) }, nil))
	if none != nil {
		return nil, x.unreachable(x.p.conns[0], none)
	}
	return results, reply{}
}

// listen opens a subscription at every connected server, in the revision without sessions.
// It lasts until the client closes it or one of the servers ends it.
func (x *request) listen(ctx context.Context) reply {
	if x.p.g.one() {
		return x.passTo(ctx, x.p.conns[0], nil)
	}
	defer x.cancel(nil) // ends the subscriptions at the other servers
	ends := make(chan serverResult[link.Reply], len(x.p.conns))
	for _, c := range x.p.conns {
		x.p.g.work.Go(func() {
			r, err := x.ask(c, nil)
			ends <- serverResult[link.Reply]{c, r, err}
		})
	}
	var last serverResult[link.Reply]
	for range x.p.conns {
		if last = <-ends; !errors.Is(last.err, errUnreachable) {
			break
		}
		x.p.logMissing(last.conn, last.err)
	}
	if last.err != nil {
		return x.unreachable(last.conn, last.err)
	}
	return x.forward(last.value)
}

// statusOf returns the HTTP status for the gateway's own JSON-RPC errors.
func statusOf(code int) int {
	switch code {
	case jsonrpc.ParseError, jsonrpc.InvalidRequest, jsonrpc.HeaderMismatch, jsonrpc.UnsupportedVersion:
		return 400
	case jsonrpc.MethodNotFound:
		return 404 // in the revision without sessions only: see stream.Responder.Finish
	}
	return 200
}
