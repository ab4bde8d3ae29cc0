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
	if s.continued = k; k != nil {
		s.repeat.LearnDecoded(ev.Data, text)
	} else {
		s.repeat.Learn(ev.Data, text)
	}
}

// again handles an event that repeats the last one with other text.
func (s *stream) again(dst []byte, ev *sse.Event) []byte {
	if s.continued == nil {
		return ev.AppendTo(dst)
	}
	s.feed(s.continued, s.repeat.Decoded())
	return dst
}
