package mcpgate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/jsonstream"
)

// pageEditor changes a server's page of a list before it is sent to the client.
type pageEditor func(*conn, *jsonrpc.Edits, jsonstream.Value)

// listPage handles a request for a list. The pages of a single server are forwarded. The
// lists of several servers are merged into one page, because many clients read only the
// first page and would miss the other servers.
func (x *request) listPage(ctx context.Context, edit pageEditor) reply {
	if !x.p.g.one() {
		return x.mergedPage(ctx, edit)
	}
	c := x.p.conns[0]
	c.clearStale(x.m.Method)
	r, err := x.ask(c, nil)
	switch {
	case err != nil:
		return x.unreachable(c, err)
	case r.Message.Kind == jsonrpc.ErrorResponse:
		return x.forward(r)
	}
	e := r.Message.Edit().ID(x.id)
	edit(c, e, r.Message.Result)
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// mergedPage merges the lists of all responding servers.
func (x *request) mergedPage(ctx context.Context, edit pageEditor) reply {
	if x.m.Params.IsValid() {
		if _, ok := x.m.Params.Get("cursor"); ok {
			return refuse(x.m.ID, jsonrpc.InvalidParams, "invalid cursor: merged lists have only one page")
		}
	}
	joined := mergedList{member: listMembers[x.m.Method], ttl: maxTTL.Milliseconds()}
	// Servers that do not offer such a list are skipped.
	for _, s := range gather(ctx, x.p, func(c *conn) ([]link.Reply, error) { return c.pages(x) }, nil) {
		if s.err != nil {
			x.p.logMissing(s.conn, s.err)
			joined.ttl = 0
		}
		for _, r := range s.value {
			e := r.Message.Edit()
			edit(s.conn, e, r.Message.Result)
			text, err := e.Text()
			if err != nil || !joined.add(text) {
				x.p.g.log.Warn("an invalid page of a server's list was dropped", "server", s.conn.name(), "method", x.m.Method)
			}
		}
	}
	return x.result(joined.result(x.modern))
}

// listMembers are the members of the results that contain the lists.
var listMembers = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// maxListing limits the size in bytes of one server's part of a merged list.
const maxListing = 16 << 20

// pages reads a server's list to its end. It returns no pages if the server has no such
// list. Pages before a failure are returned.
func (c *conn) pages(x *request) ([]link.Reply, error) {
	method := x.m.Method
	c.clearStale(method)
	r, err := x.ask(c, nil)
	if err != nil || r.Message.Kind == jsonrpc.ErrorResponse {
		return nil, err
	}
	pages, size := []link.Reply{r}, len(r.Message.Text)
	cursor := ""
	for {
		next := jsonrpc.TextOf(r.Message.Result, "nextCursor")
		switch {
		case next == "" || next == cursor:
			return pages, nil
		case len(pages) == maxPages || size > maxListing:
			c.p.g.log.Warn("a server's list is too long and was truncated", "server", c.name(), "method", method)
			return pages, nil
		}
		cursor = next
		o := outgoing{x: x, method: method, text: func(id jsonrpc.ID, _ *observation) ([]byte, error) {
			return jsonrpc.AppendRequest(nil, id, method, c.listParams(x, cursor)), nil
		}}
		if x.modern {
			o.version, o.headers = x.meta.version, map[string]string{mirror.Method: method}
		}
		if r, err = c.request(x.serverCtx, o); err != nil || r.Message.Kind == jsonrpc.ErrorResponse {
			return pages, err
		}
		pages, size = append(pages, r), size+len(r.Message.Text)
	}
}

// mergedList is a list that is merged from several pages.
type mergedList struct {
	member string
	items  []byte
	ttl    int64 // how long the client may cache it, in milliseconds
}

// add adds one page, the text of a response. It returns false if the page contains no list.
func (j *mergedList) add(page []byte) bool {
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
	j.ttl = max(min(j.ttl, ms), 0)
	return true
}

// result returns the result of the list request.
func (j *mergedList) result(modern bool) []byte {
	var o jsonrpc.Object
	o.Raw(j.member, bytes.Join([][]byte{{'['}, j.items, {']'}}, nil))
	if modern {
		o.Text("resultType", "complete").Int("ttlMs", j.ttl).Text("cacheScope", "private")
	}
	return o.End()
}
