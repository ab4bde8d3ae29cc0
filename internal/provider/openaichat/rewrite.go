package openaichat

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// forward appends the part of the current chunk that is forwarded to the client now.
func (s *stream) forward(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	ends, cut, left := false, false, s.chunk.usage
	dropped := false
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		ends = ends || e.endsCalls
		dropped = dropped || e.empty()
		left = left || !e.empty()
		cut = cut || e.hasCalls() || e.hasCopy || e.afterEnd && (e.reason.IsValid() || !e.noNews)
	}
	switch {
	case ends:
		return s.bufferFinish(dst, ev)
	case dropped && !left:
		s.learnCall(ev)
		return dst, provider.Continue, nil
	case cut:
		dst = s.writeEdited(dst, ev)
		s.learnEdited(ev)
		return dst, provider.Continue, nil
	}
	s.learnText(ev)
	return ev.AppendTo(dst), provider.Continue, nil
}

// empty reports whether no part of an element is left for the client after calls were
// removed from it.
func (e *element) empty() bool {
	if e.afterEnd {
		return e.hasCalls() || e.reason.IsValid() || !e.noNews
	}
	return e.hasCalls() && e.noNews && !e.reason.IsValid()
}

// writeEdited appends the event without the parts that the client must not receive.
func (s *stream) writeEdited(dst []byte, ev *sse.Event) []byte {
	return s.splice(dst, ev, forwarding)
}

func (s *stream) splice(dst []byte, ev *sse.Event, why purpose) []byte {
	dst = ev.AppendHead(dst)
	payload := len(dst)
	s.edits = s.edits[:0]
	s.chunk.edit(&s.edits, why)
	dst = s.edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// purpose is the part of a chunk that is written.
type purpose uint8

const (
	forwarding purpose = iota // all of it, without calls
	finishing                 // the finish of the choices that end with calls
)

// edit adds the edits of a chunk.
func (c *chunk) edit(edits *provider.Edits, why purpose) {
	if why == finishing {
		i := -1
		edits.Remove(c.choices, func(_, _ jsonstream.Value) bool { i++; return !c.elements[i].endsCalls })
	}
	for i := range c.elements {
		if e := &c.elements[i]; why == forwarding || e.endsCalls {
			e.edit(edits, why)
		}
	}
}

// edit adds the edits of one element of choices in a stream.
func (e *element) edit(edits *provider.Edits, why purpose) {
	e.editChoice(edits, why, deltaMember)
	switch {
	case !e.delta.IsValid():
	case e.afterEnd && !e.noNews, why == finishing && e.contentWritten:
		edits.Replace(e.delta, []byte("{}"))
	default:
		e.editDelta(edits)
	}
	// The probabilities of a call's tokens reveal its bytes (L3); those of content that was
	// written before the finish were written with it.
	if provider.Present(e.logprobs) && (e.onlyCalls || why == finishing && e.contentWritten) {
		edits.Replace(e.logprobs, []byte("null"))
	}
}

// editChoice adds the edits of an element of choices outside its delta or message: a copy
// of calls is removed, and the finish reason is true (L8).
func (e *element) editChoice(edits *provider.Edits, why purpose, member string) {
	if e.hasCopy {
		edits.Remove(e.v, func(k, _ jsonstream.Value) bool {
			key := string(provider.Key(k))
			return key != member && (key == deltaMember || key == messageMember)
		})
	}
	switch {
	case !e.reason.IsValid():
	case e.afterEnd:
		edits.Replace(e.reason, []byte("null"))
	case why == finishing && e.choice.released == 0 && len(e.choice.calls) > 0 && wantsTools(e.reason):
		edits.Replace(e.reason, []byte(`"stop"`))
	}
}

// wantsTools reports whether a finish reason means that the model waits for tool results
// (L8).
func wantsTools(reason jsonstream.Value) bool {
	return reason.IsText("tool_calls") || reason.IsText("function_call")
}

// editDelta removes the calls from a delta.
func (e *element) editDelta(edits *provider.Edits) {
	edits.Remove(e.delta, func(k, _ jsonstream.Value) bool {
		key := provider.Key(k)
		return e.calls.IsValid() && string(key) == "tool_calls" || e.legacy.IsValid() && string(key) == "function_call"
	})
}

// bufferFinish buffers the event that ends one or more choices with calls until Release.
// Its content is written now, in a separate chunk, because some clients lose either the
// content or the finish of one chunk.
func (s *stream) bufferFinish(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	s.setHead()
	dst = s.writeContent(dst, ev.Data)
	s.finish = ev.Clone(s.buf)
	s.buf = s.finish.Raw
	// This scans the same text again, so it cannot fail: every value of the chunk keeps its
	// position, but refers to the copy.
	if err := s.doc.Scan(s.finish.Data, provider.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, provider.Continue, provider.Malformed(err)
	}
	s.waiting = true
	return dst, provider.Resolve, nil
}

// writeContent appends the content of the buffered event.
func (s *stream) writeContent(dst, data []byte) []byte {
	start := len(dst)
	dst = s.openChunk(dst)
	n := 0
	for i := range s.chunk.elements {
		e := &s.chunk.elements[i]
		if e.endsCalls && e.noNews || !e.endsCalls && e.empty() {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		s.edits = s.edits[:0]
		if !e.endsCalls {
			from, to := e.v.Span()
			e.edit(&s.edits, forwarding)
			dst = s.edits.AppendTo(dst, data, from, to)
			continue
		}
		e.contentWritten = true
		dst = openDelta(dst, e.choice)
		from, to := e.delta.Span()
		e.editDelta(&s.edits)
		dst = s.edits.AppendTo(dst, data, from, to)
		if e.logprobs.IsValid() && !e.onlyCalls {
			dst = append(append(dst, `,"logprobs":`...), e.logprobs.Raw()...)
		}
		dst = append(dst, `,"finish_reason":null}`...)
	}
	if n == 0 {
		return dst[:start]
	}
	return closeChunk(dst)
}
