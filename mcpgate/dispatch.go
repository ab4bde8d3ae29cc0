package mcpgate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/mcpgate/mirror"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// dispatch answers one request (WIRE 8.3).
func (p *peer) dispatch(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
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
		return p.list(ctx, m, x)
	case "prompts/get":
		return p.getPrompt(ctx, m, x)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return p.useResource(ctx, m, x)
	case "completion/complete":
		return p.complete(ctx, m, x)
	case "logging/setLevel":
		return p.everywhere(ctx, m, x)
	case "subscriptions/listen":
		return p.listen(ctx, m, x)
	}
	switch {
	case strings.HasSuffix(m.Method, "/call"), jsonrpc.StrangeMethod(m.Method):
		// Whatever else runs something is not ours to understand (WIRE 8.3).
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

// removed are methods that the revision without sessions does not have any more.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// ready reports whether the client may ask for a method now.
func (p *peer) ready(method string) bool {
	if method == "initialize" || method == "ping" || method == "server/discover" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hello != nil
}

// passTo forwards a request to one server and its answer to the client. edit changes
// the request on the way; nil changes nothing.
func (p *peer) passTo(ctx context.Context, c *conn, m *jsonrpc.Message, x *exchange, edit func(*jsonrpc.Edits)) reply {
	r, err := c.pass(m, x, edit)
	if err != nil {
		return p.unreachable(m.ID, c, err)
	}
	return p.forward(x, r)
}

// pass forwards a request with our id and our progress token.
func (c *conn) pass(m *jsonrpc.Message, x *exchange, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	return c.passAs(m, x, nameOf(m), nil, nil, edit)
}

// passAs is pass for a request whose name towards the server is another one, with
// headers that mirror arguments.
func (c *conn) passAs(m *jsonrpc.Message, x *exchange, name string, args []byte, headers map[string]string, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	o := outgoing{x: x, method: m.Method}
	if o.about.of(m, name); o.about.Tool != "" {
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
		seen.trace(e, m.Params)
		if x.meta.token.IsValid() {
			e.Replace(x.meta.token, []byte(id))
		}
		if edit != nil {
			edit(e)
		}
		return e.Text()
	}
	return c.request(x.lasting, o)
}

// nameOf is the member that the header Mcp-Name mirrors.
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

// textOf is a member that is a string, "" for everything else.
func textOf(object jsonstream.Value, member string) string {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return ""
	}
	if v, ok := object.Get(member); ok && v.Kind() == jsonstream.String {
		return v.Text()
	}
	return ""
}

// forward answers with a server's response, under the client's id.
func (p *peer) forward(x *exchange, r link.Reply) reply {
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
		return refuse(x.id, jsonrpc.InternalError, "the server's answer cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// result answers with a result of the gate's own.
func (p *peer) result(x *exchange, result []byte) reply {
	return reply{text: jsonrpc.AppendResult(nil, x.id, result)}
}

// everywhere sends a request to every server; the first result is the answer, else the
// first failure.
func (p *peer) everywhere(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	here, alone := p.fromAll(ctx, m, x)
	if len(here) == 0 {
		return alone
	}
	for _, s := range here {
		if s.value.Message.Kind == jsonrpc.Response {
			return p.forward(x, s.value)
		}
	}
	return p.forward(x, here[0].value)
}

// fromAll sends a request to every server and returns what those that are there answer.
// Where there is one server, or none of them is there, alone is the answer.
func (p *peer) fromAll(ctx context.Context, m *jsonrpc.Message, x *exchange) (here []said[link.Reply], alone reply) {
	if p.g.one() {
		return nil, p.passTo(ctx, p.conns[0], m, x, nil)
	}
	here, none := present(p, gather(ctx, p, func(c *conn) (link.Reply, error) { return c.pass(m, x, nil) }, nil))
	if none != nil {
		return nil, p.unreachable(m.ID, p.conns[0], none)
	}
	return here, reply{}
}

// listen opens the subscription of the revision without sessions, at every server that is
// there. It lasts until the client goes or one of the servers ends it.
func (p *peer) listen(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	if p.g.one() {
		return p.passTo(ctx, p.conns[0], m, x, nil)
	}
	defer x.cancel(nil) // of the others
	ends := make(chan said[link.Reply], len(p.conns))
	for _, c := range p.conns {
		p.g.work.Go(func() {
			r, err := c.pass(m, x, nil)
			ends <- said[link.Reply]{c, r, err}
		})
	}
	var last said[link.Reply]
	for range p.conns {
		if last = <-ends; !errors.Is(last.err, errUnreachable) {
			break
		}
		p.missing(last.conn, last.err)
	}
	if last.err != nil {
		return p.unreachable(m.ID, last.conn, last.err)
	}
	return p.forward(x, last.value)
}

// status of HTTP for the errors that the gate answers itself.
func statusOf(code int) int {
	switch code {
	case jsonrpc.ParseError, jsonrpc.InvalidRequest, jsonrpc.HeaderMismatch, jsonrpc.UnsupportedVersion:
		return 400
	case jsonrpc.MethodNotFound:
		return 404 // in the revision without sessions; see responder
	}
	return 200
}
