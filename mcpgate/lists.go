package mcpgate

import (
	"context"

	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/merge"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/jsonstream"
)

// pageEditor changes a server's page of a list before it is sent to the client.
type pageEditor func(*conn, *jsonrpc.Edits, jsonstream.Value)

// listPage handles a request for a list. The pages of a single server are forwarded. The
// lists of several servers are merged into one page, because many clients read only the
// first page and would miss the other servers.
func (x *request) listPage(ctx context.Context, edit pageEditor) reply {
	if !x.client.g.one() {
		return x.mergedPage(ctx, edit)
	}
	c := x.client.conns[0]
	c.changed.Requested(x.Message.Method)
	r, err := x.ask(c, nil)
	switch {
	case err != nil:
		return x.unreachable(c, err)
	case r.Message.Kind == jsonrpc.ErrorResponse:
		return x.forward(r)
	}
	e := r.Message.Edit().ID(x.Message.ID)
	edit(c, e, r.Message.Result)
	text, err := e.Text()
	if err != nil {
		return serve.Refuse(x.Message.ID, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{Text: text, Status: r.Status, Stream: r.Stream}
}

// mergedPage merges the lists of all responding servers.
func (x *request) mergedPage(ctx context.Context, edit pageEditor) reply {
	if x.Message.Params.IsValid() {
		if _, ok := x.Message.Params.Get("cursor"); ok {
			return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "invalid cursor: merged lists have only one page")
		}
	}
	joined := merge.List{Member: listMembers[x.Message.Method], TTL: maxTTL.Milliseconds()}
	// Servers that do not offer such a list are skipped.
	for _, s := range merge.Gather(ctx, &x.client.g.work, x.client.conns, func(c *conn) ([]link.Reply, error) { return c.pages(x) }, nil) {
		if s.Err != nil {
			x.client.logMissing(s.Server, s.Err)
			joined.TTL = 0
		}
		for _, r := range s.Value {
			e := r.Message.Edit()
			edit(s.Server, e, r.Message.Result)
			text, err := e.Text()
			if err != nil || !joined.Add(text) {
				x.client.g.log.Warn("an invalid page of a server's list was dropped", "server", s.Server.Name, "method", x.Message.Method)
			}
		}
	}
	return x.result(joined.Result(x.Modern))
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
	method := x.Message.Method
	c.changed.Requested(method)
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
		case len(pages) == definition.MaxPages || size > maxListing:
			c.client.g.log.Warn("a server's list is too long and was truncated", "server", c.Name, "method", method)
			return pages, nil
		}
		cursor = next
		o := c.listRequest(x, method, cursor)
		o.x = x
		if r, err = c.request(x.ServerCtx, o); err != nil || r.Message.Kind == jsonrpc.ErrorResponse {
			return pages, err
		}
		pages, size = append(pages, r), size+len(r.Message.Text)
	}
}
