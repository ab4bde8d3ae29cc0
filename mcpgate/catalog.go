package mcpgate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/definition"
	"github.com/stopgate/stopgate/mcpgate/mirror"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// tool is one tool of a server.
type tool struct {
	*definition.Tool
	marks   mirror.Marks // arguments that headers mirror
	invalid bool         // the marks are: HTTP must not offer the tool
}

// catalog is what a connection knows of its server's tools.
type catalog struct {
	mu      sync.Mutex
	tools   map[stopgate.ToolName]*tool
	fetched time.Time // when the whole list was read, zero if it was not
	flight  sync.Mutex
}

// forget makes the next call ask the server again.
func (k *catalog) forget() {
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

// learn takes one definition of the server's list in.
func (c *conn) learn(v jsonstream.Value) *tool {
	d, bad := definition.Read(v)
	if d == nil {
		c.p.g.log.Warn("a tool is left out", "server", c.name(), "tool", visible.Elide(visible.Text(textOf(v, "name")), 64), "because", bad)
		return nil
	}
	t := &tool{Tool: d}
	schema, _ := v.Get("inputSchema")
	if t.marks, bad = mirror.Read(schema); bad != "" {
		t.invalid = true
	}
	c.tools.put(t)
	return t
}

// errList is why a server's tools are not known.
var errList = errors.New("mcpgate: the server does not tell its tools")

// find returns a tool's definition. What the client did not list the gate asks the
// server for; nil without an error is a tool that the server does not have.
func (c *conn) find(ctx context.Context, name stopgate.ToolName, x *exchange) (*tool, error) {
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

// fetch reads the server's whole list.
func (c *conn) fetch(ctx context.Context, x *exchange) error {
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
			return errList
		}
		for v := range list.Elements() {
			c.learn(v)
		}
		next := textOf(r.Message.Result, "nextCursor")
		if next == "" || next == cursor {
			c.tools.mu.Lock()
			c.tools.fetched = time.Now()
			c.tools.mu.Unlock()
			return nil
		}
		cursor = next
	}
	return errList
}

// listParams are the parameters of the gate's own tools/list.
func (c *conn) listParams(x *exchange, cursor string) []byte {
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

// accepted reports whether a definition is the accepted one. Where that cannot be told
// it is not.
func (c *conn) accepted(t *tool) bool {
	if c.p.g.pins == nil {
		return true
	}
	same, err := c.p.g.pins.Check(c.server.Identity, t.Name, t.Hash, t.Canonical)
	switch {
	case err != nil:
		c.p.g.log.Error("the accepted definitions cannot be read", "error", err)
	case !same:
		c.p.g.log.Warn("a tool has changed since it was accepted: it is disabled until stopgate mcp pin approve",
			"server", c.name(), "tool", t.Name)
	}
	return err == nil && same
}

// shown reports whether a tool stands in the client's list.
func (c *conn) shown(t *tool) bool {
	if !c.p.g.gate.Enforced() {
		return true
	}
	accepted := c.accepted(t)
	return !t.invalid && accepted && !c.p.g.never(c.proposed(t, accepted), t.Hash)
}

// proposed is what the gate is told about a call of a tool whose definition may be the
// accepted one. Without pins nobody knows.
func (c *conn) proposed(t *tool, accepted bool) stopgate.Call {
	d := t.ToolDefinition
	d.Pinned = accepted && c.p.g.pins != nil
	return c.p.g.call(c.p.owner, c.server, t.Name, &d)
}
