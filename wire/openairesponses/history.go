package openairesponses

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var (
	_ wire.Rememberer = Dialect{}
	_ wire.History    = (*stream)(nil)
	_ wire.History    = (*body)(nil)
	_ wire.Items      = (*stream)(nil)
	_ wire.Items      = (*body)(nil)
)

// Remembers implements [wire.Rememberer].
func (Dialect) Remembers() {}

// Replaced implements [wire.History].
func (s *stream) Replaced() (string, []wire.Replaced) { return s.response, s.replaced }

// Replaced implements [wire.History].
func (b *body) Replaced() (string, []wire.Replaced) { return b.response, b.replaced }

// Items implements [wire.Items].
func (c *calls) Items() map[stopgate.CallID]stopgate.CallID {
	items := make(map[stopgate.CallID]stopgate.CallID, len(c.list))
	for _, k := range c.list {
		if k.item != k.id {
			items[stopgate.CallID(k.id)] = stopgate.CallID(k.item)
		}
	}
	return items
}

// remember notes the denied calls of a response that is released, with their items.
func (c *calls) remember(list []outcome, item func(k *call) []byte) {
	for i, k := range c.list {
		if list[i].value != nil {
			continue
		}
		r := wire.Replaced{Message: messageID(k), Text: list[i].text, Call: k.id, Output: appendResult(nil, k, list[i].told)}
		if !k.refused {
			r.Item = item(k)
		}
		c.replaced = append(c.replaced, r)
	}
}

// finished gives the items of a response as its output has them.
func finished(response jsonstream.Value) func(k *call) []byte {
	output, _ := response.Get("output")
	return func(k *call) []byte {
		item, _ := output.Index(k.index)
		return bytes.Clone(item.Raw())
	}
}

// appendResult appends the item that gives the provider a denial as the result of
// a call (WIRE 3.7).
func appendResult(dst []byte, k *call, denial string) []byte {
	id, said := jsonstream.AppendQuote(nil, k.id), jsonstream.AppendQuote(nil, denial)
	join := func(parts ...string) []byte {
		for _, p := range parts {
			dst = append(dst, p...)
		}
		return dst
	}
	switch k.kind {
	case function:
		return join(`{"type":"function_call_output","call_id":`, string(id), `,"output":`, string(said), `}`)
	case custom:
		return join(`{"type":"custom_tool_call_output","call_id":`, string(id), `,"output":`, string(said), `}`)
	case localShell: // its id is the call's
		return join(`{"type":"local_shell_call_output","id":`, string(id), `,"output":`, string(said), `}`)
	case shell:
		return join(`{"type":"shell_call_output","call_id":`, string(id), `,"output":[{"stdout":"","stderr":`, string(said), `,"outcome":{"type":"exit","exit_code":1}}]}`)
	case applyPatch:
		return join(`{"type":"apply_patch_call_output","call_id":`, string(id), `,"status":"failed","output":`, string(said), `}`)
	}
	return dst
}

// Restore implements [wire.Restorer] (WIRE 3.7).
func (Dialect) Restore(request []byte, l wire.Ledger) []byte {
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return request
	}
	var edits wire.Edits
	previous, _ := doc.Root().Get("previous_response_id")
	latest, missing := l.Response(previous.Text())
	if latest != previous.Text() {
		edits.Replace(previous, jsonstream.AppendQuote(nil, latest))
	}
	var hints wire.Hints
	conversation, _ := doc.Root().Get("conversation")
	if hint(&hints, "conversation", conversation); hints.Conversation != "" {
		missing = append(missing, l.Conversation(hints.Conversation)...)
	}
	input, has := doc.Root().Get("input")
	if len(missing) > 0 || bytes.Contains(request, []byte(MessagePrefix)) || bytes.Contains(request, []byte(denialStart)) {
		if items := restored(input, missing, l); items == nil {
		} else if has {
			edits.Replace(input, items)
		} else {
			_, end := doc.Root().Span()
			edits.Insert(end-1, append([]byte(`,"input":`), items...))
		}
	}
	if len(edits) == 0 {
		return request
	}
	return edits.AppendTo(nil, request, 0, len(request))
}

