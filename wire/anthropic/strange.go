package anthropic

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// A message that begins twice, or not at all, is refused where a call is in it: what a client
// makes of that call is not known. A message without any call passes byte for byte, and its
// record names the event.

// oddBeginning reports whether an event begins the message again, or belongs to one that was
// not begun.
func (s *stream) oddBeginning() bool {
	switch s.frame.typ {
	case "message_start":
		content, _ := s.frame.message.Get("content")
		return s.begun && s.frame.message.Kind() == jsonstream.Object && (!wire.Present(content) || content.Kind() == jsonstream.Array && content.Len() == 0)
	case blockStart:
		return !s.begun && s.frame.index == 0 && s.frame.block.Kind() == jsonstream.Object
	}
	return false
}

// free reports whether no call was seen so far, and none is in the event that was read last.
func (s *stream) free() bool {
	f := &s.frame
	content, _ := f.message.Get("content")
	within, _ := f.delta.Get("content")
	reason, _ := f.delta.Get("stop_reason")
	_, input := f.delta.Get("partial_json")
	return len(s.list) == 0 && !input && !reason.IsText("tool_use") && !(f.block.IsValid() && kindOf(f.block).call()) && !holdsCall(content) && !holdsCall(within) &&
		wire.Plain(f.message, startNames)
}

// passStrange forwards an event of a message whose events do not add up.
func (s *stream) passStrange(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if !s.free() {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	if !s.strange {
		s.strange = true
		s.notes.Odd(s.frame.typ)
	}
	need := wire.Nothing
	switch s.frame.typ {
	case "message_delta":
		reason, _ := s.frame.delta.Get("stop_reason")
		s.notes.Answer.Read(s.frame.root)
		s.notes.Answer.Finished(reason)
	case "message_stop", "error":
		s.ended, need = true, wire.Finished
	}
	return appendNamed(dst, ev, s.frame.typ), need, nil
}
