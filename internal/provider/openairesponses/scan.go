package openairesponses

import (
	"iter"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// scan scans an event or a body, in which the actions of calls that the provider defines
// are JSON. known is passed to [jsonstream.Document.ScanWithKnown].
func scan(doc *jsonstream.Document, text []byte, maxBytes int, known func(rest []byte) int) error {
	return provider.ScanEmbeddedArgs(doc, text, maxBytes, actions, known)
}

// actions returns the arguments that are objects in an event or a body.
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

// actionOf returns the object that contains the arguments of an item.
func actionOf(item jsonstream.Value) (jsonstream.Value, bool) {
	k := wire.Kinds[wire.Text(item, "type")]
	if wire.Text(item, "type") == "shell_call" {
		k = wire.Shell
	}
	if !k.Call() || k.Text() {
		return jsonstream.Value{}, false
	}
	action, ok := item.Get(k.Member())
	return action, ok && action.Kind() == jsonstream.Object
}
