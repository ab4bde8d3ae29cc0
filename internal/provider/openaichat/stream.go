package openaichat

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// stream implements [provider.Stream].
type stream struct {
	assembly
	doc   jsonstream.Document
	chunk chunk
	edits provider.Edits // reused
	head  []byte         // the members that chunks written by the gate copy, each followed by a comma

	// template matches events that repeat the last one with other text; continued is the
	// call that it continued, nil if it was text.
	template  provider.EventTemplate
	continued *call
	inChoice  *choice
	forwards  bool // its events are forwarded without the call
	counts    bool // they have the usage so far, at these offsets of their payload
	usageFrom int
	usageTo   int
	parseAll  bool // for tests: parse every event in full

	// finish is the event that ended one or more choices with calls, stored until Release.
	finish  sse.Event
	buf     []byte
	waiting bool

	cancelled bool // the upstream was cancelled; Release writes the end
	failed    bool // the upstream sent an error
	ended     bool // the terminal event was written

	usage     []byte // the last usage that the provider sent
	generated int64  // bytes of text so far

	cut []*choice // choices that end because the upstream was cancelled
}

// Event implements [provider.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if s.ended {
		if ev.Dispatched {
			s.notes.Dropped++
		}
		return dst, provider.Finished, nil
	}
	if !ev.Dispatched {
		return ev.AppendTo(dst), provider.Continue, nil
	}
	if len(ev.Data) <= s.o.MaxBytes && s.template.Match(ev.Data) {
		switch s.repeatLast() {
		case forwardsAll:
			dst = ev.AppendTo(dst)
		case forwardsRest:
			dst = ev.AppendHead(dst)
			payload := len(dst)
			dst = ev.AppendTail(append(dst, s.template.Kept()...), payload)
		}
		return dst, provider.Continue, nil
	}
	s.template.Reset()
	if isDone(ev.Data) {
		return s.terminal(dst, ev)
	}
	if s.failed {
		s.notes.Dropped++
		return dst, provider.Continue, nil
	}
	if err := s.doc.Scan(ev.Data, provider.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, provider.Continue, provider.Malformed(err)
	}
	if provider.IsOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, provider.Continue, provider.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.RemoveStrayCalls(&s.edits, s.doc.Root(), chunkShape) {
		own := ev.WithData(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; s.doc.Scan(ev.Data, provider.EnvelopeOptions(s.o.MaxBytes)) != nil {
			return dst, provider.Continue, provider.Malformed(nil)
		}
	}
	if !s.chunk.read(s.doc.Root(), deltaMember) {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	s.readInfo(&s.chunk)
	if s.chunk.usage {
		usage, _ := s.chunk.root.Get("usage")
		s.usage = append(s.usage[:0], usage.Raw()...)
	}
	for i := range s.chunk.elements {
		s.generated += provider.GeneratedBytes(s.chunk.elements[i].delta)
	}
	if s.chunk.fault.IsValid() {
		return s.upstreamError(dst, ev), provider.Continue, nil
	}
	if !s.assemble() {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	return s.forward(dst, ev)
}

// isDone recognises the end mark as clients do, with white space around it.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// terminal processes the end mark. Calls without a finish reason were truncated (L6).
func (s *stream) terminal(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if !s.failed && s.unfinished() {
		return dst, provider.Continue, provider.Truncated()
	}
	s.ended = true
	return ev.AppendTo(dst), provider.Finished, nil
}

// unfinished reports whether a choice with calls lacks a finish reason.
func (s *stream) unfinished() bool {
	for _, c := range s.choices {
		if len(c.calls) > 0 && !c.done {
			return true
		}
	}
	return false
}

// assemble reads the calls of a chunk and updates the state of each choice.
func (s *stream) assemble() bool {
	if len(s.head) == 0 {
		s.setHead()
	}
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		index, ok := e.index(0)
		if !ok {
			return false
		}
		if e.choice = s.choice(index); e.choice == nil {
			return false
		}
		if e.choice.done {
			if e.strayCopy() {
				return false
			}
			s.afterEnd(e)
			continue
		}
		if e.hasCalls() && !s.collect(e) || e.strayCopy() {
			return false
		}
		e.noNews = nothingNew(e.delta, e.choice.roleSent)
		e.onlyCalls = e.hasCalls() && nothingNew(e.delta, true)
		e.choice.noteSent(e.delta)
		if e.reason.IsValid() {
			end := endOf(e.reason)
			e.endsCalls = len(e.choice.calls) > 0
			s.assembly.finish(e.choice, end)
		}
	}
	return true
}

// collect passes the calls of one element to the assembly, in array order.
func (s *stream) collect(e *element) bool {
	if len(e.choice.calls) == 0 {
		s.setHead()
	}
	if e.calls.IsValid() {
		var t entry
		for v := range e.calls.Elements() {
			if v.Kind() != jsonstream.Object {
				return false
			}
			t.read(v)
			s.add(e.choice, &t)
		}
	}
	if e.legacy.IsValid() {
		s.addLegacy(e.choice, e.legacy)
	}
	s.refuseMixed(e.choice)
	return true
}

// afterEnd processes an element of a choice that has ended. Calls are dropped (F11). If the
// choice had calls, text and a second finish are dropped too, because only the first finish
// counts.
func (s *stream) afterEnd(e *element) {
	if e.hasCalls() {
		s.notes.Dropped++
	}
	e.afterEnd = len(e.choice.calls) > 0
	e.noNews = nothingNew(e.delta, e.choice.roleSent || e.afterEnd)
	e.onlyCalls = e.hasCalls() && (e.afterEnd || nothingNew(e.delta, true)) || e.afterEnd && !e.noNews
	if !e.afterEnd {
		e.choice.noteSent(e.delta)
	} else if !e.noNews {
		s.notes.Dropped++
	}
}

// noteSent records the parts of a choice that the client has received.
func (c *choice) noteSent(delta jsonstream.Value) {
	if c.roleSent && c.contentSent {
		return
	}
	for k, v := range delta.Members() {
		switch string(provider.Key(k)) {
		case "role":
			c.roleSent = c.roleSent || nonEmpty(v)
		case "content":
			c.contentSent = c.contentSent || nonEmpty(v) || v.Len() > 0
		}
	}
}

// setHead stores the members that chunks written by the gate copy from the last upstream
// chunk.
func (s *stream) setHead() {
	s.head = s.head[:0]
	for k, v := range s.chunk.root.Members() {
		switch string(provider.Key(k)) {
		case "id", "object", "created", "model", "system_fingerprint", "service_tier":
			s.head = append(append(s.head, k.Raw()...), ':')
			s.head = append(append(s.head, v.Raw()...), ',')
		}
	}
}

// upstreamError processes a chunk with an error: the buffered calls are refused, and the
// chunk is forwarded without calls. Only the end mark may follow.
func (s *stream) upstreamError(dst []byte, ev *sse.Event) []byte {
	s.refuseOpen(stopgate.CodeUpstreamError)
	s.pending = 0
	s.failed = true
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		e.choice = new(choice)
		if e.hasCalls() {
			s.notes.Dropped++
		}
	}
	return s.writeEdited(dst, ev)
}

