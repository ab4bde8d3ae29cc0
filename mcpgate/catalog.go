package mcpgate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// tool is one tool of a server.
type tool struct {
	*definition.Tool
	headerParams   mirror.Params // arguments that are mirrored in headers
	invalidHeaders bool          // headerParams are invalid: the tool is not offered over HTTP
}

// catalog caches the tools of a server for one connection.
type catalog struct {
	mu      sync.Mutex
	tools   map[stopgate.ToolName]*tool
	fetched time.Time // when the complete list was read; zero if it was not
	flight  sync.Mutex
}

// clear empties the cache, so that the next call reads the list again.
func (k *catalog) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tools, k.fetched = nil, time.Time{}
}

func (k *catalog) get(name stopgate.ToolName) (*tool, time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools[name], k.fetched
}

func (k *catalog) put(t *tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tools == nil {
		k.tools = map[stopgate.ToolName]*tool{}
	}
	if len(k.tools) < maxTools {
		k.tools[t.Name] = t
	}
}

const (
	maxTools = 10_000
	maxPages = 100
)

// addTool adds one definition of the server's list to the catalog. It returns nil if the
// definition is invalid.
func (c *conn) addTool(v jsonstream.Value) *tool {
	d, bad := definition.Parse(v)
	if d == nil {
		c.p.g.log.Warn("a tool with an invalid definition is not offered", "server", c.name(), "tool", visible.Elide(visible.Text(jsonrpc.TextOf(v, "name")), 64), "reason", bad)
		return nil
	}
	t := &tool{Tool: d}
	schema, _ := v.Get("inputSchema")
	if t.headerParams, bad = mirror.ParseSchema(schema); bad != "" {
		t.invalidHeaders = true
	}
	c.tools.put(t)
	return t
}

// errToolList is the error of an invalid response to tools/list.
var errToolList = errors.New("mcpgate: the server's list of tools is invalid or too long")

// findTool returns a tool's definition and reads the server's list if necessary. It returns
// nil without an error if the server does not have the tool.
func (c *conn) findTool(ctx context.Context, name stopgate.ToolName, x *request) (*tool, error) {
	if t, _ := c.tools.get(name); t != nil {
		return t, nil
	}
	c.tools.flight.Lock()
	defer c.tools.flight.Unlock()
	t, fetched := c.tools.get(name)
	if t != nil || !fetched.IsZero() && time.Since(fetched) < time.Second {
		return t, nil
	}
	if err := c.fetch(ctx, x); err != nil {
		return nil, err
	}
	t, _ = c.tools.get(name)
	return t, nil
}

// fetch reads the complete list of the server.
func (c *conn) fetch(ctx context.Context, x *request) error {
	cursor := ""
	for range maxPages {
		r, err := c.request(ctx, outgoing{
			method: "tools/list", version: x.meta.version, headers: map[string]string{mirror.Method: "tools/list"},
			text: func(id jsonrpc.ID, _ *observation) ([]byte, error) {
				return jsonrpc.AppendRequest(nil, id, "tools/list", c.listParams(x, cursor)), nil
			},
		})
		if err != nil {
			return err
		}
		list, ok := jsonstream.Value{}, false
		if r.Message.Result.IsValid() {
			list, ok = r.Message.Result.Get("tools")
		}
		if !ok || list.Kind() != jsonstream.Array {
			return errToolList
		}
		for v := range list.Elements() {
			c.addTool(v)
		}
		next := jsonrpc.TextOf(r.Message.Result, "nextCursor")
		if next == "" || next == cursor {
			c.tools.mu.Lock()
			c.tools.fetched = time.Now()
			c.tools.mu.Unlock()
			return nil
		}
		cursor = next
	}
	return errToolList
}

// listParams returns the parameters of the gateway's own tools/list request.
func (c *conn) listParams(x *request, cursor string) []byte {
	var parts []string
	if cursor != "" {
		parts = append(parts, `"cursor":`+string(jsonstream.AppendQuote(nil, cursor)))
	}
	if x.modern {
		parts = append(parts, `"_meta":{"`+metaVersion+`":`+string(jsonstream.AppendQuote(nil, x.meta.version))+
			`,"`+metaCapabilities+`":{},"io.modelcontextprotocol/clientInfo":`+string(c.p.g.implementation())+`}`)
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// accepted reports whether a definition is the accepted one. It returns false if the pins
// cannot be read.
func (c *conn) accepted(t *tool) bool {
	if c.p.g.pins == nil {
		return true
	}
	same, err := c.p.g.pins.Check(c.server.Identity, t.Name, t.Hash, t.Canonical)
	switch {
	case err != nil:
		c.p.g.log.Error("reading the accepted tool definitions failed", "error", err)
	case !same:
		c.p.g.log.Warn("a tool changed since it was accepted and is disabled: review it with stopgate mcp pin approve",
			"server", c.name(), "tool", t.Name)
	}
	return err == nil && same
}

// offered reports whether the client's list contains a tool.
func (c *conn) offered(t *tool) bool {
	if !c.p.g.gate.Enforced() {
		return true
	}
	accepted := c.accepted(t)
	return !t.invalidHeaders && accepted && !c.p.g.isHidden(c.callOf(t, accepted), t.Hash)
}

// callOf returns the gate's call for a tool. Its definition counts as pinned only if pins
// are configured and it is the accepted one.
func (c *conn) callOf(t *tool, accepted bool) stopgate.Call {
	d := t.ToolDefinition
	d.Pinned = accepted && c.p.g.pins != nil
	return c.p.g.call(c.p.owner, c.server, t.Name, &d)
}
