package mcpgate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/merge"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/internal/mcp/upstream"
	"github.com/stopgate/stopgate/jsonstream"
)

// dispatch handles one request of the client.
func (x *request) dispatch(ctx context.Context) reply {
	if !x.Modern && !x.client.ready(x.Message.Method) {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidRequest, "the session is not initialized")
	}
	if x.Modern && slices.Contains(removed, x.Message.Method) {
		return serve.Refuse(x.Message.ID, jsonrpc.MethodNotFound, "there is no "+x.Message.Method+" in this revision")
	}
	switch x.Message.Method {
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
	case strings.HasSuffix(x.Message.Method, "/call"), jsonrpc.IsLookalikeMethod(x.Message.Method):
		// Other methods that run something are not evaluated and therefore refused.
		x.client.g.unevaluated(ctx, x.client.owner, stopgate.CodePolicyNotConfigured, x.Message.Method)
		return serve.Refuse(x.Message.ID, jsonrpc.MethodNotFound, "this method is not served")
	case strings.HasPrefix(x.Message.Method, "tasks/"):
		return x.task(ctx)
	case x.client.g.set.RefuseUnknown || !x.client.g.one():
		return serve.Refuse(x.Message.ID, jsonrpc.MethodNotFound, "this method is not served")
	}
	x.client.g.unevaluated(ctx, x.client.owner, stopgate.CodeNotEvaluated, x.Message.Method)
	return x.passTo(ctx, x.client.conns[0], nil)
}

// removed are methods that the revision without sessions has removed.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// ready reports whether the client can use a method in the current state of the session.
func (p *client) ready(method string) bool {
	if method == "initialize" || method == "ping" || method == "server/discover" {
		return true
	}
	return p.Initialized()
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
	return x.askAs(c, protocol.NameOf(x.Message), nil, nil, edit)
}

// askAs is ask for a request that has another name towards the server, and headers that
// mirror its arguments.
func (x *request) askAs(c *conn, name string, args []byte, headers map[string]string, edit func(*jsonrpc.Edits)) (link.Reply, error) {
	m := x.Message
	o := outgoing{x: x, method: m.Method}
	if o.about.setTarget(m, name); o.about.Tool != "" {
		o.about.Tool = canonical(c.server.ID, o.about.Tool)
	}
	o.about.Arguments, o.about.Traced = args, x.Meta.Traceparent != ""
	if x.Modern {
		o.version, o.headers = x.Meta.Version, map[string]string{mirror.Method: m.Method}
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
		if x.Meta.Token.IsValid() {
			e.Replace(x.Meta.Token, []byte(id))
		}
		if edit != nil {
			edit(e)
		}
		return e.Text()
	}
	return c.request(x.ServerCtx, o)
}

// forward returns a server's response under the client's id.
func (x *request) forward(r link.Reply) reply {
	e := r.Message.Edit().ID(x.Message.ID)
	if r.Message.Result.IsValid() {
		if meta, ok := r.Message.Result.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
			if id, ok := meta.Get(protocol.MetaSubscription); ok {
				e.Replace(id, []byte(x.Message.ID))
			}
		}
	}
	text, err := e.Text()
	if err != nil {
		return serve.Refuse(x.Message.ID, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{Text: text, Status: r.Status, Stream: r.Stream}
}

// result returns a response with a result of the gateway.
func (x *request) result(result []byte) reply {
	return reply{Text: jsonrpc.AppendResult(nil, x.Message.ID, result)}
}

// sendToAll sends a request to every server and forwards the first result, or the first
// error if there is no result.
func (x *request) sendToAll(ctx context.Context) reply {
	here, single := x.fromAll(ctx)
	if len(here) == 0 {
		return single
	}
	for _, s := range here {
		if s.Value.Message.Kind == jsonrpc.Response {
			return x.forward(s.Value)
		}
	}
	return x.forward(here[0].Value)
}

// fromAll sends a request to every server and returns the responses. If there is only one
// server, or no server responds, single is the reply to the client.
func (x *request) fromAll(ctx context.Context) (results []merge.Result[*conn, link.Reply], single reply) {
	if x.client.g.one() {
		return nil, x.passTo(ctx, x.client.conns[0], nil)
	}
	results, none := merge.Succeeded(merge.Gather(ctx, &x.client.g.work, x.client.conns, func(c *conn) (link.Reply, error) { return x.ask(c, nil) }, nil), x.client.logMissing)
	if none != nil {
		return nil, x.unreachable(x.client.conns[0], none)
	}
	return results, reply{}
}

// listen opens a subscription at every connected server, in the revision without sessions.
// It lasts until the client closes it or one of the servers ends it.
func (x *request) listen(ctx context.Context) reply {
	if x.client.g.one() {
		return x.passTo(ctx, x.client.conns[0], nil)
	}
	defer x.Cancel(nil) // ends the subscriptions at the other servers
	ends := make(chan merge.Result[*conn, link.Reply], len(x.client.conns))
	for _, c := range x.client.conns {
		x.client.g.work.Go(func() {
			r, err := x.ask(c, nil)
			ends <- merge.Result[*conn, link.Reply]{Server: c, Value: r, Err: err}
		})
	}
	var last merge.Result[*conn, link.Reply]
	for range x.client.conns {
		if last = <-ends; !errors.Is(last.Err, upstream.ErrUnreachable) {
			break
		}
		x.client.logMissing(last.Server, last.Err)
	}
	if last.Err != nil {
		return x.unreachable(last.Server, last.Err)
	}
	return x.forward(last.Value)
}
