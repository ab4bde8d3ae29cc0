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
func (p *client) dispatch(ctx context.Context, m *jsonrpc.Message, x *request) reply {
	if !x.modern && !p.ready(m.Method) {
		return refuse(m.ID, jsonrpc.InvalidRequest, "the session is not initialized")
	}
	if x.modern && slices.Contains(removed, m.Method) {
		return refuse(m.ID, jsonrpc.MethodNotFound, "there is no "+m.Method+" in this revision")
	}
	switch m.Method {
	case "initialize":
		return p.initialize(ctx, m, x)
	case "server/discover":
		return p.discover(ctx, m, x)
	case "ping":
		return p.result(x, []byte("{}"))
	case "tools/list":
		return p.listTools(ctx, m, x)
	case "tools/call":
		return p.callTool(ctx, m, x)
	case "prompts/list", "resources/list", "resources/templates/list":
		return p.listNamed(ctx, m, x)
	case "prompts/get":
		return p.getPrompt(ctx, m, x)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return p.useResource(ctx, m, x)
	case "completion/complete":
		return p.complete(ctx, m, x)
	case "logging/setLevel":
		return p.sendToAll(ctx, m, x)
	case "subscriptions/listen":
		return p.listen(ctx, m, x)
	}
	switch {
	case strings.HasSuffix(m.Method, "/call"), jsonrpc.IsLookalikeMethod(m.Method):
		// Other methods that run something are not evaluated and therefore refused.
		p.g.unevaluated(ctx, p.owner, stopgate.CodePolicyNotConfigured, m.Method)
		return refuse(m.ID, jsonrpc.MethodNotFound, "this method is not served")
	case strings.HasPrefix(m.Method, "tasks/"):
		return p.task(ctx, m, x)
	case p.g.set.RefuseUnknown || !p.g.one():
		return refuse(m.ID, jsonrpc.MethodNotFound, "this method is not served")
	}
	p.g.unevaluated(ctx, p.owner, stopgate.CodeNotEvaluated, m.Method)
	return p.passTo(ctx, p.conns[0], m, x, nil)
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
func (p *client) passTo(ctx context.Context, c *conn, m *jsonrpc.Message, x *request, edit func(*jsonrpc.Edits)) reply {
	r, err := c.pass(m, x, edit)
	if err != nil {
		return p.unreachable(m.ID, c, err)
	}
	return p.forward(x, r)
}

// pass forwards a request under the gateway's own id and progress token.
func (c *conn) pass(m *jsonrpc.Message, x *request, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	return c.passAs(m, x, nameOf(m), nil, nil, edit)
}

// passAs is pass for a request that has another name towards the server, and headers that
// mirror its arguments.
func (c *conn) passAs(m *jsonrpc.Message, x *request, name string, args []byte, headers map[string]string, edit func(*jsonrpc.Edits)) (link.Reply, error) {
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
	return textOf(m.Params, member)
}

// textOf returns a member that is a string, "" otherwise.
func textOf(object jsonstream.Value, member string) string {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return ""
	}
	if v, ok := object.Get(member); ok && v.Kind() == jsonstream.String {
		return v.Text()
	}
	return ""
}

// forward returns a server's response under the client's id.
func (p *client) forward(x *request, r link.Reply) reply {
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
func (p *client) result(x *request, result []byte) reply {
	return reply{text: jsonrpc.AppendResult(nil, x.id, result)}
}

// sendToAll sends a request to every server and forwards the first result, or the first
// error if there is no result.
func (p *client) sendToAll(ctx context.Context, m *jsonrpc.Message, x *request) reply {
	here, single := p.fromAll(ctx, m, x)
	if len(here) == 0 {
		return single
	}
	for _, s := range here {
		if s.value.Message.Kind == jsonrpc.Response {
			return p.forward(x, s.value)
		}
	}
	return p.forward(x, here[0].value)
}

// fromAll sends a request to every server and returns the responses. If there is only one
// server, or no server responds, single is the reply to the client.
func (p *client) fromAll(ctx context.Context, m *jsonrpc.Message, x *request) (results []serverResult[link.Reply], single reply) {
	if p.g.one() {
		return nil, p.passTo(ctx, p.conns[0], m, x, nil)
	}
	results, none := succeeded(p, gather(ctx, p, func(c *conn) (link.Reply, error) { return c.pass(m, x, nil) }, nil))
	if none != nil {
		return nil, p.unreachable(m.ID, p.conns[0], none)
	}
	return results, reply{}
}

// listen opens a subscription at every connected server, in the revision without sessions.
// It lasts until the client closes it or one of the servers ends it.
func (p *client) listen(ctx context.Context, m *jsonrpc.Message, x *request) reply {
	if p.g.one() {
		return p.passTo(ctx, p.conns[0], m, x, nil)
	}
	defer x.cancel(nil) // ends the subscriptions at the other servers
	ends := make(chan serverResult[link.Reply], len(p.conns))
	for _, c := range p.conns {
		p.g.work.Go(func() {
			r, err := c.pass(m, x, nil)
			ends <- serverResult[link.Reply]{c, r, err}
		})
	}
	var last serverResult[link.Reply]
	for range p.conns {
		if last = <-ends; !errors.Is(last.err, errUnreachable) {
			break
		}
		p.logMissing(last.conn, last.err)
	}
	if last.err != nil {
		return p.unreachable(m.ID, last.conn, last.err)
	}
	return p.forward(x, last.value)
}

// statusOf returns the HTTP status for the gateway's own JSON-RPC errors.
func statusOf(code int) int {
	switch code {
	case jsonrpc.ParseError, jsonrpc.InvalidRequest, jsonrpc.HeaderMismatch, jsonrpc.UnsupportedVersion:
		return 400
	case jsonrpc.MethodNotFound:
		return 404 // in the revision without sessions only: see responder.finish
	}
	return 200
}
