package openaichat

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// forward appends what the client may have of the current chunk.
func (s *stream) forward(dst []byte, ev *sse.Event) ([]byte, wire.Need) {
	ends, cut, left := false, s.chunk.strange, s.chunk.usage
	dropped := false
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		ends = ends || e.ends
		dropped = dropped || e.empty()
		left = left || !e.empty()
		cut = cut || e.carries() || e.late && (e.reason.IsValid() || !e.quiet)
	}
	switch {
	case ends:
		return s.hold(dst, ev), wire.Resolve
	case dropped && !left:
		return dst, wire.Nothing
	case cut:
		return s.change(dst, ev), wire.Nothing
	}
	return ev.AppendTo(dst), wire.Nothing
}

// empty reports whether nothing is left of an element for the client, after
// something was cut out of it.
func (e *element) empty() bool {
	if e.late {
		return e.carries() || e.reason.IsValid() || !e.quiet
	}
	return e.carries() && e.quiet && !e.reason.IsValid()
}

// change appends the event with everything cut out that the client must not
// have.
func (s *stream) change(dst []byte, ev *sse.Event) []byte {
	dst = ev.AppendHead(dst)
	payload := len(dst)
	p := wire.Splice(dst, ev.Data)
	s.spliceRoot(&p, passing)
	return ev.AppendTail(p.Finish(), payload)
}

// purpose says which part of a chunk is written.
type purpose uint8

const (
	passing   purpose = iota // all of it, without calls
	finishing                // the finish of the choices that end with calls
)

// spliceRoot changes a chunk.
func (s *stream) spliceRoot(p *wire.Splicer, why purpose) {
	at, _ := s.chunk.root.Span()
	members := p.Cut(at)
	for k, v := range s.chunk.root.Members() {
		from, _ := k.Span()
		valueAt, to := v.Span()
		key := wire.Key(k)
		if wire.Lookalike(key, rootNames...) {
			members.Drop(to)
			continue
		}
		members.Keep(from, to)
		if string(key) != "choices" || len(s.chunk.elements) == 0 {
			continue
		}
		items := p.Cut(valueAt)
		for i := range s.chunk.elements {
			e := &s.chunk.elements[i]
			from, to := e.v.Span()
			if why == finishing && !e.ends {
				items.Drop(to)
				continue
			}
			items.Keep(from, to)
			e.splice(p, why, deltaMember, func() { e.spliceDelta(p) })
		}
		items.Close()
	}
	members.Close()
}

// splice changes one element of choices; inside changes its delta or message.
func (e *element) splice(p *wire.Splicer, why purpose, member string, inside func()) {
	at, _ := e.v.Span()
	members := p.Cut(at)
	for k, v := range e.v.Members() {
		from, _ := k.Span()
		valueAt, to := v.Span()
		key := string(wire.Key(k))
		if wire.Lookalike([]byte(key), choiceNames...) || key != member && (key == deltaMember || key == messageMember) && alien(v) {
			members.Drop(to)
			continue
		}
		members.Keep(from, to)
		switch {
		case key == member && e.delta.IsValid():
			if e.late && !e.quiet || why == finishing && e.led {
				p.Replace(valueAt, to, "{}")
			} else {
				inside()
			}
		case key == "finish_reason" && e.reason.IsValid():
			if e.late {
				p.Replace(valueAt, to, "null")
			} else if why == finishing && len(e.choice.calls) > 0 && e.choice.survivors == 0 && wantsTools(e.reason) {
				p.Replace(valueAt, to, `"stop"`)
			}
		case key == "logprobs" && why == finishing && e.led:
			p.Replace(valueAt, to, "null")
		}
	}
	members.Close()
}

// wantsTools reports whether a finish reason says that the model waits for tool
// results (L8).
func wantsTools(reason jsonstream.Value) bool {
	return reason.IsText("tool_calls") || reason.IsText("function_call")
}

// spliceDelta cuts the calls out of a delta.
func (e *element) spliceDelta(p *wire.Splicer) {
	at, _ := e.delta.Span()
	members := p.Cut(at)
	for k, v := range e.delta.Members() {
		from, _ := k.Span()
		_, to := v.Span()
		switch key := wire.Key(k); {
		case e.calls.IsValid() && string(key) == "tool_calls",
			e.legacy.IsValid() && string(key) == "function_call",
			wire.Lookalike(key, deltaNames...):
			members.Drop(to)
		default:
			members.Keep(from, to)
		}
	}
	members.Close()
}

// hold keeps the event that ends one or more choices with calls until Release.
// What else it says is written now: its content, in a chunk of its own, because
// some assemblers lose one of content and finish (WIRE 6).
func (s *stream) hold(dst []byte, ev *sse.Event) []byte {
	s.setHead()
	dst = s.lead(dst, ev.Data)
	s.finish = ev.Clone(s.buf)
	s.buf = s.finish.Raw
	// The same text again: every value of the chunk keeps its place.
	if err := s.doc.Scan(s.finish.Data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		panic("openaichat: a copy of an accepted text was refused: " + err.Error())
	}
	s.waiting = true
	return dst
}

// lead appends the content of the event that is held.
func (s *stream) lead(dst, data []byte) []byte {
	start := len(dst)
	dst = s.openChunk(dst)
	n := 0
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		if e.ends && e.quiet || !e.ends && e.empty() {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		if !e.ends {
			from, to := e.v.Span()
			p := wire.SpliceRange(dst, data, from, to)
			e.splice(&p, passing, deltaMember, func() { e.spliceDelta(&p) })
			dst = p.Finish()
			continue
		}
		e.led = true
		dst = openDelta(dst, e.choice)
		from, to := e.delta.Span()
		p := wire.SpliceRange(dst, data, from, to)
		e.spliceDelta(&p)
		dst = p.Finish()
		if e.logprobs.IsValid() {
			dst = append(append(dst, `,"logprobs":`...), e.logprobs.Raw()...)
		}
		dst = append(dst, `,"finish_reason":null}`...)
	}
	if n == 0 {
		return dst[:start]
	}
	return closeChunk(dst)
}
