package mcpgate

import (
	"context"
	"strconv"
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

// list answers a list of prompts or resources. With several servers a page is one of
// one server's: the cursor says whose, and what its own cursor is.
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

// page asks the server whose turn it is for one page of a list and lets edit change it.
func (p *peer) page(ctx context.Context, m *jsonrpc.Message, x *exchange, edit func(*conn, *jsonrpc.Edits, jsonstream.Value)) reply {
	at, theirs, cursor, ok := p.cursor(m)
	if !ok {
		return refuse(m.ID, jsonrpc.InvalidParams, "this cursor is not the gate's")
	}
	c := p.conns[at]
	c.listed(m.Method)
	r, err := c.pass(m, x, func(e *jsonrpc.Edits) {
		switch {
		case p.g.one() || !cursor.IsValid():
		case theirs == "":
			e.Remove(m.Params, func(name string) bool { return name == "cursor" })
		default:
			e.Replace(cursor, jsonstream.AppendQuote(nil, theirs))
		}
	})
	switch {
	case err != nil && p.g.one():
		return p.unreachable(m.ID, c, err)
	case err != nil:
		// The others are there all the same.
		p.g.log.Warn("a server's list is missing", "server", c.name(), "error", err)
		return p.result(x, x.emptyPage(m.Method, at))
	case r.Message.Kind == jsonrpc.Failure && !p.g.one():
		return p.result(x, x.emptyPage(m.Method, at))
	case r.Message.Kind == jsonrpc.Failure:
		return p.forward(x, r)
	}
	e := r.Message.Edit().ID(x.id)
	edit(c, e, r.Message.Result)
	if !p.g.one() {
		next := textOf(r.Message.Result, "nextCursor")
		if next != "" {
			next = strconv.Itoa(at) + ":" + next
		} else if at+1 < len(p.conns) {
			next = strconv.Itoa(at+1) + ":"
		}
		if next != "" {
			e.Set(r.Message.Result, "nextCursor", jsonstream.AppendQuote(nil, next))
		}
	}
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's answer cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// cursor takes the client's cursor apart.
func (p *peer) cursor(m *jsonrpc.Message) (at int, theirs string, v jsonstream.Value, ok bool) {
	if m.Params.IsValid() {
		v, _ = m.Params.Get("cursor")
	}
	if p.g.one() || !v.IsValid() {
		return 0, "", v, true
	}
	if v.Kind() != jsonstream.String {
		return 0, "", v, false
	}
	first, rest, found := strings.Cut(v.Text(), ":")
	at, err := strconv.Atoi(first)
	return at, rest, v, found && err == nil && at >= 0 && at < len(p.conns)
}

// emptyPage stands for the list of a server that gave none.
func (x *exchange) emptyPage(method string, at int) []byte {
	name := map[string]string{
		"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
	}[method]
	out := append(jsonstream.AppendQuote([]byte("{"), name), ":[]"...)
	if x.modern {
		out = append(out, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`...)
	}
	if at+1 < len(x.p.conns) {
		out = append(out, `,"nextCursor":"`+strconv.Itoa(at+1)+`:"`...)
	}
	return append(out, '}')
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
