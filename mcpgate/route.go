package mcpgate

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// split finds the server of a tool or prompt and the name under which the server knows
// it (WIRE 8.2).
func (p *peer) split(name string) (*conn, string, bool) {
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

// joined is a server's name for the client.
func (c *conn) joined(name string) string {
	if c.p.g.one() {
		return name
	}
	return string(c.server.ID) + "__" + name
}

// list answers a list of prompts or resources.
func (p *peer) list(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	return p.page(ctx, m, x, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		if list, ok := result.Get("prompts"); ok && list.Kind() == jsonstream.Array && !p.g.one() {
			for prompt := range list.Elements() {
				if name, ok := prompt.Get("name"); ok && name.Kind() == jsonstream.String {
					e.Replace(name, jsonstream.AppendQuote(nil, c.joined(name.Text())))
				}
			}
		}
		c.learnHomes(result)
	})
}

// learnHomes remembers which server has which resources.
func (c *conn) learnHomes(result jsonstream.Value) {
	for _, name := range []string{"resources", "resourceTemplates"} {
		list, ok := result.Get(name)
		if !ok || list.Kind() != jsonstream.Array {
			continue
		}
		for r := range list.Elements() {
			uri := textOf(r, "uri")
			if template := textOf(r, "uriTemplate"); template != "" {
				uri, _, _ = strings.Cut(template, "{")
				uri += "*"
			}
			c.p.settle("resource:"+uri, c)
		}
	}
}

// maxHomes bounds what is remembered of one client.
const maxHomes = 10_000

func (p *peer) settle(what string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.homes[what]; !known && len(p.homes) < maxHomes {
		p.homes[what] = c
	}
}

func (p *peer) home(what string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.homes[what]
}

// homeOf finds the server of a resource: the one that listed it, else the one with the
// longest template that begins like it.
func (p *peer) homeOf(uri string) *conn {
	if p.g.one() {
		return p.conns[0]
	}
	if c := p.home("resource:" + uri); c != nil {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *conn
	longest := -1
	for what, c := range p.homes {
		rest, isResource := strings.CutPrefix(what, "resource:")
		prefix, isTemplate := strings.CutSuffix(rest, "*")
		if isResource && isTemplate && strings.HasPrefix(uri, prefix) && len(prefix) > longest {
			best, longest = c, len(prefix)
		}
	}
	return best
}

// getPrompt forwards prompts/get, past the policy's table mcp.prompts.get if there is
// one.
func (p *peer) getPrompt(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	name := textOf(m.Params, "name")
	c, inner, ok := p.split(name)
	if !ok || name == "" {
		return refuse(m.ID, jsonrpc.InvalidParams, "Unknown prompt")
	}
	return p.round(ctx, c, m, x, inner, "mcp.prompts.get")
}

// useResource forwards what is about one resource; reading it passes the policy's
// table mcp.resources.read if there is one.
func (p *peer) useResource(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	uri := textOf(m.Params, "uri")
	c := p.homeOf(uri)
	if c == nil || uri == "" {
		return refuse(m.ID, jsonrpc.InvalidParams, "Resource not found")
	}
	if m.Method != "resources/read" {
		return p.passTo(ctx, c, m, x, nil)
	}
	return p.round(ctx, c, m, x, uri, "mcp.resources.read")
}

// complete forwards completion/complete to the server of the prompt or resource.
func (p *peer) complete(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	if p.g.one() {
		return p.passTo(ctx, p.conns[0], m, x, nil)
	}
	var ref jsonstream.Value
	if m.Params.IsValid() {
		ref, _ = m.Params.Get("ref")
	}
	if uri := textOf(ref, "uri"); uri != "" {
		if c := p.homeOf(uri); c != nil {
			return p.passTo(ctx, c, m, x, nil)
		}
	}
	c, inner, ok := p.split(textOf(ref, "name"))
	if !ok {
		return refuse(m.ID, jsonrpc.InvalidParams, "Unknown reference")
	}
	return p.passTo(ctx, c, m, x, func(e *jsonrpc.Edits) {
		name, _ := ref.Get("name")
		e.Replace(name, jsonstream.AppendQuote(nil, inner))
	})
}

// task forwards what is about a task. A task belongs to the client that started it
// (WIRE 8.3).
func (p *peer) task(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	id := textOf(m.Params, "taskId")
	c := p.home("task:" + id)
	switch {
	case id == "" && p.g.one(), c == nil && p.stdio && p.g.one():
		c = p.conns[0]
	case c == nil:
		return refuse(m.ID, jsonrpc.InvalidParams, "Unknown task")
	}
	return p.round(ctx, c, m, x, id, "")
}

// unevaluated records that something which may carry a call was refused or passed
// without being judged.
func (g *Gateway) unevaluated(ctx context.Context, o session.Owner, code stopgate.Code, method string) {
	err := g.gate.Note(ctx, stopgate.Record{
		Event: stopgate.AuditNotEvaluated, Session: o.Session, Principal: o.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect, Code: code,
		Cause: visible.Elide(visible.Text(method), 64),
	})
	if err != nil {
		g.log.Warn("an event could not be recorded", "error", err)
	}
}
