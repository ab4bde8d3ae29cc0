package openairesponses

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
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
	case function:
		return join(`{"type":"function_call_output","call_id":`, string(id), `,"output":`, string(output), `}`)
	case custom:
		return join(`{"type":"custom_tool_call_output","call_id":`, string(id), `,"output":`, string(output), `}`)
	case localShell: // the id of the item is that of the call
		return join(`{"type":"local_shell_call_output","id":`, string(id), `,"output":`, string(output), `}`)
	case shell:
		return join(`{"type":"shell_call_output","call_id":`, string(id), `,"output":[{"stdout":"","stderr":`, string(output), `,"outcome":{"type":"exit","exit_code":1}}]}`)
	case applyPatch:
		return join(`{"type":"apply_patch_call_output","call_id":`, string(id), `,"status":"failed","output":`, string(output), `}`)
	}
	return dst
}

// Restore implements [provider.Restorer].
func (Dialect) Restore(request []byte, l provider.ResponseLog) []byte {
	var doc jsonstream.Document
	if provider.ReadRequest(&doc, request) != nil {
		return request
	}
	var edits provider.Edits
	previous, _ := doc.Root().Get("previous_response_id")
	latest, missing := l.Response(previous.Text())
	if latest != previous.Text() {
		edits.Replace(previous, jsonstream.AppendQuote(nil, latest))
	}
	var hints provider.Hints
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

// denialStart is the start of the text of every message that replaces a denied call (see
// [provider.DenialText]).
const denialStart = "[stopgate] The tool call"

// restored returns the input with the missing results first, nil if the input needs no
// change.
func restored(input jsonstream.Value, missing []provider.ReplacedCall, l provider.ResponseLog) []byte {
	r := restoration{log: l, denied: map[string]bool{}, deniedItems: map[string]bool{}}
	for i := range missing {
		r.add(missing[i].Output)
		r.addDenied(missing[i])
	}
	r.findMessages(input)
	switch {
	case input.Kind() == jsonstream.Array:
		i := -1
		for item := range input.Elements() {
			i++
			r.addItem(item, i)
		}
	case input.Kind() == jsonstream.String:
		r.add(userMessage(input))
	case provider.Present(input):
		return nil // not an input: the provider will refuse it
	}
	if !r.changed && len(missing) == 0 {
		return nil
	}
	return list(r.out)
}

// restoration collects the items of a restored input.
type restoration struct {
	log         provider.ResponseLog
	denied      map[string]bool               // calls whose results only the gate provides
	deniedItems map[string]bool               // the items of these calls
	messages    map[int]provider.ReplacedCall // by the position of the message that replaces it
	out         [][]byte
	changed     bool
}

func (r *restoration) add(item []byte) {
	if len(item) > 0 {
		r.out = append(r.out, item)
	}
}

// addDenied records that the gate provides the result of a denied call. A client may name
// the call or its item, from whose id that of the message is derived.
func (r *restoration) addDenied(was provider.ReplacedCall) {
	r.denied[was.Call] = true
	r.deniedItems[strings.TrimPrefix(was.Message, MessagePrefix)] = true
}

// findMessages finds the calls whose messages are in the input, by their ids or, for
// clients that drop ids, by their texts. If the same text occurs several times, the last
// one is the latest.
func (r *restoration) findMessages(input jsonstream.Value) {
	r.messages = map[int]provider.ReplacedCall{}
	know := func(at int, was provider.ReplacedCall) {
		if len(was.Item) > 0 && len(was.Output) > 0 {
			r.messages[at] = was
			r.addDenied(was)
		}
	}
	byText := map[string][]int{}
	i := -1
	for item := range input.Elements() {
		i++
		id := text(item, "id")
		if strings.HasPrefix(id, MessagePrefix) {
			if was, ok := r.log.Message(id); ok {
				know(i, was)
			}
		} else if line := messageText(item); id == "" && strings.HasPrefix(line, denialStart) {
			byText[line] = append(byText[line], i)
		}
	}
	for line, at := range byText {
		all := r.log.ByText(line)
		for n := 1; n <= len(at) && n <= len(all); n++ {
			know(at[len(at)-n], all[len(all)-n])
		}
	}
}

// messageText returns the text of a message of the model.
func messageText(item jsonstream.Value) string {
	if typ := text(item, "type"); typ != "" && typ != "message" || text(item, "role") != "assistant" {
		return ""
	}
	content, _ := item.Get("content")
	if part, ok := content.Index(0); ok && content.Len() == 1 {
		content, _ = part.Get("text")
	}
	return content.Text()
}

// addItem processes one item of the client's input. A result of a denied call is dropped,
// because only the gate provides it, and a message of the gate becomes the call that it
// replaced. If that call is unknown, the provider must not look for the message by an id
// that it never assigned: the id of a message is removed, and a reference is dropped.
func (r *restoration) addItem(item jsonstream.Value, at int) {
	typ, id := text(item, "type"), text(item, "id")
	call := text(item, "call_id")
	ours := r.denied[call]
	if call == "" {
		ours = r.denied[id] || r.deniedItems[id]
	}
	was, known := r.messages[at]
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

// without returns an object without one member.
func without(object jsonstream.Value, member string) []byte {
	var edits provider.Edits
	edits.Remove(object, func(key, _ jsonstream.Value) bool { return string(provider.Key(key)) == member })
	return edits.ApplyTo(object)
}
