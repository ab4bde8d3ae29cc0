package mcpgate

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// route returns the server of a tool or prompt, and its name at that server.
func (p *client) route(name string) (*conn, string, bool) {
	if p.g.one() {
		return p.conns[0], name, true
	}
	server, inner, ok := strings.Cut(name, "__")
	for _, c := range p.conns {
		if ok && string(c.server.ID) == server {
			return c, inner, true
		}
	}
	return nil, "", false
}

// clientName returns the client's name for a server's tool or prompt.
func (c *conn) clientName(name string) string {
	if c.client.g.one() {
		return name
	}
	return string(c.server.ID) + "__" + name
}

// listNamed handles the lists of prompts and resources.
func (x *request) listNamed(ctx context.Context) reply {
	return x.listPage(ctx, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		if list, ok := result.Get("prompts"); ok && list.Kind() == jsonstream.Array && !x.client.g.one() {
			for prompt := range list.Elements() {
				if name, ok := prompt.Get("name"); ok && name.Kind() == jsonstream.String {
					e.Replace(name, jsonstream.AppendQuote(nil, c.clientName(name.Text())))
				}
			}
		}
		x.client.resources.Add(result, c)
	})
}

// resourceServer returns the server of a resource, nil if none listed it.
func (p *client) resourceServer(uri string) *conn {
	if p.g.one() {
		return p.conns[0]
	}
	c, _ := p.resources.Server(uri)
	return c
}

// getPrompt handles prompts/get. It is evaluated if the policy has the table
// mcp.prompts.get.
func (x *request) getPrompt(ctx context.Context) reply {
	name := jsonrpc.TextOf(x.Message.Params, "name")
	c, inner, ok := x.client.route(name)
	if !ok || name == "" {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "Unknown prompt")
	}
	return x.forwardRound(ctx, c, inner, "mcp.prompts.get")
}

// useResource handles the requests about one resource. Reading is evaluated if the policy
// has the table mcp.resources.read.
func (x *request) useResource(ctx context.Context) reply {
	uri := jsonrpc.TextOf(x.Message.Params, "uri")
	c := x.client.resourceServer(uri)
	if c == nil || uri == "" {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "Resource not found")
	}
	if x.Message.Method != "resources/read" {
		return x.passTo(ctx, c, nil)
	}
	return x.forwardRound(ctx, c, uri, "mcp.resources.read")
}

// complete forwards completion/complete to the server of the prompt or resource.
func (x *request) complete(ctx context.Context) reply {
	if x.client.g.one() {
		return x.passTo(ctx, x.client.conns[0], nil)
	}
	var ref jsonstream.Value
	if x.Message.Params.IsValid() {
		ref, _ = x.Message.Params.Get("ref")
	}
	if uri := jsonrpc.TextOf(ref, "uri"); uri != "" {
		if c := x.client.resourceServer(uri); c != nil {
			return x.passTo(ctx, c, nil)
		}
	}
	c, inner, ok := x.client.route(jsonrpc.TextOf(ref, "name"))
	if !ok {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "Unknown reference")
	}
	return x.passTo(ctx, c, func(e *jsonrpc.Edits) {
		name, _ := ref.Get("name")
		e.Replace(name, jsonstream.AppendQuote(nil, inner))
	})
}

// task forwards requests about a task. Tasks of a client over HTTP are not forwarded: another client
// could have started them.
func (x *request) task(ctx context.Context) reply {
	id := jsonrpc.TextOf(x.Message.Params, "taskId")
	if !x.client.g.one() || id != "" && !x.client.via.Stdio {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "Unknown task")
	}
	return x.forwardRound(ctx, x.client.conns[0], id, "")
}

// unevaluated records that a method that may contain a call was refused or forwarded
// without evaluation.
func (g *Gateway) unevaluated(ctx context.Context, o session.Owner, code stopgate.Code, method string) {
	err := g.gate.Note(ctx, stopgate.Record{
		Event: stopgate.AuditNotEvaluated, Session: o.Session, Principal: o.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect, Code: code,
		Cause: visible.Elide(visible.Text(method), 64),
	})
	if err != nil {
		g.log.Warn("recording an event failed", "error", err)
	}
}
