package openairesponses

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// A response that starts twice, or not at all, is refused if it contains a call, because
// clients may interpret that call differently. Without a call it is forwarded byte for byte,
// and the record lists the event.

// unexpectedStart reports whether an event starts the response again, or belongs to a
// response that has not started.
func (s *stream) unexpectedStart() bool {
	switch typ := s.frame.typ; {
	case typ == "response.created":
		return s.started && s.frame.response.Kind() == jsonstream.Object
	case typ == itemAdded:
		return !s.started && s.frame.index == 0 && s.frame.item.Kind() == jsonstream.Object
	case isTerminal(typ):
		return !s.started && s.frame.response.Kind() == jsonstream.Object
	}
	return false
}

// withoutCall reports whether neither the previous events nor the last one contain a call.
func (s *stream) withoutCall() bool {
	_, argument := carriers[s.frame.typ]
	return len(s.list) == 0 && !argument && !s.hasCall()
}

// hasCall reports whether the event that was read last contains a call.
func (s *stream) hasCall() bool {
	return s.frame.item.IsValid() && s.kindOf(s.frame.item).Call() || s.outputHasCall(s.frame.response)
}

// passUnexpected forwards an event of a response with unexpected events.
func (s *stream) passUnexpected(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if !s.withoutCall() {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	if !s.unexpected {
		s.unexpected = true
		s.notes.AddUnexpected(s.frame.typ)
	}
	if isTerminal(s.frame.typ) {
		s.readInfo(s.frame.response)
		s.ended = true
		return s.write(dst, ev), provider.Finished, nil
	}
	s.failed = s.failed || s.frame.typ == "error"
	return s.write(dst, ev), provider.Continue, nil
}

// afterError forwards response.failed after an error, which ends the response for clients
// that wait for it. Other events are dropped.
func (s *stream) afterError(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if string(ev.Data) == "[DONE]" {
		return ev.AppendTo(dst), provider.Continue, nil
	}
	if scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil || !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ ||
		s.frame.typ != "response.failed" || s.misplaced() || s.hasCall() {
		s.notes.Dropped++
		return dst, provider.Continue, nil
	}
	s.readInfo(s.frame.response)
	s.ended = true
	return s.write(dst, ev), provider.Finished, nil
}
