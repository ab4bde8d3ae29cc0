package mcpgate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/mcpgate/mirror"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// editing changes what a server's page of a list says before the client reads it.
type editing func(*conn, *jsonrpc.Edits, jsonstream.Value)

// page answers a request for a list. One server's pages are passed on as they are. The
// lists of several are one answer, whole: many clients read the first page of a list and
// no other, and would see the tools of the first server only.
func (p *peer) page(ctx context.Context, m *jsonrpc.Message, x *exchange, edit editing) reply {
	if !p.g.one() {
		return p.lists(ctx, m, x, edit)
	}
	c := p.conns[0]
	c.listed(m.Method)
	r, err := c.pass(m, x, nil)
	switch {
	case err != nil:
		return p.unreachable(m.ID, c, err)
	case r.Message.Kind == jsonrpc.Failure:
		return p.forward(x, r)
	}
	e := r.Message.Edit().ID(x.id)
	edit(c, e, r.Message.Result)
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's answer cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// lists joins the lists of all servers that answer.
func (p *peer) lists(ctx context.Context, m *jsonrpc.Message, x *exchange, edit editing) reply {
	if m.Params.IsValid() {
		if _, ok := m.Params.Get("cursor"); ok {
			return refuse(m.ID, jsonrpc.InvalidParams, "this cursor is not the gate's: its lists have one page")
		}
	}
	joined := joint{member: listMembers[m.Method], fresh: longestTTL.Milliseconds()}
	// A server without such a list is no reason to have none.
	for _, s := range gather(ctx, p, func(c *conn) ([]link.Reply, error) { return c.pages(m, x) }, nil) {
		if s.err != nil {
			p.missing(s.conn, s.err)
			joined.fresh = 0
		}
		for _, r := range s.value {
			e := r.Message.Edit()
			edit(s.conn, e, r.Message.Result)
			text, err := e.Text()
			if err != nil || !joined.add(text) {
				p.g.log.Warn("a page of a server's list is left out", "server", s.conn.name(), "method", m.Method)
			}
		}
	}
	return p.result(x, joined.result(x.modern))
}

// listMembers are the members of results that hold the lists.
var listMembers = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// maxListing bounds the pages of one server that become a part of one answer, in bytes.
const maxListing = 16 << 20

// pages reads a server's list to its end. A server that has none gives no page. What came
// before a failure counts.
func (c *conn) pages(m *jsonrpc.Message, x *exchange) ([]link.Reply, error) {
	c.listed(m.Method)
	r, err := c.pass(m, x, nil)
	if err != nil || r.Message.Kind == jsonrpc.Failure {
		return nil, err
	}
	pages, size := []link.Reply{r}, len(r.Message.Text)
	cursor := ""
	for {
		next := textOf(r.Message.Result, "nextCursor")
		switch {
		case next == "" || next == cursor:
			return pages, nil
		case len(pages) == maxPages || size > maxListing:
			c.p.g.log.Warn("a server's list is too long: the rest is left out", "server", c.name(), "method", m.Method)
			return pages, nil
		}
		cursor = next
		o := outgoing{x: x, method: m.Method, text: func(id jsonrpc.ID, _ *observation) ([]byte, error) {
			return jsonrpc.AppendRequest(nil, id, m.Method, c.listParams(x, cursor)), nil
		}}
		if x.modern {
			o.version, o.headers = x.meta.version, map[string]string{mirror.Method: m.Method}
		}
		if r, err = c.request(x.lasting, o); err != nil || r.Message.Kind == jsonrpc.Failure {
			return pages, err
		}
		pages, size = append(pages, r), size+len(r.Message.Text)
	}
}

// joint is a list that is made of several.
type joint struct {
	member string
	items  []byte
	fresh  int64 // how long a client may keep it, in milliseconds
}

// add takes in one page, the text of a response; false if there is no list in it.
func (j *joint) add(page []byte) bool {
	m, err := jsonrpc.Read(page)
	if err != nil || !m.Result.IsValid() {
		return false
	}
	list, ok := m.Result.Get(j.member)
	if !ok || list.Kind() != jsonstream.Array {
		return false
	}
	for v := range list.Elements() {
		if len(j.items) > 0 {
			j.items = append(j.items, ',')
		}
		j.items = append(j.items, v.Raw()...)
	}
	var ms int64
	if ttl, ok := m.Result.Get("ttlMs"); ok {
		if d, ok := ttl.Decimal(); ok {
			ms, _ = d.Int64()
		}
	}
	j.fresh = max(min(j.fresh, ms), 0)
	return true
}

// result is the answer.
func (j *joint) result(modern bool) []byte {
	var o object
	o.raw(j.member, bytes.Join([][]byte{{'['}, j.items, {']'}}, nil))
	if modern {
		o.text("resultType", "complete").int("ttlMs", j.fresh).text("cacheScope", "private")
	}
	return o.end()
}
