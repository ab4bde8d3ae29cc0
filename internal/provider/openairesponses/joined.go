package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.RoundCloser  = (*laterRound)(nil)
	_ provider.CallReplacer = (*laterRound)(nil)
	_ provider.TextAdder    = (*laterRound)(nil)
)

// laterRound is the stream of a later round as a part of one response: its items follow
// those that the client has, numbers continue, and the end includes all rounds. The
// response keeps its first id, because clients compare it; the provider knows it by the id
// of its last round (see [provider.ResponseLog]).
type laterRound struct {
	provider.JoinedStream
	inner    *stream
	id       string
	doc      jsonstream.Document
	usage    []jsonstream.Value
	before   output
	base     int // number of items in earlier rounds
	seq      int // number of the next event
	numbered bool
}

// Join implements [provider.MultiRound].
func (Dialect) Join(before provider.Stream, rounds []provider.Round, next provider.Stream) provider.Stream {
	j := &laterRound{usage: usages(rounds)}
	j.JoinedStream = provider.JoinedStream{Stream: next, RewriteEvent: j.append}
	j.inner, _ = next.(*stream)
	switch b := before.(type) {
	case *stream:
		j.id, j.base, j.seq, j.numbered, j.before = b.response, b.written, b.next, b.numbered, b.sent
	case *laterRound:
		j.id, j.base, j.seq, j.numbered = b.id, b.base+b.inner.written, b.seq, b.numbered
		j.before.items = append(append(j.before.items, b.before.items...), b.inner.sent.items...)
		j.before.text = b.before.text + b.inner.sent.text
	}
	return j
}

// Abort implements [provider.Stream].
func (j *laterRound) Abort(dst []byte, code stopgate.Code, message string) []byte {
	return provider.RewriteEvents(dst, j.Stream.Abort(nil, code, message), j.renumber)
}

// Keepalive implements [provider.Stream].
func (j *laterRound) Keepalive(dst []byte, long bool) []byte {
	return provider.RewriteEvents(dst, j.Stream.Keepalive(nil, long), j.renumber)
}

// Replaced implements [provider.CallReplacer].
func (j *laterRound) Replaced() (string, []provider.ReplacedCall) { return j.inner.Replaced() }

func (j *laterRound) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || scan(&j.doc, ev.Data, len(ev.Data)+1, nil) != nil {
		return ev.AppendTo(dst)
	}
	root := j.doc.Root()
	var edits provider.Edits
	switch typ := wire.Text(root, "type"); {
	case typ == "response.created", typ == "response.queued", typ == inProgress:
		return dst // the client has the start of the response already
	case isTerminal(typ):
		response, _ := root.Get("response")
		j.before.prepend(&edits, response)
		if u, ok := response.Get("usage"); ok {
			edits.AddUsage(u, j.usage...)
		}
	}
	if index, ok := root.Get("output_index"); ok {
		if n, ok := provider.SmallInt(index); ok {
			edits.Replace(index, strconv.AppendInt(nil, int64(j.base+n), 10))
		}
	}
	return j.write(dst, ev, edits)
}

// renumber appends an event written by the gate with the next number.
func (j *laterRound) renumber(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || scan(&j.doc, ev.Data, len(ev.Data)+1, nil) != nil {
		return ev.AppendTo(dst)
	}
	return j.write(dst, ev, nil)
}

// write appends the event that was read last, with the number and the id of the joined
// response.
func (j *laterRound) write(dst []byte, ev *sse.Event, edits provider.Edits) []byte {
	response, _ := j.doc.Root().Get("response")
	if id, ok := response.Get("id"); ok && j.id != "" {
		edits.Replace(id, jsonstream.AppendQuote(nil, j.id))
	}
	if seq, ok := j.doc.Root().Get("sequence_number"); j.numbered {
		number := strconv.AppendInt(nil, int64(j.seq), 10)
		j.seq++
		if _, end := j.doc.Root().Span(); ok {
			edits.Replace(seq, number)
		} else {
			edits.Insert(end-1, append([]byte(`,"sequence_number":`), number...))
		}
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}
