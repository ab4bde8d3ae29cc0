package openairesponses

import (
	"errors"
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// scan reads an event or a body. The action of a call that the provider defines is a
// part of its JSON, but it is judged by itself, as the arguments that it is: a
// repeated key in it refuses that call and not the whole response, as it does where
// arguments are text (I12). Everywhere else a repeated key refuses the text. known is
// for [jsonstream.Document.ScanKnowing].
func scan(doc *jsonstream.Document, text []byte, maxBytes int, known func(rest []byte) int) error {
	o := wire.EnvelopeOptions(maxBytes)
	refusal := doc.ScanKnowing(text, o, known)
	var e *jsonstream.Error
	if !errors.As(refusal, &e) || e.Code != stopgate.CodeDuplicateKey {
		return refusal
	}
	o.RepeatedKeys = true
	if err := doc.Scan(text, o); err != nil {
		return err
	}
	var edits wire.Edits
	for action := range actions(doc.Root()) {
		edits.Replace(action, []byte("{}"))
	}
	o.RepeatedKeys = false
	if _, err := jsonstream.Parse(edits.AppendTo(nil, text, 0, len(text)), o); err != nil {
		doc.Reset()
		return refusal
	}
	return nil
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
