package mcpgate

import (
	"context"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxTTL limits how long a client may cache a list, because the policy can change.
const maxTTL = time.Minute

// listTools handles tools/list. It lists the tools that the policy can allow for the
// client.
func (x *request) listTools(ctx context.Context) reply {
	seen := map[string]bool{}
	return x.listPage(ctx, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		list, ok := result.Get("tools")
		if !ok || list.Kind() != jsonstream.Array {
			return
		}
		e.RemoveElements(list, func(v jsonstream.Value) bool {
			t := c.addTool(v)
			if t == nil || seen[c.clientName(string(t.Name))] || !c.offered(t) {
				return true
			}
			seen[c.clientName(string(t.Name))] = true
			if name, _ := v.Get("name"); !x.client.g.one() {
				e.Replace(name, jsonstream.AppendQuote(nil, c.clientName(name.Text())))
			}
			c.escapeDescription(e, v, t.Name)
			return false
		})
		if !x.Modern {
			return
		}
		e.Set(result, "cacheScope", []byte(`"private"`))
		if ttl, ok := result.Get("ttlMs"); ok {
			if d, ok := ttl.Decimal(); ok {
				if ms, ok := d.Int64(); !ok || ms > maxTTL.Milliseconds() {
					e.Replace(ttl, strconv.AppendInt(nil, maxTTL.Milliseconds(), 10))
				}
			}
		}
	})
}

// escapeDescription escapes hidden characters in the texts of a definition that a model
// reads (G6).
func (c *conn) escapeDescription(e *jsonrpc.Edits, v jsonstream.Value, name stopgate.ToolName) {
	hidden := definition.VisitHidden(v, func(v jsonstream.Value, shown string) { e.Replace(v, jsonstream.AppendQuote(nil, shown)) })
	if hidden > 0 {
		c.client.g.log.Warn("hidden characters in a tool's description were escaped", "server", c.Name, "tool", name, "count", hidden)
	}
}
