package openairesponses

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// A response that begins twice, or not at all, is refused where a call is in it: what a client
// makes of that call is not known. A response without any call passes byte for byte, and its
// record names the event.

// oddBeginning reports whether an event begins the response again, or belongs to one that
// was not begun.
func (s *stream) oddBeginning() bool {
	switch typ := s.frame.typ; {
	case typ == "response.created":
		return s.begun && s.frame.response.Kind() == jsonstream.Object
	case typ == itemAdded:
		return !s.begun && s.frame.index == 0 && s.frame.item.Kind() == jsonstream.Object
	case isTerminal(typ):
		return !s.begun && s.frame.response.Kind() == jsonstream.Object
	}
	return false
}

// free reports whether no call was seen so far, and none is in the event that was read last.
func (s *stream) free() bool {
	_, argument := carriers[s.frame.typ]
	return len(s.list) == 0 && !argument && !s.holdsCall()
}

// holdsCall reports whether a call is in the event that was read last.
func (s *stream) holdsCall() bool {
	return s.frame.item.IsValid() && s.kindOf(s.frame.item).call() || s.carriesCall(s.frame.response)
}

// passStrange forwards an event of a response whose events do not add up.
func (s *stream) passStrange(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if !s.free() {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	if !s.strange {
		s.strange = true
		s.notes.Odd(s.frame.typ)
	}
	if isTerminal(s.frame.typ) {
		s.answer(s.frame.response)
		s.ended = true
		return s.write(dst, ev), wire.Finished, nil
	}
	s.failed = s.failed || s.frame.typ == "error"
	return s.write(dst, ev), wire.Nothing, nil
}

// behindError forwards what a provider sends after its error: response.failed ends the
// response for clients that wait for it. Everything else is dropped.
func (s *stream) behindError(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if string(ev.Data) == "[DONE]" {
		return ev.AppendTo(dst), wire.Nothing, nil
	}
	if scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil || !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ ||
		s.frame.typ != "response.failed" || s.misplaced() || s.holdsCall() {
		s.notes.Dropped++
		return dst, wire.Nothing, nil
	}
	s.answer(s.frame.response)
	s.ended = true
	return s.write(dst, ev), wire.Finished, nil
}
