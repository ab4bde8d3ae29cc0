package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

var (
	_ wire.Interluder = (*laterRound)(nil)
	_ wire.History    = (*laterRound)(nil)
	_ wire.Sayer      = (*laterRound)(nil)
)

// laterRound is a later round's stream as a part of one response: its items come behind
// those that the client has, numbers go on, and the end counts all rounds. The response
// keeps the id with which it began, because clients compare; the provider continues it
// by that of its last round (see [wire.Ledger]).
type laterRound struct {
	wire.Joined
	inner    *stream
	id       string
	doc      jsonstream.Document
	usage    []jsonstream.Value
	before   shown
	base     int // items of the rounds before
	seq      int // the number of the next event
	numbered bool
}

// Join implements [wire.Answerer].
func (Dialect) Join(before wire.Stream, said []wire.Said, next wire.Stream) wire.Stream {
	j := &laterRound{usage: usages(said)}
	j.Joined = wire.Joined{Stream: next, Each: j.append}
	j.inner, _ = next.(*stream)
	switch b := before.(type) {
	case *stream:
		j.id, j.base, j.seq, j.numbered, j.before = b.response, b.written, b.next, b.numbered, b.shown
	case *laterRound:
		j.id, j.base, j.seq, j.numbered = b.id, b.base+b.inner.written, b.seq, b.numbered
		j.before.items = append(append(j.before.items, b.before.items...), b.inner.shown.items...)
		j.before.text = b.before.text + b.inner.shown.text
	}
	return j
}

// Abort implements [wire.Stream].
func (j *laterRound) Abort(dst []byte, code stopgate.Code, message string) []byte {
	return wire.Rewrite(dst, j.Stream.Abort(nil, code, message), j.renumber)
}

// Keepalive implements [wire.Stream].
func (j *laterRound) Keepalive(dst []byte, long bool) []byte {
	return wire.Rewrite(dst, j.Stream.Keepalive(nil, long), j.renumber)
}

// Replaced implements [wire.History].
func (j *laterRound) Replaced() (string, []wire.Replaced) { return j.inner.Replaced() }

func (j *laterRound) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || scan(&j.doc, ev.Data, len(ev.Data)+1, nil) != nil {
		return ev.AppendTo(dst)
	}
	root := j.doc.Root()
	var edits wire.Edits
	switch typ := text(root, "type"); {
	case typ == "response.created", typ == "response.queued", typ == inProgress:
		return dst // the response has begun
	case isTerminal(typ):
		response, _ := root.Get("response")
		j.before.prepend(&edits, response)
		if u, ok := response.Get("usage"); ok {
			edits.AddUsage(u, j.usage...)
		}
	}
	if index, ok := root.Get("output_index"); ok {
		if n, ok := wire.Small(index); ok {
			edits.Replace(index, strconv.AppendInt(nil, int64(j.base+n), 10))
		}
	}
	return j.write(dst, ev, edits)
}

// renumber passes an event of the gate's own.
func (j *laterRound) renumber(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || scan(&j.doc, ev.Data, len(ev.Data)+1, nil) != nil {
		return ev.AppendTo(dst)
	}
	return j.write(dst, ev, nil)
}

// write appends the event that was read last, under our number and id.
func (j *laterRound) write(dst []byte, ev *sse.Event, edits wire.Edits) []byte {
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
