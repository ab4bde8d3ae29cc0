package anthropic

import (
	"errors"
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// scan reads an event or a body. The input of a call is a part of its JSON here,
// but it is judged by itself, as the arguments that it is: a repeated key in it
// refuses that call and not the whole response, as it does where arguments are
// text (I12). Everywhere else a repeated key refuses the text.
func scan(doc *jsonstream.Document, text []byte, maxBytes int) error {
	o := wire.EnvelopeOptions(maxBytes)
	refusal := doc.Scan(text, o)
	var e *jsonstream.Error
	if !errors.As(refusal, &e) || e.Code != stopgate.CodeDuplicateKey {
		return refusal
	}
	o.RepeatedKeys = true
	if err := doc.Scan(text, o); err != nil {
		return err
	}
	var edits wire.Edits
	for input := range inputs(doc.Root()) {
		edits.Replace(input, emptyObject)
	}
	o.RepeatedKeys = false
	if _, err := jsonstream.Parse(edits.AppendTo(nil, text, 0, len(text)), o); err != nil {
		doc.Reset()
		return refusal
	}
	return nil
}

// inputs are the inputs of the calls in a body or in the start of a block.
func inputs(root jsonstream.Value) iter.Seq[jsonstream.Value] {
	return func(yield func(jsonstream.Value) bool) {
		content, _ := root.Get("content")
		block, _ := root.Get("content_block")
		if input, ok := block.Get("input"); ok && kindOf(block).call() && !yield(input) {
			return
		}
		for block := range content.Elements() {
			if input, ok := block.Get("input"); ok && kindOf(block).call() && !yield(input) {
				return
			}
		}
	}
}
