package openairesponses

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// A response whose provider is cancelled ends with a response.completed of the gate's own:
// the members of response.created, the items that the client has, and the messages that
// stand for the calls.

// gist is what such an end is written from.
type gist struct {
	created []byte         // members of the response
	items   map[int][]byte // finished items that are no calls, by position
	size    int
	full    bool // it would be too long: the response is read to its end
}

// The bounds of a gist: of all of it, and of a member of response.created. Longer ones are
// copies of the request.
const (
	maxGist   = 1 << 20
	maxMember = 1 << 10
)

// begin keeps the members of response.created.
func (g *gist) begin(response jsonstream.Value) {
	for k, v := range response.Members() {
		raw := v.Raw()
		switch name := string(wire.Key(k)); {
		case name == "object", name == "status", name == "output", name == "output_text", name == "usage":
			continue
		case len(raw) <= maxMember:
		case name == "tools":
			raw = []byte("[]") // clients want a list
		default:
			continue
		}
		g.created = append(append(append(append(g.created, ','), k.Raw()...), ':'), raw...)
	}
	g.size += len(g.created)
}

// keep keeps a finished item.
func (g *gist) keep(index int, item []byte) {
	if g.full = g.full || g.size+len(item) > maxGist; g.full {
		g.items = nil
		return
	}
	if g.items == nil {
		g.items = map[int][]byte{}
	}
	g.size += len(item)
	g.items[index] = bytes.Clone(item)
}

// CanCancel implements [wire.Stream].
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.openItems == 0 && !s.gist.full && !s.waiting && !s.cancelled && !s.failed && !s.ended
}

// Cancel implements [wire.Stream].
func (s *stream) Cancel() {
	if !s.CanCancel() {
		return
	}
	s.cancelled = true
	s.notes.UsageIncomplete = true
	s.notes.Estimate(s.req.Bytes, max(s.generated, s.finished))
	s.calls.finish(stopgate.Cancelled)
}

// writeCancelled appends what was held and, unless the response goes on in another round,
// its end.
func (s *stream) writeCancelled(dst []byte, outcomes []wire.Release, ends bool) []byte {
	outs, stuck := s.settle(outcomes, jsonstream.Value{}, s.at)
	if stuck {
		return s.Abort(dst, stopgate.CodeProtocolViolation, stuckMessage)
	}
	s.cancelled = false
	s.remember(outs, s.cutItem)
	dst, _ = s.writeHeld(dst, outs, nil) // without a spill nothing fails
	for i := range s.items {
		if k := s.items[i].call; k != nil {
			s.shown.items = append(s.shown.items, appendMessage(nil, messageID(k), "completed", string(appendPart(nil, outs[k.number].text))))
		} else if item, ok := s.gist.items[i]; ok {
			s.shown.items = append(s.shown.items, item)
		}
	}
	if !ends {
		return dst
	}
	s.ended, s.followed.from = true, len(s.items)
	if s.extra != "" {
		s.shown.items = append(s.shown.items, appendMessage(nil, s.extraID(), "completed", string(appendPart(nil, s.extra))))
	}
	dst = append(sse.AppendOpen(dst, "response.completed"), `{"type":"response.completed"`...)
	dst = append(append(s.appendNext(dst), `,"response":{"object":"response"`...), s.gist.created...)
	dst = append(append(dst, `,"status":"completed","output":`...), list(s.shown.items)...)
	dst = appendUsage(append(dst, `,"usage":`...), s.notes.Answer.Tokens)
	return sse.AppendClose(append(dst, "}}"...))
}

// appendUsage appends a usage object.
func appendUsage(dst []byte, t wire.Tokens) []byte {
	return fmt.Appendf(dst, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		t.Input, t.CacheRead, t.Output, t.Reasoning, t.Input+t.Output)
}

// cutItem is the item of a call as far as the provider had said it, for histories: its
// arguments are the members that were complete. nil where they are not known.
func (s *stream) cutItem(k *call) []byte {
	if !k.kind.text() || len(k.added) == 0 {
		return nil
	}
	s.reread(k.added)
	item, text := s.kept.frame.item, k.said
	if k.kind == function {
		text = wire.Complete(text)
	}
	var edits wire.Edits
	if v, ok := item.Get(k.kind.member()); ok {
		edits.Replace(v, jsonstream.AppendQuote(nil, text))
	}
	if v, ok := item.Get("status"); ok {
		edits.Replace(v, []byte(`"completed"`))
	}
	return edits.Within(item)
}
