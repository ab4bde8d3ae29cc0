package anthropic

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/sse"
)

// repeats reports whether an event is the last one with other text. The event
// line is not part of the payload, so it must be the usual one.
func (s *stream) repeats(ev *sse.Event) bool {
	return string(ev.Type) == blockDelta && len(ev.Data) <= s.o.MaxBytes && s.repeat.Match(ev.Data)
}

// learnCall remembers an event that did nothing but continue a call, so that the
// next one like it needs no second look. Everything that could change what such
// an event means is an event of another kind, which forgets.
func (s *stream) learnCall(ev *sse.Event, b *block) {
	piece, _ := s.frame.delta.Get("partial_json")
	if typ, _ := s.frame.delta.Get("type"); typ.IsText("input_json_delta") && piece.Kind() == jsonstream.String {
		s.learn(ev, b.call, piece)
	}
}

// learnText remembers an event that carries one text and was forwarded as it is.
func (s *stream) learnText(ev *sse.Event, b *block) {
	if !b.written {
		return
	}
	typ, _ := s.frame.delta.Get("type")
	for _, kind := range [...]struct{ typ, member string }{{"text_delta", "text"}, {"thinking_delta", "thinking"}} {
		if text, ok := s.frame.delta.Get(kind.member); ok && typ.IsText(kind.typ) && text.Kind() == jsonstream.String {
			s.learn(ev, nil, text)
		}
	}
}

func (s *stream) learn(ev *sse.Event, k *call, text jsonstream.Value) {
	if s.slow {
		return
	}
	s.repeat.Learn(ev, text)
	if s.continued = k; k != nil {
		s.repeat.Collect(false)
	}
	s.typed = string(ev.Type) == blockDelta
}

// Repeats implements [wire.Repeater].
func (s *stream) Repeats(dst, text []byte) (out []byte, size, events int) {
	if s.ended || s.cancelled || s.waiting || !s.typed {
		return dst, 0, 0
	}
	if size, events = s.repeat.Run(text, s.o.MaxBytes); size > 0 && s.again() {
		dst = append(dst, text[:size]...)
	}
	return dst, size, events
}

// again handles events that repeat the last one with other text, and reports whether
// they are for the client.
func (s *stream) again() bool {
	s.generated += int64(s.repeat.Size())
	if s.continued == nil {
		return true
	}
	s.feed(s.continued, s.repeat.Decoded())
	return false
}
