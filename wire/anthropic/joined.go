package anthropic

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// joined is a later round's stream as a part of one message: its blocks come behind
// those that the client has, and usage counts all rounds.
type joined struct {
	wire.Joined
	doc   jsonstream.Document
	usage []jsonstream.Value
	base  int // blocks of the rounds before
	next  int // the index of the next block

	places places // of the rounds before, and what stands in front of this one
	mark   mark   // of the thinking that it begins with
	begins string // the place of the block that it begins with, unless that is a text
	text   []byte // the text that it begins with
}

// Join implements [wire.Answerer].
func (Dialect) Join(before wire.Stream, said []wire.Said, next wire.Stream) wire.Stream {
	j := &joined{usage: usages(said)}
	j.Joined = wire.Joined{Stream: next, Each: j.append}
	switch b := before.(type) {
	case *stream:
		j.base = b.next
	case *joined:
		j.base, j.places = b.next, b.begun()
	}
	j.places.end(said[len(said)-1])
	j.next = j.base
	return j
}

// Interlude implements [wire.Interluder]: nothing stands for the calls, but what the
// model said behind them is said.
func (s *stream) Interlude(dst []byte, _ []wire.Release) []byte {
	if !s.waiting && !s.cancelled {
		return dst
	}
	s.waiting, s.cancelled, s.pending = false, false, 0
	dst, _ = s.writeQueue(dst, make([][]byte, len(s.list)), nil, nil) // without a spill nothing fails
	return dst
}

// Replaced implements [wire.History].
func (j *joined) Replaced() (response string, list []wire.Replaced) { return "", j.begun().list }

// begun are the places with the one in front of this round.
func (j *joined) begun() places {
	p := j.places
	p.begin(j.mark.String(), cmp.Or(placeOf(j.base, "text", j.text), j.begins))
	return p
}

// begin reads the block that the round begins with, or a delta of it.
func (j *joined) begin(block, delta jsonstream.Value) {
	j.mark.read(block, delta)
	text := false
	for _, v := range []jsonstream.Value{block, delta} {
		if isBlock(v, "text") || isBlock(v, "text_delta") {
			piece, _ := v.Get("text")
			j.text, text = piece.AppendText(j.text), true
		}
	}
	if block.IsValid() && !text {
		j.begins = place(j.base, block)
	}
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
		if n == 0 {
			block, _ := root.Get("content_block")
			delta, _ := root.Get("delta")
			j.begin(block, delta)
		}
		j.next = max(j.next, j.base+n+1)
		edits.Replace(index, strconv.AppendInt(nil, int64(j.base+n), 10))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// JoinBody implements [wire.Answerer].
func (Dialect) JoinBody(said []wire.Said, body []byte) ([]byte, []wire.Replaced) {
	var doc jsonstream.Document
	if doc.Scan(body, wire.EnvelopeOptions(len(body)+1)) != nil {
		return body, nil
	}
	var edits wire.Edits
	if u, ok := doc.Root().Get("usage"); ok {
		edits.AddUsage(u, usages(said)...)
	}
	var before [][]byte
	var p places
	begin := func(content jsonstream.Value, calls bool) {
		for b := range content.Elements() {
			if calls || !kindOf(b).call() {
				var m mark
				m.read(b, jsonstream.Value{})
				p.begin(m.String(), place(len(before), b))
				return
			}
		}
	}
	for _, round := range said {
		v, _ := jsonstream.Parse(round.Shown, wire.EnvelopeOptions(len(round.Shown)+1))
		content, _ := v.Get("content")
		begin(content, false)
		p.end(round)
		for b := range content.Elements() {
			if !kindOf(b).call() {
				before = append(before, bytes.Clone(b.Raw()))
			}
		}
	}
	if content, ok := doc.Root().Get("content"); ok && content.Kind() == jsonstream.Array {
		begin(content, true)
		if content.Len() > 0 && len(before) > 0 {
			before = append(before, nil) // a comma behind the last
		}
		from, _ := content.Span()
		edits.Insert(from+1, bytes.Join(before, []byte{','}))
	}
	return edits.AppendTo(nil, body, 0, len(body)), p.list
}
