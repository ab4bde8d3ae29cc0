package definition

import (
	"errors"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/jsonstream"
)

// Listed is a tool as a server lists it.
type Listed struct {
	*Tool
	HeaderParams   mirror.Params // arguments that are mirrored in headers
	InvalidHeaders bool          // HeaderParams are invalid: the tool is not offered over HTTP
}

// Catalog caches the tools of one server. The zero Catalog is empty. It is safe for concurrent use.
type Catalog struct {
	mu      sync.Mutex
	tools   map[stopgate.ToolName]*Listed
	fetched time.Time // when the complete list was read; zero if it was not
	flight  sync.Mutex
}

// Limits of the list of one server.
const (
	maxTools = 10_000
	MaxPages = 100
)

// ErrList is the error of an invalid response to tools/list.
var ErrList = errors.New("mcpgate: the server's list of tools is invalid or too long")

// Clear empties the cache, so that the next call reads the list again.
func (k *Catalog) Clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tools, k.fetched = nil, time.Time{}
}

// Add adds one element of the server's list. If the definition is invalid, Add returns nil and the
// reason.
func (k *Catalog) Add(v jsonstream.Value) (t *Listed, reason string) {
	d, reason := Parse(v)
	if d == nil {
		return nil, reason
	}
	t = &Listed{Tool: d}
	schema, _ := v.Get("inputSchema")
	var bad string
	t.HeaderParams, bad = mirror.ParseSchema(schema)
	t.InvalidHeaders = bad != ""
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tools == nil {
		k.tools = map[stopgate.ToolName]*Listed{}
	}
	if len(k.tools) < maxTools {
		k.tools[t.Name] = t
	}
	return t, ""
}

// Find returns a tool. If the catalog does not have it and is older than a second, Find reads the
// server's list: page returns the result of one page, and add receives its elements and calls
// [Catalog.Add]. Find returns nil without an error if the server does not have the tool.
func (k *Catalog) Find(name stopgate.ToolName, page func(cursor string) (jsonstream.Value, error), add func(element jsonstream.Value)) (*Listed, error) {
	if t, _ := k.get(name); t != nil {
		return t, nil
	}
	k.flight.Lock()
	defer k.flight.Unlock()
	t, fetched := k.get(name)
	if t != nil || !fetched.IsZero() && time.Since(fetched) < time.Second {
		return t, nil
	}
	if err := k.fetch(page, add); err != nil {
		return nil, err
	}
	t, _ = k.get(name)
	return t, nil
}

func (k *Catalog) get(name stopgate.ToolName) (*Listed, time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools[name], k.fetched
}

// fetch reads the complete list of the server.
func (k *Catalog) fetch(page func(cursor string) (jsonstream.Value, error), add func(element jsonstream.Value)) error {
	cursor := ""
	for range MaxPages {
		result, err := page(cursor)
		if err != nil {
			return err
		}
		list, ok := result.Get("tools")
		if !ok || list.Kind() != jsonstream.Array {
			return ErrList
		}
		for v := range list.Elements() {
			add(v)
		}
		next := jsonrpc.TextOf(result, "nextCursor")
		if next == "" || next == cursor {
			k.mu.Lock()
			k.fetched = time.Now()
			k.mu.Unlock()
			return nil
		}
		cursor = next
	}
	return ErrList
}
