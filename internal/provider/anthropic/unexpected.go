package anthropic

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// A message that starts twice, or not at all, is refused if it contains a call, because
// clients may interpret that call differently. Without a call it is forwarded byte for byte,
// and the record lists the event.

// unexpectedStart reports whether an event starts the message again, or belongs to a
// message that has not started.
func (s *stream) unexpectedStart() bool {
	switch s.frame.typ {
	case "message_start":
		content, _ := s.frame.message.Get("content")
		return s.started && s.frame.message.Kind() == jsonstream.Object && (!provider.Present(content) || content.Kind() == jsonstream.Array && content.Len() == 0)
	case blockStart:
		return !s.started && s.frame.index == 0 && s.frame.block.Kind() == jsonstream.Object
	}
	return false
}

// withoutCall reports whether neither the previous events nor the last one contain a call.
func (s *stream) withoutCall() bool {
	f := &s.frame
	content, _ := f.message.Get("content")
	within, _ := f.delta.Get("content")
	reason, _ := f.delta.Get("stop_reason")
	_, input := f.delta.Get("partial_json")
	return len(s.list) == 0 && !input && !reason.IsText("tool_use") && !(f.block.IsValid() && kindOf(f.block).call()) && !hasCall(content) && !hasCall(within) &&
		provider.ExactNames(f.message, startNames)
}

// passUnexpected forwards an event of a message with unexpected events.
func (s *stream) passUnexpected(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if !s.withoutCall() {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	if !s.unexpected {
		s.unexpected = true
		s.notes.AddUnexpected(s.frame.typ)
	}
	need := provider.Continue
	switch s.frame.typ {
	case "message_delta":
		reason, _ := s.frame.delta.Get("stop_reason")
		s.notes.Response.Read(s.frame.root)
		s.notes.Response.AddFinishReason(reason)
	case "message_stop", "error":
		s.ended, need = true, provider.Finished
	}
	return appendNamed(dst, ev, s.frame.typ), need, nil
}
