package openairesponses

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// kindOf classifies an item. The operator can let unknown types pass.
func (c *calls) kindOf(item jsonstream.Value) wire.Kind {
	typ, _ := item.Get("type")
	name := typ.Text()
	if k, ok := wire.Kinds[name]; ok {
		return k
	}
	switch {
	case name == "shell_call":
		// The request determines where it runs, and the item only if the request leaves it
		// open: a client with a shell may run every item of this type.
		if environment, ok := item.Get("environment"); ok && provider.Present(environment) && slices.Contains(c.req.ServerTools, "shell") {
			if where, _ := environment.Get("type"); !where.IsText("local") {
				return wire.Provider
			}
		}
		return wire.Shell
	case name == "tool_search_call":
		if execution, _ := item.Get("execution"); !execution.IsText("client") {
			return wire.Provider
		}
	case strings.HasSuffix(name, "_output"):
		return wire.Plain
	case slices.Contains(c.o.PassItems, name):
		return wire.Provider
	}
	return wire.Unknown
}

// noteItem reports the result in an item of a tool that ran at the provider, and the id of a message.
func (c *calls) noteItem(item jsonstream.Value) {
	typ := wire.Text(item, "type")
	if typ == "message" && wire.Text(item, "role") == "assistant" && c.o.Message != nil {
		c.o.Message(wire.Text(item, "id"))
	}
	if c.o.Result == nil {
		return
	}
	var text []byte
	var opaque bool
	if strings.HasSuffix(typ, "_output") {
		output, ok := item.Get("output")
		if !ok {
			output = item
		}
		text, opaque = provider.ReadContent(output)
	} else if content, whole := wire.ResultOf(typ, item); content.IsValid() {
		text, opaque = provider.ReadContent(content)
		opaque = opaque || !whole
	} else if opaque = !whole; !opaque {
		return
	}
	c.o.Result(text, opaque)
}

// isCall reports whether a value that should not be an item has the type of a call.
func isCall(v jsonstream.Value) bool { return wire.Kinds[wire.Text(v, "type")].Call() }

// outputHasCall reports whether the output of a response contains a call.
func (c *calls) outputHasCall(response jsonstream.Value) bool {
	output, _ := response.Get("output")
	for item := range output.Elements() {
		if c.kindOf(item).Call() {
			return true
		}
	}
	return false
}
