package anthropic

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// joined is the stream of a later round as a part of one message: its blocks follow those
// that the client has, and its usage includes all rounds.
type joined struct {
	provider.JoinedStream
	doc   jsonstream.Document
	usage []jsonstream.Value
	base  int // number of blocks in earlier rounds
	next  int // output index of the next block

	seams      seams  // of the earlier rounds, and the seam before this one
	mark       mark   // of the thinking with which the round starts
	firstBlock string // key of the block with which the round starts, unless it is a text
	firstText  []byte // text with which the round starts
}

// Join implements [provider.MultiRound].
func (Dialect) Join(before provider.Stream, rounds []provider.Round, next provider.Stream) provider.Stream {
	j := &joined{usage: usages(rounds)}
	j.JoinedStream = provider.JoinedStream{Stream: next, RewriteEvent: j.append}
	switch b := before.(type) {
	case *stream:
		j.base = b.next
	case *joined:
		j.base, j.seams = b.next, b.allSeams()
	}
	j.seams.endTurn(rounds[len(rounds)-1])
	j.next = j.base
	return j
}

// CloseRound implements [provider.RoundCloser]. No content replaces the calls; the other blocks
// of the round are written.
func (s *stream) CloseRound(dst []byte, _ []provider.CallOutcome) []byte {
	if !s.waiting && !s.cancelled {
		return dst
	}
	s.waiting, s.cancelled, s.pending = false, false, 0
	dst, _ = s.writeQueue(dst, make([][]byte, len(s.list)), nil, nil) // it cannot fail without a flush
	return dst
}

// Replaced implements [provider.CallReplacer].
func (j *joined) Replaced() (response string, list []provider.ReplacedCall) {
	return "", j.allSeams().list
}

// allSeams returns the seams including the one before this round.
func (j *joined) allSeams() seams {
	p := j.seams
	p.startTurn(j.mark.String(), cmp.Or(textKey(j.base, "text", j.firstText), j.firstBlock))
	return p
}

// readFirstBlock reads the block with which the round starts, or a delta of it.
func (j *joined) readFirstBlock(block, delta jsonstream.Value) {
	j.mark.read(block, delta)
	text := false
	for _, v := range []jsonstream.Value{block, delta} {
		if isBlock(v, "text") || isBlock(v, "text_delta") {
			piece, _ := v.Get("text")
			j.firstText, text = piece.AppendText(j.firstText), true
		}
	}
	if block.IsValid() && !text {
		j.firstBlock = blockKey(j.base, block)
	}
}

func (j *joined) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || j.doc.Scan(ev.Data, provider.EnvelopeOptions(len(ev.Data)+1)) != nil {
		return ev.AppendTo(dst)
	}
	root := j.doc.Root()
	var edits provider.Edits
	switch {
	case isBlock(root, "message_start"):
		return dst // the client has a message_start already
	case isBlock(root, "message_delta"):
		if u, ok := root.Get("usage"); ok {
			edits.AddUsage(u, j.usage...)
		}
	default:
		index, ok := root.Get("index")
		n, small := provider.SmallInt(index)
		if !ok || !small {
			return ev.AppendTo(dst)
		}
		if n == 0 {
			block, _ := root.Get("content_block")
			delta, _ := root.Get("delta")
			j.readFirstBlock(block, delta)
		}
		j.next = max(j.next, j.base+n+1)
		edits.Replace(index, strconv.AppendInt(nil, int64(j.base+n), 10))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// JoinBody implements [provider.MultiRound].
func (Dialect) JoinBody(rounds []provider.Round, body []byte) ([]byte, []provider.ReplacedCall) {
	var doc jsonstream.Document
	if doc.Scan(body, provider.EnvelopeOptions(len(body)+1)) != nil {
		return body, nil
	}
	var edits provider.Edits
	if u, ok := doc.Root().Get("usage"); ok {
		edits.AddUsage(u, usages(rounds)...)
	}
	var before [][]byte
	var p seams
	begin := func(content jsonstream.Value, calls bool) {
		for b := range content.Elements() {
			if calls || !kindOf(b).call() {
				var m mark
				m.read(b, jsonstream.Value{})
				p.startTurn(m.String(), blockKey(len(before), b))
				return
			}
		}
	}
	for _, round := range rounds {
		v, _ := jsonstream.Parse(round.ClientBody, provider.EnvelopeOptions(len(round.ClientBody)+1))
		content, _ := v.Get("content")
		begin(content, false)
		p.endTurn(round)
		for b := range content.Elements() {
			if !kindOf(b).call() {
				before = append(before, bytes.Clone(b.Raw()))
			}
		}
	}
	if content, ok := doc.Root().Get("content"); ok && content.Kind() == jsonstream.Array {
		begin(content, true)
		if content.Len() > 0 && len(before) > 0 {
			before = append(before, nil) // adds a comma after the last block
		}
		from, _ := content.Span()
		edits.Insert(from+1, bytes.Join(before, []byte{','}))
	}
	return edits.AppendTo(nil, body, 0, len(body)), p.list
}
