package anthropic

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var (
	_ wire.Answerer   = Dialect{}
	_ wire.Interluder = (*stream)(nil)
	_ wire.Interluder = (*joined)(nil)
	_ wire.Sayer      = (*stream)(nil)
	_ wire.Sayer      = (*joined)(nil)
	_ wire.History    = (*joined)(nil)
)

// Ends implements [wire.Answerer].
func (Dialect) Ends(data []byte) bool {
	v, _ := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
	return isBlock(v, "message_stop")
}

// Answer implements [wire.Answerer].
func (Dialect) Answer(request []byte, said wire.Said) ([]byte, bool) {
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	messages, _ := doc.Root().Get("messages")
	content, ok := saidContent(said)
	if !ok || messages.Kind() != jsonstream.Array {
		return nil, false
	}
	message := append(list([]byte(`{"role":"assistant","content":`), content), '}')
	answer := append(list([]byte(`{"role":"user","content":`), answers(said.Answers)), '}')
	var edits wire.Edits
	edits.Append(messages, message, answer)
	if id := container(said); len(id) > 0 {
		continueIn(&edits, doc.Root(), id)
	}
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// answers are the blocks that give a model the results of its calls.
func answers(results []wire.Answered) (blocks [][]byte) {
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

// container is the id of the provider's container in which code waits for results, as
// written (WIRE 4.7).
func container(said wire.Said) (id []byte) {
	read := func(object jsonstream.Value) {
		c, _ := object.Get("container")
		if v, _ := c.Get("id"); v.Kind() == jsonstream.String {
			id = bytes.Clone(v.Raw())
		}
	}
	for _, data := range append(said.Events[:len(said.Events):len(said.Events)], said.Body) {
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
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

// continueIn names the container in a request.
func continueIn(edits *wire.Edits, root jsonstream.Value, id []byte) {
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

// set puts a value into a member of an object.
func set(edits *wire.Edits, object jsonstream.Value, name string, value []byte) {
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

// saidContent are the blocks of the model's message, out of a body as they are, out of a
// stream put together again; ok is false for a message that cannot be continued.
func saidContent(said wire.Said) (blocks [][]byte, ok bool) {
	if said.Body != nil {
		v, err := jsonstream.Parse(said.Body, wire.EnvelopeOptions(len(said.Body)+1))
		content, _ := v.Get("content")
		for b := range content.Elements() {
			blocks = append(blocks, b.Raw())
		}
		return blocks, err == nil && len(blocks) > 0
	}
	var begun []*saidBlock
	for _, data := range said.Events {
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
		if err != nil {
			return nil, false
		}
		switch {
		case isBlock(v, blockStart):
			block, _ := v.Get("content_block")
			begun = append(begun, &saidBlock{start: block})
		case isBlock(v, blockDelta):
			index, _ := v.Get("index")
			i, known := wire.Small(index)
			delta, _ := v.Get("delta")
			if !known || i >= len(begun) || !begun[i].take(delta) {
				return nil, false
			}
		}
	}
	for _, b := range begun {
		if block := b.whole(); block != nil {
			blocks = append(blocks, block)
		}
	}
	return blocks, len(blocks) > 0
}

// saidBlock is a block that is put together from its deltas.
type saidBlock struct {
	start     jsonstream.Value
	texts     [len(deltaTexts)][]byte
	came      [len(deltaTexts)]bool
	citations [][]byte
}

// deltaTexts are the deltas that go on with a text of a block.
var deltaTexts = [...]struct{ typ, from, to string }{
	{"text_delta", "text", "text"}, {"thinking_delta", "thinking", "thinking"}, {"signature_delta", "signature", "signature"},
	{"input_json_delta", "partial_json", ""}, {"compaction_delta", "content", "content"},
}

func (b *saidBlock) take(delta jsonstream.Value) bool {
	if isBlock(delta, "citations_delta") {
		citation, ok := delta.Get("citation")
		b.citations = append(b.citations, citation.Raw())
		return ok
	}
	for i, d := range deltaTexts {
		if isBlock(delta, d.typ) {
			piece, _ := delta.Get(d.from)
			b.texts[i], b.came[i] = piece.AppendText(b.texts[i]), true
			return piece.Kind() == jsonstream.String
		}
	}
	return false
}

// whole is the block as a history has it; nil for an empty text, which is refused there
// (AM6).
func (b *saidBlock) whole() (block []byte) {
	var edits wire.Edits
	for i, d := range deltaTexts {
		if !b.came[i] {
			continue
		}
		if d.to == "" {
			if len(b.texts[i]) == 0 {
				continue
			}
			set(&edits, b.start, "input", wire.Complete(b.texts[i]))
			continue
		}
		begun, _ := b.start.Get(d.to)
		set(&edits, b.start, d.to, jsonstream.AppendQuote(nil, append(begun.AppendText(nil), b.texts[i]...)))
	}
	if len(b.citations) > 0 {
		if begun, _ := b.start.Get("citations"); begun.Kind() == jsonstream.Array {
			edits.Append(begun, b.citations...)
		} else {
			set(&edits, b.start, "citations", list(nil, b.citations))
		}
	}
	if begun, _ := b.start.Get("text"); isBlock(b.start, "text") && begun.IsText("") && len(b.texts[0]) == 0 {
		return nil
	}
	return edits.Within(b.start)
}

// usages are the counters of earlier rounds, as each of them had them at its end.
func usages(said []wire.Said) (list []jsonstream.Value) {
	for _, round := range said {
		var u usage
		for _, data := range append(round.Events, round.Body) {
			v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
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
		if sum, err := jsonstream.Parse(u.appendTo(nil), wire.EnvelopeOptions(1<<10)); err == nil {
			list = append(list, sum)
		}
	}
	return list
}
