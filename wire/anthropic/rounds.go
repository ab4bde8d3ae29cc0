package anthropic

import (
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

var _ wire.Answerer = Dialect{}

// Ends implements [wire.Answerer].
func (Dialect) Ends(data []byte) bool {
	v, _ := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
	return isBlock(v, "message_stop")
}

// Answer implements [wire.Answerer]. Thinking cannot be continued in one message: the
// blocks of two turns in it make a history that the provider refuses (WIRE 0.3).
func (Dialect) Answer(request []byte, said wire.Said, results []wire.Answered) ([]byte, bool) {
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	messages, _ := doc.Root().Get("messages")
	content, ok := saidContent(said)
	if !ok || messages.Kind() != jsonstream.Array {
		return nil, false
	}
	answer := []byte(`{"role":"user","content":[`)
	for i, r := range results {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = jsonstream.AppendQuote(append(answer, `{"type":"tool_result","tool_use_id":`...), string(r.Call))
		answer = jsonstream.AppendQuote(append(answer, `,"content":`...), r.Text)
		if !r.Skipped {
			answer = append(answer, `,"is_error":true`...)
		}
		answer = append(answer, '}')
	}
	message := append(append([]byte(`{"role":"assistant","content":`), content...), '}')
	var edits wire.Edits
	edits.Append(messages, message, append(answer, "]}"...))
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// saidContent is the content of the model's message, out of a body as it is, out of a
// stream put together again; ok is false for one that cannot be continued.
func saidContent(said wire.Said) (content []byte, ok bool) {
	if said.Body != nil {
		v, err := jsonstream.Parse(said.Body, wire.EnvelopeOptions(len(said.Body)+1))
		blocks, _ := v.Get("content")
		for b := range blocks.Elements() {
			if !isBlock(b, "text") && !isBlock(b, "tool_use") {
				return nil, false
			}
		}
		return blocks.Raw(), err == nil && blocks.Len() > 0
	}
	type saidBlock struct{ start, text []byte }
	var blocks []saidBlock
	for _, data := range said.Events {
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
		if err != nil {
			return nil, false
		}
		switch {
		case isBlock(v, blockStart):
			block, _ := v.Get("content_block")
			if !isBlock(block, "text") && !isBlock(block, "tool_use") {
				return nil, false
			}
			blocks = append(blocks, saidBlock{start: block.Raw()})
		case isBlock(v, blockDelta):
			index, _ := v.Get("index")
			i, known := wire.Small(index)
			delta, _ := v.Get("delta")
			if !known || i >= len(blocks) {
				return nil, false
			}
			for _, member := range []string{"text", "partial_json"} {
				piece, _ := delta.Get(member)
				blocks[i].text = piece.AppendText(blocks[i].text)
			}
		}
	}
	content = []byte{'['}
	for _, b := range blocks {
		v, _ := jsonstream.Parse(b.start, wire.EnvelopeOptions(len(b.start)+1))
		var edits wire.Edits
		if input, ok := v.Get("input"); ok && len(b.text) > 0 {
			if _, err := jsonstream.Parse(b.text, wire.EnvelopeOptions(len(b.text)+1)); err != nil {
				return nil, false // there is no way to write broken arguments
			}
			edits.Replace(input, b.text)
		} else if text, ok := v.Get("text"); ok {
			if len(b.text) == 0 {
				continue // an empty block is refused (A6)
			}
			edits.Replace(text, jsonstream.AppendQuote(nil, b.text))
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = edits.AppendTo(content, b.start, 0, len(b.start))
	}
	return append(content, ']'), len(blocks) > 0
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
		if sum, err := jsonstream.Parse(u.appendTo(nil), wire.EnvelopeOptions(1<<10)); err == nil {
			list = append(list, sum)
		}
	}
	return list
}

// joined is a later round's stream as a part of one message: its blocks come behind
// those that the client has, and usage counts all rounds.
type joined struct {
	wire.Stream
	doc   jsonstream.Document
	usage []jsonstream.Value
	base  int // blocks of the rounds before
	next  int // the index of the next block
}

// Join implements [wire.Answerer].
func (Dialect) Join(before wire.Stream, said []wire.Said, next wire.Stream) wire.Stream {
	j := &joined{Stream: next, usage: usages(said)}
	switch b := before.(type) {
	case *stream:
		j.base = b.next
	case *joined:
		j.base = b.next
	}
	j.next = j.base
	return j
}

// Event implements [wire.Stream].
func (j *joined) Event(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	out, need, err := j.Stream.Event(nil, ev)
	return wire.Rewrite(dst, out, j.append), need, err
}

// Release implements [wire.Stream].
func (j *joined) Release(dst []byte, outcomes []wire.Release, spill wire.Spill) ([]byte, error) {
	out, err := j.Stream.Release(nil, outcomes, nil)
	if dst = wire.Rewrite(dst, out, j.append); err != nil {
		return dst, err
	}
	return spill.Over(dst)
}

// EOF implements [wire.Stream].
func (j *joined) EOF(dst, tail []byte) ([]byte, wire.Need, error) {
	out, need, err := j.Stream.EOF(nil, tail)
	return wire.Rewrite(dst, out, j.append), need, err
}

func (j *joined) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || j.doc.Scan(ev.Data, wire.EnvelopeOptions(len(ev.Data)+1)) != nil {
		return ev.AppendTo(dst)
	}
	root := j.doc.Root()
	var edits wire.Edits
	switch {
	case isBlock(root, "message_start"):
		return dst // the message has begun
	case isBlock(root, "message_delta"):
		if u, ok := root.Get("usage"); ok {
			edits.AddUsage(u, j.usage...)
		}
	default:
		index, ok := root.Get("index")
		n, small := wire.Small(index)
		if !ok || !small {
			return ev.AppendTo(dst)
		}
		j.next = max(j.next, j.base+n+1)
		edits.Replace(index, strconv.AppendInt(nil, int64(j.base+n), 10))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// JoinBody implements [wire.Answerer].
func (Dialect) JoinBody(said []wire.Said, body []byte) []byte {
	var doc jsonstream.Document
	if doc.Scan(body, wire.EnvelopeOptions(len(body)+1)) != nil {
		return body
	}
	var edits wire.Edits
	if u, ok := doc.Root().Get("usage"); ok {
		edits.AddUsage(u, usages(said)...)
	}
	var before []byte
	for _, round := range said {
		v, _ := jsonstream.Parse(round.Body, wire.EnvelopeOptions(len(round.Body)+1))
		content, _ := v.Get("content")
		for b := range content.Elements() {
			if isBlock(b, "text") {
				before = append(append(before, b.Raw()...), ',')
			}
		}
	}
	if content, ok := doc.Root().Get("content"); ok && len(before) > 0 && content.Kind() == jsonstream.Array {
		if content.Len() == 0 {
			before = before[:len(before)-1]
		}
		from, _ := content.Span()
		edits.Insert(from+1, before)
	}
	return edits.AppendTo(nil, body, 0, len(body))
}
