package openaichat

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// stream implements [wire.Stream].
type stream struct {
	assembly
	doc   jsonstream.Document
	chunk chunk
	edits wire.Edits // reused
	head  []byte     // the members that our own chunks copy, each followed by a comma

	// The last event, if the next one may be the same with other text, and the
	// call that it continued, nil if it was text.
	repeat    wire.Repeat
	continued *call
	inChoice  *choice
	slow      bool // tests: read every event in full

	// The event that ended one or more choices with calls, kept until Release.
	finish  sse.Event
	buf     []byte
	waiting bool

	cancelled bool // the upstream was cancelled, Release writes the end
	failed    bool // the upstream sent an error
	ended     bool // the terminal event was written

	usage     []byte // the last that the provider sent
	generated int64  // bytes of text so far

	extra string // a text of the gate's own
}

// Event implements [wire.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if s.ended {
		if ev.Dispatched {
			s.notes.Dropped++
		}
		return dst, wire.Finished, nil
	}
	if !ev.Dispatched {
		return ev.AppendTo(dst), wire.Nothing, nil
	}
	if len(ev.Data) <= s.o.MaxBytes && s.repeat.Match(ev.Data) {
		if s.again() {
			dst = ev.AppendTo(dst)
		}
		return dst, wire.Nothing, nil
	}
	s.repeat.Forget()
	if isDone(ev.Data) {
		return s.terminal(dst, ev)
	}
	if s.failed {
		s.notes.Dropped++
		return dst, wire.Nothing, nil
	}
	if err := s.doc.Scan(ev.Data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, wire.Nothing, wire.Malformed(err)
	}
	if wire.OfOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, wire.Nothing, wire.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.Strays(&s.edits, s.doc.Root(), chunkShape) {
		own := ev.With(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; s.doc.Scan(ev.Data, wire.EnvelopeOptions(s.o.MaxBytes)) != nil {
			return dst, wire.Nothing, wire.Malformed(nil)
		}
	}
	if !s.chunk.read(s.doc.Root(), deltaMember) {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	s.answer(&s.chunk)
	if s.chunk.usage {
		usage, _ := s.chunk.root.Get("usage")
		s.usage = append(s.usage[:0], usage.Raw()...)
	}
	for i := range s.chunk.elements {
		s.generated += wire.Generated(s.chunk.elements[i].delta)
	}
	if s.chunk.fault.IsValid() {
		return s.upstreamError(dst, ev), wire.Nothing, nil
	}
	if !s.assemble() {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	return s.forward(dst, ev)
}

// isDone recognises the end mark as clients do, with white space around it.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// terminal handles the end mark. Calls without a finish reason were cut (L6).
func (s *stream) terminal(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if !s.failed && s.unfinished() {
		return dst, wire.Nothing, cut()
	}
	s.ended = true
	return ev.AppendTo(dst), wire.Finished, nil
}

// unfinished reports whether a choice with calls has no finish reason.
func (s *stream) unfinished() bool {
	for _, c := range s.choices {
		if len(c.calls) > 0 && !c.done {
			return true
		}
	}
	return false
}

func cut() *wire.StreamError {
	return &wire.StreamError{Code: stopgate.CodeStreamTruncated, Message: "The provider's answer ended before it was complete."}
}

// assemble takes the calls out of a chunk and notes what each choice has seen.
func (s *stream) assemble() bool {
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
			if e.stray() {
				return false
			}
			s.afterEnd(e)
			continue
		}
		if e.carries() && !s.collect(e) || e.stray() {
			return false
		}
		e.quiet = silent(e.delta, e.choice.role)
		e.mute = e.carries() && silent(e.delta, true)
		e.choice.note(e.delta)
		if e.reason.IsValid() {
			end := ending(e.reason)
			e.ends = len(e.choice.calls) > 0
			s.assembly.finish(e.choice, end)
		}
	}
	return true
}

// collect gives the calls of one element to the assembly, in array order.
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
	s.mix(e.choice)
	return true
}

// afterEnd handles what an element says about a choice that is over. Calls are
// dropped (WIRE 2.3, F11); in a choice that had calls text and a second finish
// are dropped too, because only the first finish counts (WIRE 2.7).
func (s *stream) afterEnd(e *element) {
	if e.carries() {
		s.notes.Dropped++
	}
	e.late = len(e.choice.calls) > 0
	e.quiet = silent(e.delta, e.choice.role || e.late)
	e.mute = e.carries() && (e.late || silent(e.delta, true)) || e.late && !e.quiet
	if !e.late {
		e.choice.note(e.delta)
	} else if !e.quiet {
		s.notes.Dropped++
	}
}

// note remembers what the client has been sent of a choice.
func (c *choice) note(delta jsonstream.Value) {
	if c.role && c.said {
		return
	}
	for k, v := range delta.Members() {
		switch string(wire.Key(k)) {
		case "role":
			c.role = c.role || says(v)
		case "content":
			c.said = c.said || says(v) || v.Len() > 0
		}
	}
}

// setHead keeps the members that our own chunks copy from the last upstream
// chunk (WIRE 2.6).
func (s *stream) setHead() {
	s.head = s.head[:0]
	for k, v := range s.chunk.root.Members() {
		switch string(wire.Key(k)) {
		case "id", "object", "created", "model", "system_fingerprint", "service_tier":
			s.head = append(append(s.head, k.Raw()...), ':')
			s.head = append(append(s.head, v.Raw()...), ',')
		}
	}
}

// upstreamError handles a chunk with an error: the held calls are refused and
// the chunk is forwarded without calls. Only the end mark may follow (WIRE 2.7).
func (s *stream) upstreamError(dst []byte, ev *sse.Event) []byte {
	s.refuseOpen(stopgate.CodeUpstreamError)
	s.pending = 0
	s.failed = true
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		e.choice = new(choice)
		if e.carries() {
			s.notes.Dropped++
		}
	}
	return s.change(dst, ev)
}

// EOF implements [wire.Stream] (L6). A provider that sends no end mark gets none from here,
// and an end mark that lacks its blank line is forwarded as it came.
func (s *stream) EOF(dst, tail []byte) ([]byte, wire.Need, error) {
	if s.ended || s.failed {
		s.ended = true
		return dst, wire.Finished, nil
	}
	name, value, _ := bytes.Cut(tail, []byte{':'})
	if marked := string(name) == "data" && isDone(value); len(tail) > 0 && !marked || !s.complete() {
		return dst, wire.Nothing, cut()
	}
	s.ended = true
	return append(dst, tail...), wire.Finished, nil
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

// Abort implements [wire.Stream] (WIRE 2.7).
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.ended = 0, false, true
	if s.failed {
		return dst // the client has the upstream's error
	}
	dst = sse.AppendOpen(dst, "")
	return sse.AppendClose(wire.AppendErrorObject(dst, code, message))
}

// Keepalive implements [wire.Stream] (DECISIONS S17).
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || len(s.head) == 0 || s.ended {
		return sse.AppendKeepalive(dst)
	}
	dst = s.openChunk(dst)
	return closeChunk(dst)
}
