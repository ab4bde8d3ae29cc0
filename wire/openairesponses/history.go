package openairesponses

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var (
	_ wire.Restorer = Dialect{}
	_ wire.History  = (*stream)(nil)
	_ wire.History  = (*body)(nil)
)

// Replaced implements [wire.History].
func (s *stream) Replaced() (string, []wire.Replaced) { return s.response, s.replaced }

// Replaced implements [wire.History].
func (b *body) Replaced() (string, []wire.Replaced) { return b.response, b.replaced }

// remember notes the denied calls of a response that is released, with their items
// as its output has them.
func (c *calls) remember(response jsonstream.Value, list []outcome) {
	c.response = text(response, "id")
	output, _ := response.Get("output")
	for i, k := range c.list {
		if list[i].value != nil {
			continue
		}
		r := wire.Replaced{Message: messageID(k), Call: k.id, Output: appendResult(nil, k, list[i].text)}
		if item, ok := output.Index(k.index); ok && !k.refused {
			r.Item = append([]byte(nil), item.Raw()...)
		}
		c.replaced = append(c.replaced, r)
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
	previous := l.Response(text(doc.Root(), "previous_response_id"))
	if len(previous) == 0 && !bytes.Contains(request, []byte(MessagePrefix)) {
		return request
	}
	r := restoration{ledger: l, ours: map[string]bool{}}
	for i := range previous {
		r.add(previous[i].Output)
		r.ours[previous[i].Call] = true
	}
	input, ok := doc.Root().Get("input")
	r.replayed(input)
	switch {
	case input.Kind() == jsonstream.Array:
		for item := range input.Elements() {
			r.item(item)
		}
	case input.Kind() == jsonstream.String:
		r.add(append(append([]byte(`{"type":"message","role":"user","content":`), input.Raw()...), '}'))
	case wire.Present(input):
		return request // no input: the provider judges it
	}
	if !r.changed && len(previous) == 0 {
		return request
	}
	var edits wire.Edits
	restored := append(append([]byte{'['}, bytes.Join(r.items, []byte{','})...), ']')
	if ok {
		edits.Replace(input, restored)
	} else {
		_, end := doc.Root().Span()
		edits.Insert(end-1, append([]byte(`,"input":`), restored...))
	}
	return edits.AppendTo(nil, request, 0, len(request))
}

// restoration collects the items of a restored input.
type restoration struct {
	ledger  wire.Ledger
	ours    map[string]bool // calls whose results are the gate's to give
	items   [][]byte
	changed bool
}

func (r *restoration) add(item []byte) {
	if len(item) > 0 {
		r.items = append(r.items, item)
	}
}

// replayed finds the calls whose messages are in the input.
func (r *restoration) replayed(input jsonstream.Value) {
	for item := range input.Elements() {
		if id := text(item, "id"); strings.HasPrefix(id, MessagePrefix) {
			if was, ok := r.ledger.Message(id); ok && len(was.Item) > 0 {
				r.ours[was.Call] = true
			}
		}
	}
}

// item takes one item of the client's input: a result of a denied call is not the
// client's to give, and a message of ours is the call that it stands for. Where
// that is not known, the provider must at least not look for the message by an id
// that it never gave: a message loses its id, a reference goes.
func (r *restoration) item(item jsonstream.Value) {
	typ, id := text(item, "type"), text(item, "id")
	call := text(item, "call_id")
	if call == "" {
		call = id
	}
	switch {
	case strings.HasSuffix(typ, "_output") && r.ours[call]:
		r.changed = true
	case !strings.HasPrefix(id, MessagePrefix):
		r.add(item.Raw())
	default:
		r.changed = true
		if was, ok := r.ledger.Message(id); ok && len(was.Item) > 0 && len(was.Output) > 0 {
			r.add(was.Item)
			r.add(was.Output)
		} else if typ != "item_reference" {
			r.add(without(item, "id"))
		}
	}
}

// without is an object without one member.
func without(object jsonstream.Value, member string) []byte {
	var edits wire.Edits
	edits.Remove(object, func(key, _ jsonstream.Value) bool { return string(wire.Key(key)) == member })
	raw := object.Raw()
	from, _ := object.Span()
	for i := range edits {
		edits[i].Start -= from
		edits[i].End -= from
	}
	return edits.AppendTo(nil, raw, 0, len(raw))
}
