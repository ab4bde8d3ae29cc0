package openairesponses

import (
	"iter"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// scan reads an event or a body. The action of a call that the provider defines is a
// part of its JSON; known finds the copies of arguments that are text.
func scan(doc *jsonstream.Document, text []byte, maxBytes int, known func(rest []byte) int) error {
	return wire.ScanApart(doc, text, maxBytes, actions, known)
}

// actions are the arguments of calls that stand as objects in an event or a body.
func actions(root jsonstream.Value) iter.Seq[jsonstream.Value] {
	return func(yield func(jsonstream.Value) bool) {
		item, _ := root.Get("item")
		if action, ok := actionOf(item); ok && !yield(action) {
			return
		}
		output, ok := root.Get("output")
		if response, in := root.Get("response"); !ok && in {
			output, _ = response.Get("output")
		}
		for item := range output.Elements() {
			if action, ok := actionOf(item); ok && !yield(action) {
				return
			}
		}
	}
}

// actionOf is the object that an item has as its arguments.
func actionOf(item jsonstream.Value) (jsonstream.Value, bool) {
	k := kinds[text(item, "type")]
	if text(item, "type") == "shell_call" {
		k = shell
	}
	if !k.call() || k.text() {
		return jsonstream.Value{}, false
	}
	action, ok := item.Get(k.member())
	return action, ok && action.Kind() == jsonstream.Object
}