// EOF implements [provider.Stream] (L6). If the provider sends no end mark, none is added, and
// an end mark that lacks its blank line is forwarded unchanged.
func (s *stream) EOF(dst, tail []byte) ([]byte, provider.Need, error) {
	if s.ended || s.failed {
		s.ended = true
		return dst, provider.Finished, nil
	}
	name, value, _ := bytes.Cut(tail, []byte{':'})
	if marked := string(name) == "data" && isDone(value); len(tail) > 0 && !marked || !s.complete() {
		return dst, provider.Continue, provider.Truncated()
	}
	s.ended = true
	return append(dst, tail...), provider.Finished, nil
}

const doneEvent = "data: [DONE]\n\n"

// complete reports whether every choice has its finish reason.
func (s *stream) complete() bool {
	for _, c := range s.choices {
		if !c.done {
			return false
		}
	}
	return len(s.choices) > 0 && len(s.choices) >= s.req.N
}

// Abort implements [provider.Stream].
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.ended = 0, false, true
	if s.failed {
		return dst // the client has received the upstream's error
	}
	dst = sse.AppendEventStart(dst, "")
	return sse.AppendEventEnd(provider.AppendErrorObject(dst, code, message))
}

// Keepalive implements [provider.Stream] (S17).
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if called := slices.ContainsFunc(s.choices, func(c *choice) bool { return len(c.calls) > 0 }); !long || !called || s.ended {
		return sse.AppendKeepalive(dst)
	}
	dst = s.openChunk(dst)
	return closeChunk(dst)
}
