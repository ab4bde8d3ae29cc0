package anthropic

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.MultiRound   = Dialect{}
	_ provider.RoundCloser  = (*stream)(nil)
	_ provider.RoundCloser  = (*joined)(nil)
	_ provider.TextAdder    = (*stream)(nil)
	_ provider.TextAdder    = (*joined)(nil)
	_ provider.CallReplacer = (*joined)(nil)
)

// IsLastEvent implements [provider.MultiRound].
func (Dialect) IsLastEvent(data []byte) bool {
	v, _ := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
	return isBlock(v, "message_stop")
}

// NextRequest implements [provider.MultiRound].
func (Dialect) NextRequest(request []byte, round provider.Round) ([]byte, bool) {
	var doc jsonstream.Document
	if provider.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	messages, _ := doc.Root().Get("messages")
	content, ok := roundContent(round)
	if !ok || messages.Kind() != jsonstream.Array {
		return nil, false
	}
	message := append(list([]byte(`{"role":"assistant","content":`), content), '}')
	answer := append(list([]byte(`{"role":"user","content":`), resultBlocks(round.Results)), '}')
	var edits provider.Edits
	edits.AppendElements(messages, message, answer)
	if id := container(round); len(id) > 0 {
		setContainer(&edits, doc.Root(), id)
	}
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// resultBlocks returns the blocks with the results of calls.
func resultBlocks(results []provider.CallResult) (blocks [][]byte) {
	for _, r := range results {
		b := jsonstream.AppendQuote([]byte(`{"type":"tool_result","tool_use_id":`), string(r.Call))
		b = jsonstream.AppendQuote(append(b, `,"content":`...), r.Text)
		if !r.Skipped {
			b = append(b, `,"is_error":true`...)
		}
		blocks = append(blocks, append(b, '}'))
	}
	return blocks
}

func list(dst []byte, elements [][]byte) []byte {
	dst = append(dst, '[')
	return append(append(dst, bytes.Join(elements, []byte{','})...), ']')
}

// container returns the id of the provider's container in which code waits for results, as
// it is written.
func container(round provider.Round) (id []byte) {
	read := func(object jsonstream.Value) {
		c, _ := object.Get("container")
		if v, _ := c.Get("id"); v.Kind() == jsonstream.String {
			id = bytes.Clone(v.Raw())
		}
	}
	for _, data := range append(round.Events[:len(round.Events):len(round.Events)], round.Body) {
		v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
		if err != nil {
			continue
		}
		message, _ := v.Get("message")
		delta, _ := v.Get("delta")
		read(v)
		read(message)
		read(delta)
	}
	return id
}

// setContainer sets the container of a request.
func setContainer(edits *provider.Edits, root jsonstream.Value, id []byte) {
	c, has := root.Get("container")
	inner, named := c.Get("id")
	switch {
	case !has:
		_, end := root.Span()
		edits.Insert(end-1, append([]byte(`,"container":`), id...))
	case named:
		edits.Replace(inner, id)
	case c.Kind() == jsonstream.Object:
		set(edits, c, "id", id)
	default:
		edits.Replace(c, id)
	}
}

// set sets a member of an object.
func set(edits *provider.Edits, object jsonstream.Value, name string, value []byte) {
	if v, ok := object.Get(name); ok {
		edits.Replace(v, value)
		return
	}
	member := append(append(jsonstream.AppendQuote(nil, name), ':'), value...)
	if object.Len() > 0 {
		member = append([]byte{','}, member...)
	}
	_, end := object.Span()
	edits.Insert(end-1, member)
}

// roundContent returns the blocks of the model's message, as they are in a body, or
// assembled from a stream. ok is false if the message cannot be continued.
func roundContent(round provider.Round) (blocks [][]byte, ok bool) {
	if round.Body != nil {
		v, err := jsonstream.Parse(round.Body, provider.EnvelopeOptions(len(round.Body)+1))
		content, _ := v.Get("content")
		for b := range content.Elements() {
			blocks = append(blocks, b.Raw())
		}
		return blocks, err == nil && len(blocks) > 0
	}
	var begun []*roundBlock
	for _, data := range round.Events {
		v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
		if err != nil {
			return nil, false
		}
		switch {
		case isBlock(v, blockStart):
			block, _ := v.Get("content_block")
			begun = append(begun, &roundBlock{start: block})
		case isBlock(v, blockDelta):
			index, _ := v.Get("index")
			i, known := provider.SmallInt(index)
			delta, _ := v.Get("delta")
			if !known || i >= len(begun) || !begun[i].addDelta(delta) {
				return nil, false
			}
		}
	}
	for _, b := range begun {
		if block := b.assemble(); block != nil {
			blocks = append(blocks, block)
		}
	}
	return blocks, len(blocks) > 0
}

// roundBlock is a block that is assembled from its deltas.
type roundBlock struct {
	start     jsonstream.Value
	texts     [len(deltaTexts)][]byte
	present   [len(deltaTexts)]bool
	citations [][]byte
}

// deltaTexts are the delta types that append to a text of a block.
var deltaTexts = [...]struct{ typ, from, to string }{
	{"text_delta", "text", "text"}, {"thinking_delta", "thinking", "thinking"}, {"signature_delta", "signature", "signature"},
	{"input_json_delta", "partial_json", ""}, {"compaction_delta", "content", "content"},
}

func (b *roundBlock) addDelta(delta jsonstream.Value) bool {
	if isBlock(delta, "citations_delta") {
		citation, ok := delta.Get("citation")
		b.citations = append(b.citations, citation.Raw())
		return ok
	}
	for i, d := range deltaTexts {
		if isBlock(delta, d.typ) {
			piece, _ := delta.Get(d.from)
			b.texts[i], b.present[i] = piece.AppendText(b.texts[i]), true
			return piece.Kind() == jsonstream.String
		}
	}
	return false
}

// assemble returns the block as a history contains it; nil for an empty text, which the API
// refuses (AM6).
func (b *roundBlock) assemble() (block []byte) {
	var edits provider.Edits
	for i, d := range deltaTexts {
		if !b.present[i] {
			continue
		}
		if d.to == "" {
			if len(b.texts[i]) == 0 {
				continue
			}
			set(&edits, b.start, "input", provider.CompletePrefix(b.texts[i]))
			continue
		}
		begun, _ := b.start.Get(d.to)
		set(&edits, b.start, d.to, jsonstream.AppendQuote(nil, append(begun.AppendText(nil), b.texts[i]...)))
	}
	if len(b.citations) > 0 {
		if begun, _ := b.start.Get("citations"); begun.Kind() == jsonstream.Array {
			edits.AppendElements(begun, b.citations...)
		} else {
			set(&edits, b.start, "citations", list(nil, b.citations))
		}
	}
	if begun, _ := b.start.Get("text"); isBlock(b.start, "text") && begun.IsText("") && len(b.texts[0]) == 0 {
		return nil
	}
	return edits.ApplyTo(b.start)
}

// usages returns the final counters of each round.
func usages(rounds []provider.Round) (list []jsonstream.Value) {
	for _, round := range rounds {
		var u usage
		for _, data := range append(round.Events, round.Body) {
			v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
			if err != nil {
				continue
			}
			if message, ok := v.Get("message"); ok {
				u.read(message)
			}
			u.read(v)
		}
		if round.Estimate.Known {
			u.estimate(round.Estimate)
		}
		if sum, err := jsonstream.Parse(u.appendTo(nil), provider.EnvelopeOptions(1<<10)); err == nil {
			list = append(list, sum)
		}
	}
	return list
}
