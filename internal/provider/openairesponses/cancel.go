package openairesponses

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// If the upstream is cancelled, the gate ends the response itself with a
// response.completed: the members of response.created, the items that the client has, and
// the messages that replace the calls.

// summary stores the parts of that end.
type summary struct {
	created []byte         // members of the response
	items   map[int][]byte // finished items that are not calls, by position
	size    int
	tooLong bool // the end would be too long: the response is not cancelled
}

// Limits of a summary, and of one member of response.created. Longer members are copies of
// the request.
const (
	maxSummary = 1 << 20
	maxMember  = 1 << 10
)

// start stores the members of response.created.
func (g *summary) start(response jsonstream.Value) {
	for k, v := range response.Members() {
		raw := v.Raw()
		switch name := string(provider.Key(k)); {
		case name == "object", name == "status", name == "output", name == "output_text", name == "usage":
			continue
		case len(raw) <= maxMember:
		case name == "tools":
			raw = []byte("[]") // clients expect a list
		default:
			continue
		}
		g.created = append(append(append(append(g.created, ','), k.Raw()...), ':'), raw...)
	}
	g.size += len(g.created)
}

// add stores a finished item.
func (g *summary) add(index int, item []byte) {
	if g.tooLong = g.tooLong || g.size+len(item) > maxSummary; g.tooLong {
		g.items = nil
		return
	}
	if g.items == nil {
		g.items = map[int][]byte{}
	}
	g.size += len(item)
	g.items[index] = bytes.Clone(item)
}

// CanCancel implements [provider.Stream].
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.CanStop()
}

// CanStop implements [provider.Stream]. An open item cannot be closed: its end states all of it.
func (s *stream) CanStop() bool {
	return s.started && s.openItems == 0 && !s.summary.tooLong && !s.waiting && !s.cancelled && !s.failed && !s.ended
}

// Cancel implements [provider.Stream].
func (s *stream) Cancel() {
	if !s.CanStop() {
		return
	}
	s.cancelled = true
	s.notes.UsageIncomplete = true
	s.notes.EstimateUsage(s.req.Bytes, max(s.generated, s.finished))
	s.calls.finish(stopgate.Cancelled)
}

// writeCancelled appends the queue and, unless the response continues in another round, its
// end.
func (s *stream) writeCancelled(dst []byte, outcomes []provider.CallOutcome, ends bool) []byte {
	outs, programmed := s.settle(outcomes, jsonstream.Value{}, s.at)
	if programmed {
		return s.Abort(dst, stopgate.CodeProtocolViolation, programmedMessage)
	}
	s.cancelled = false
	s.addReplaced(outs, s.truncatedItem)
	dst, _ = s.writeQueue(dst, outs, nil) // it cannot fail without a flush
	for i := range s.items {
		if k := s.items[i].call; k != nil {
			s.sent.items = append(s.sent.items, appendMessage(nil, messageID(k), "completed", string(appendPart(nil, outs[k.number].denial))))
		} else if item, ok := s.summary.items[i]; ok {
			s.sent.items = append(s.sent.items, item)
		}
	}
	if !ends {
		return dst
	}
	s.ended, s.late.from = true, len(s.items)
	if s.ownText != "" {
		s.sent.items = append(s.sent.items, appendMessage(nil, s.ownTextID(), "completed", string(appendPart(nil, s.ownText))))
	}
	dst = append(sse.AppendEventStart(dst, "response.completed"), `{"type":"response.completed"`...)
	dst = append(append(s.appendNext(dst), `,"response":{"object":"response"`...), s.summary.created...)
	dst = append(append(dst, `,"status":"completed","output":`...), wire.List(s.sent.items)...)
	dst = appendUsage(append(dst, `,"usage":`...), s.notes.Response.Tokens)
	return sse.AppendEventEnd(append(dst, "}}"...))
}

// appendUsage appends a usage object.
func appendUsage(dst []byte, t provider.Tokens) []byte {
	return fmt.Appendf(dst, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		t.Input, t.CacheRead, t.Output, t.Reasoning, t.Input+t.Output)
}