// denialStart begins the text of every message that stands for a denied call
// (see [wire.DenialText]).
const denialStart = "[stopgate] The tool call"

// restored is the input with the results that the provider misses in front, nil if it
// stays as it is.
func restored(input jsonstream.Value, missing []wire.Replaced, l wire.Ledger) []byte {
	r := restoration{ledger: l, ours: map[string]bool{}, items: map[string]bool{}}
	for i := range missing {
		r.add(missing[i].Output)
		r.own(missing[i])
	}
	r.replayed(input)
	switch {
	case input.Kind() == jsonstream.Array:
		i := -1
		for item := range input.Elements() {
			i++
			r.item(item, i)
		}
	case input.Kind() == jsonstream.String:
		r.add(userMessage(input))
	case wire.Present(input):
		return nil // no input: the provider judges it
	}
	if !r.changed && len(missing) == 0 {
		return nil
	}
	return list(r.out)
}

// restoration collects the items of a restored input.
type restoration struct {
	ledger  wire.Ledger
	ours    map[string]bool       // calls whose results are the gate's to give
	items   map[string]bool       // and the items of these
	known   map[int]wire.Replaced // by the position of the message that stands for it
	out     [][]byte
	changed bool
}

func (r *restoration) add(item []byte) {
	if len(item) > 0 {
		r.out = append(r.out, item)
	}
}

// own makes the result of a denied call the gate's to give. A client may name the call or
// its item, after which its message is named.
func (r *restoration) own(was wire.Replaced) {
	r.ours[was.Call] = true
	r.items[strings.TrimPrefix(was.Message, MessagePrefix)] = true
}

// replayed finds the calls whose messages are in the input, by their ids or, from
// clients that drop these, by what they say. One text may stand there several times: the
// last of them is the newest.
func (r *restoration) replayed(input jsonstream.Value) {
	r.known = map[int]wire.Replaced{}
	know := func(at int, was wire.Replaced) {
		if len(was.Item) > 0 && len(was.Output) > 0 {
			r.known[at] = was
			r.own(was)
		}
	}
	said := map[string][]int{}
	i := -1
	for item := range input.Elements() {
		i++
		id := text(item, "id")
		if strings.HasPrefix(id, MessagePrefix) {
			if was, ok := r.ledger.Message(id); ok {
				know(i, was)
			}
		} else if line := spokenLine(item); id == "" && strings.HasPrefix(line, denialStart) {
			said[line] = append(said[line], i)
		}
	}
	for line, at := range said {
		all := r.ledger.Said(line)
		for n := 1; n <= len(at) && n <= len(all); n++ {
			know(at[len(at)-n], all[len(all)-n])
		}
	}
}

// spokenLine is the text of a message of the model.
func spokenLine(item jsonstream.Value) string {
	if typ := text(item, "type"); typ != "" && typ != "message" || text(item, "role") != "assistant" {
		return ""
	}
	content, _ := item.Get("content")
	if part, ok := content.Index(0); ok && content.Len() == 1 {
		content, _ = part.Get("text")
	}
	return content.Text()
}

// item takes one item of the client's input: a result of a denied call is not the
// client's to give, and a message of ours is the call that it stands for. Where
// that is not known, the provider must at least not look for the message by an id
// that it never gave: a message loses its id, a reference goes.
func (r *restoration) item(item jsonstream.Value, at int) {
	typ, id := text(item, "type"), text(item, "id")
	call := text(item, "call_id")
	ours := r.ours[call]
	if call == "" {
		ours = r.ours[id] || r.items[id]
	}
	was, known := r.known[at]
	switch {
	case strings.HasSuffix(typ, "_output") && ours:
		r.changed = true
	case known:
		r.changed = true
		r.add(was.Item)
		r.add(was.Output)
	case !strings.HasPrefix(id, MessagePrefix):
		r.add(item.Raw())
	default:
		r.changed = true
		if typ != "item_reference" {
			r.add(without(item, "id"))
		}
	}
}

// without is an object without one member.
func without(object jsonstream.Value, member string) []byte {
	var edits wire.Edits
	edits.Remove(object, func(key, _ jsonstream.Value) bool { return string(wire.Key(key)) == member })
	return edits.Within(object)
}
