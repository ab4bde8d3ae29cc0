package history

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// Restore adds the calls and results that the client does not have to a request.
func Restore(request []byte, l provider.ResponseLog) []byte {
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
	if Hint(&hints, "conversation", conversation); hints.Conversation != "" {
		missing = append(missing, l.Conversation(hints.Conversation)...)
	}
	input, has := doc.Root().Get("input")
	if len(missing) > 0 || bytes.Contains(request, []byte(wire.MessagePrefix)) || bytes.Contains(request, []byte(denialStart)) {
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
		r.add(wire.UserMessage(input))
	case provider.Present(input):
		return nil // not an input: the provider will refuse it
	}
	if !r.changed && len(missing) == 0 {
		return nil
	}
	return wire.List(r.out)
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
	r.deniedItems[strings.TrimPrefix(was.Message, wire.MessagePrefix)] = true
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
		id := wire.Text(item, "id")
		if strings.HasPrefix(id, wire.MessagePrefix) {
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
	if typ := wire.Text(item, "type"); typ != "" && typ != "message" || wire.Text(item, "role") != "assistant" {
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
	typ, id := wire.Text(item, "type"), wire.Text(item, "id")
	call := wire.Text(item, "call_id")
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
	case !strings.HasPrefix(id, wire.MessagePrefix):
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
