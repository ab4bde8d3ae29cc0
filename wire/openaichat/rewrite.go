package openaichat

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// forward appends what the client may have of the current chunk.
func (s *stream) forward(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	ends, cut, left := false, false, s.chunk.usage
	dropped := false
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		ends = ends || e.ends
		dropped = dropped || e.empty()
		left = left || !e.empty()
		cut = cut || e.carries() || e.copied || e.late && (e.reason.IsValid() || !e.quiet)
	}
	switch {
	case ends:
		return s.hold(dst, ev)
	case dropped && !left:
		s.learnCall(ev)
		return dst, wire.Nothing, nil
	case cut:
		return s.change(dst, ev), wire.Nothing, nil
	}
	s.learnText(ev)
	return ev.AppendTo(dst), wire.Nothing, nil
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
	return s.splice(dst, ev, passing)
}

func (s *stream) splice(dst []byte, ev *sse.Event, why purpose) []byte {
	dst = ev.AppendHead(dst)
	payload := len(dst)
	s.edits = s.edits[:0]
	s.chunk.edit(&s.edits, why)
	dst = s.edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// purpose says which part of a chunk is written.
type purpose uint8

const (
	passing   purpose = iota // all of it, without calls
	finishing                // the finish of the choices that end with calls
)

// edit collects the changes of a chunk.
func (c *chunk) edit(edits *wire.Edits, why purpose) {
	if why == finishing {
		i := -1
		edits.Remove(c.choices, func(_, _ jsonstream.Value) bool { i++; return !c.elements[i].ends })
	}
	for i := range c.elements {
		if e := &c.elements[i]; why == passing || e.ends {
			e.edit(edits, why)
		}
	}
}

// edit collects the changes of one element of choices in a stream.
func (e *element) edit(edits *wire.Edits, why purpose) {
	e.editChoice(edits, why, deltaMember)
	switch {
	case !e.delta.IsValid():
	case e.late && !e.quiet, why == finishing && e.led:
		edits.Replace(e.delta, []byte("{}"))
	default:
		e.editDelta(edits)
	}
	// Probabilities of a call's tokens are its bytes (L3); those of content that
	// was written ahead went with it.
	if e.logprobs.IsValid() && (e.mute || why == finishing && e.led) {
		edits.Replace(e.logprobs, []byte("null"))
	}
}

// editChoice collects the changes of an element of choices outside its delta or
// message: a copy of calls is removed, and the finish tells the truth (L8).
func (e *element) editChoice(edits *wire.Edits, why purpose, member string) {
	if e.copied {
		edits.Remove(e.v, func(k, _ jsonstream.Value) bool {
			key := string(wire.Key(k))
			return key != member && (key == deltaMember || key == messageMember)
		})
	}
	switch {
	case !e.reason.IsValid():
	case e.late:
		edits.Replace(e.reason, []byte("null"))
	case why == finishing && e.choice.survivors == 0 && len(e.choice.calls) > 0 && wantsTools(e.reason):
		edits.Replace(e.reason, []byte(`"stop"`))
	}
}

// wantsTools reports whether a finish reason says that the model waits for tool
// results (L8).
func wantsTools(reason jsonstream.Value) bool {
	return reason.IsText("tool_calls") || reason.IsText("function_call")
}

// editDelta cuts the calls out of a delta.
func (e *element) editDelta(edits *wire.Edits) {
	edits.Remove(e.delta, func(k, _ jsonstream.Value) bool {
		key := wire.Key(k)
		return e.calls.IsValid() && string(key) == "tool_calls" || e.legacy.IsValid() && string(key) == "function_call"
	})
}

// hold keeps the event that ends one or more choices with calls until Release.
// What else it says is written now: its content, in a chunk of its own, because
// some assemblers lose one of content and finish (WIRE 6).
func (s *stream) hold(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	s.setHead()
	dst = s.lead(dst, ev.Data)
	s.finish = ev.Clone(s.buf)
	s.buf = s.finish.Raw
	// The same text again, so this cannot fail: every value of the chunk keeps its
	// place, but stands in our own copy.
	if err := s.doc.Scan(s.finish.Data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, wire.Nothing, wire.Malformed(err)
	}
	s.waiting = true
	return dst, wire.Resolve, nil
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
		s.edits = s.edits[:0]
		if !e.ends {
			from, to := e.v.Span()
			e.edit(&s.edits, passing)
			dst = s.edits.AppendTo(dst, data, from, to)
			continue
		}
		e.led = true
		dst = openDelta(dst, e.choice)
		from, to := e.delta.Span()
		e.editDelta(&s.edits)
		dst = s.edits.AppendTo(dst, data, from, to)
		if e.logprobs.IsValid() && !e.mute {
			dst = append(append(dst, `,"logprobs":`...), e.logprobs.Raw()...)
		}
		dst = append(dst, `,"finish_reason":null}`...)
	}
	if n == 0 {
		return dst[:start]
	}
	return closeChunk(dst)
}
