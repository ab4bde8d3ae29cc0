package anthropic

import (
	"iter"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// scan scans an event or a body, in which the inputs of calls are JSON.
func scan(doc *jsonstream.Document, text []byte, maxBytes int) error {
	return provider.ScanEmbeddedArgs(doc, text, maxBytes, inputs, nil)
}

// inputs returns the inputs of the calls in a body or in the start of a block.
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
