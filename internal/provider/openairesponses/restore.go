package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/history"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.Stateful     = Dialect{}
	_ provider.CallReplacer = (*stream)(nil)
	_ provider.CallReplacer = (*body)(nil)
	_ provider.ItemIDs      = (*stream)(nil)
	_ provider.ItemIDs      = (*body)(nil)
)

// Stateful implements [provider.Stateful].
func (Dialect) Stateful() {}

// Replaced implements [provider.CallReplacer].
func (s *stream) Replaced() (string, []provider.ReplacedCall) { return s.response, s.replaced }

// Replaced implements [provider.CallReplacer].
func (b *body) Replaced() (string, []provider.ReplacedCall) { return b.response, b.replaced }

// ItemIDs implements [provider.ItemIDs].
func (c *calls) ItemIDs() map[stopgate.CallID]stopgate.CallID {
	items := make(map[stopgate.CallID]stopgate.CallID, len(c.list))
	for _, k := range c.list {
		if k.item != k.id {
			items[stopgate.CallID(k.id)] = stopgate.CallID(k.item)
		}
	}
	return items
}

// addReplaced records the denied calls of a released response, with their items.
func (c *calls) addReplaced(list []outcome, item func(k *call) []byte) {
	for i, k := range c.list {
		if list[i].value != nil {
			continue
		}
		r := provider.ReplacedCall{Message: messageID(k), Text: list[i].denial, Call: k.id, Output: appendResult(nil, k, list[i].result)}
		if !k.refused {
			r.Item = item(k)
		}
		c.replaced = append(c.replaced, r)
	}
}

// finalItems returns a function that returns the item of a call in the output of the
// response.
func finalItems(response jsonstream.Value) func(k *call) []byte {
	output, _ := response.Get("output")
	return func(k *call) []byte {
		item, _ := output.Index(k.index)
		return bytes.Clone(item.Raw())
	}
}

// appendResult appends the item with which the provider receives a denial as the result of
// a call.
func appendResult(dst []byte, k *call, denial string) []byte {
	id, output := jsonstream.AppendQuote(nil, k.id), jsonstream.AppendQuote(nil, denial)
	join := func(parts ...string) []byte {
		for _, p := range parts {
			dst = append(dst, p...)
		}
		return dst
	}
	switch k.kind {
	case wire.Function:
		return join(`{"type":"function_call_output","call_id":`, string(id), `,"output":`, string(output), `}`)
	case wire.Custom:
		return join(`{"type":"custom_tool_call_output","call_id":`, string(id), `,"output":`, string(output), `}`)
	case wire.LocalShell: // the id of the item is that of the call
		return join(`{"type":"local_shell_call_output","id":`, string(id), `,"output":`, string(output), `}`)
	case wire.Shell:
		return join(`{"type":"shell_call_output","call_id":`, string(id), `,"output":[{"stdout":"","stderr":`, string(output), `,"outcome":{"type":"exit","exit_code":1}}]}`)
	case wire.ApplyPatch:
		return join(`{"type":"apply_patch_call_output","call_id":`, string(id), `,"status":"failed","output":`, string(output), `}`)
	}
	return dst
}

// Restore implements [provider.Restorer].
func (Dialect) Restore(request []byte, l provider.ResponseLog) []byte {
	return history.Restore(request, l)
}
