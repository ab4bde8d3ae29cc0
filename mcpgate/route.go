package mcpgate

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
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
	if c.p.g.one() {
		return name
	}
	return string(c.server.ID) + "__" + name
}

// listNamed handles the lists of prompts and resources.
func (x *request) listNamed(ctx context.Context) reply {
	return x.listPage(ctx, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		if list, ok := result.Get("prompts"); ok && list.Kind() == jsonstream.Array && !x.p.g.one() {
			for prompt := range list.Elements() {
				if name, ok := prompt.Get("name"); ok && name.Kind() == jsonstream.String {
					e.Replace(name, jsonstream.AppendQuote(nil, c.clientName(name.Text())))
				}
			}
		}
		c.rememberResources(result)
	})
}

// rememberResources stores which server listed which resources.
func (c *conn) rememberResources(result jsonstream.Value) {
	for _, name := range []string{"resources", "resourceTemplates"} {
		list, ok := result.Get(name)
		if !ok || list.Kind() != jsonstream.Array {
			continue
		}
		for r := range list.Elements() {
			uri := jsonrpc.TextOf(r, "uri")
			if template := jsonrpc.TextOf(r, "uriTemplate"); template != "" {
				uri, _, _ = strings.Cut(template, "{")
				uri += "*"
			}
			c.p.rememberServer("resource:"+uri, c)
		}
	}
}

// maxKnownServers limits the number of remembered resources and tasks of one client.
const maxKnownServers = 10_000

func (p *client) rememberServer(what string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.knownServers[what]; !known && len(p.knownServers) < maxKnownServers {
		p.knownServers[what] = c
	}
}

func (p *client) serverOf(what string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.knownServers[what]
}

// resourceServer returns the server of a resource: the one that listed it, or the one with
// the longest template that is a prefix of the URI.
func (p *client) resourceServer(uri string) *conn {
	if p.g.one() {
		return p.conns[0]
	}
	if c := p.serverOf("resource:" + uri); c != nil {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *conn
	longest := -1
	for what, c := range p.knownServers {
		rest, isResource := strings.CutPrefix(what, "resource:")
		prefix, isTemplate := strings.CutSuffix(rest, "*")
		if isResource && isTemplate && strings.HasPrefix(uri, prefix) && len(prefix) > longest {
			best, longest = c, len(prefix)
		}
	}
	return best
}

// getPrompt handles prompts/get. It is evaluated if the policy has the table
// mcp.prompts.get.
func (x *request) getPrompt(ctx context.Context) reply {
	name := jsonrpc.TextOf(x.m.Params, "name")
	c, inner, ok := x.p.route(name)
	if !ok || name == "" {
		return refuse(x.m.ID, jsonrpc.InvalidParams, "Unknown prompt")
	}
	return x.forwardRound(ctx, c, inner, "mcp.prompts.get")
}

// useResource handles the requests about one resource. Reading is evaluated if the policy
// has the table mcp.resources.read.
func (x *request) useResource(ctx context.Context) reply {
	uri := jsonrpc.TextOf(x.m.Params, "uri")
	c := x.p.resourceServer(uri)
	if c == nil || uri == "" {
		return refuse(x.m.ID, jsonrpc.InvalidParams, "Resource not found")
	}
	if x.m.Method != "resources/read" {
		return x.passTo(ctx, c, nil)
	}
	return x.forwardRound(ctx, c, uri, "mcp.resources.read")
}

// complete forwards completion/complete to the server of the prompt or resource.
func (x *request) complete(ctx context.Context) reply {
	if x.p.g.one() {
		return x.passTo(ctx, x.p.conns[0], nil)
	}
	var ref jsonstream.Value
	if x.m.Params.IsValid() {
		ref, _ = x.m.Params.Get("ref")
	}
	if uri := jsonrpc.TextOf(ref, "uri"); uri != "" {
		if c := x.p.resourceServer(uri); c != nil {
			return x.passTo(ctx, c, nil)
		}
	}
	c, inner, ok := x.p.route(jsonrpc.TextOf(ref, "name"))
	if !ok {
		return refuse(x.m.ID, jsonrpc.InvalidParams, "Unknown reference")
	}
	return x.passTo(ctx, c, func(e *jsonrpc.Edits) {
		name, _ := ref.Get("name")
		e.Replace(name, jsonstream.AppendQuote(nil, inner))
	})
}

// task forwards requests about a task. Only the client that started a task can use it.
func (x *request) task(ctx context.Context) reply {
	id := jsonrpc.TextOf(x.m.Params, "taskId")
	c := x.p.serverOf("task:" + id)
	switch {
	case id == "" && x.p.g.one(), c == nil && x.p.stdio && x.p.g.one():
		c = x.p.conns[0]
	case c == nil:
		return refuse(x.m.ID, jsonrpc.InvalidParams, "Unknown task")
	}
	return x.forwardRound(ctx, c, id, "")
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
