package anthropic

import (
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// matchesTemplate reports whether an event is the last one with other text. The event line
// is not part of the payload, so it is compared here.
func (s *stream) matchesTemplate(ev *sse.Event) bool {
	return string(ev.Type) == blockDelta && len(ev.Data) <= s.o.MaxBytes && s.template.Match(ev.Data)
}

// learnCall learns an event that only continued a call, so that similar events are not
// parsed again. An event of any other kind resets the template.
func (s *stream) learnCall(ev *sse.Event, b *block) {
	piece, _ := s.frame.delta.Get("partial_json")
	if typ, _ := s.frame.delta.Get("type"); typ.IsText("input_json_delta") && piece.Kind() == jsonstream.String {
		s.learn(ev, b.call, piece)
	}
}

// learnText learns an event that carries one text and was forwarded unchanged.
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
	if s.parseAll {
		return
	}
	s.template.Learn(ev, text)
	if s.continued = k; k != nil {
		s.template.Collect(false)
	}
	s.named = string(ev.Type) == blockDelta
}

// EventBatch implements [provider.BatchStream].
func (s *stream) EventBatch(dst, text []byte) (out []byte, size, events int) {
	if s.ended || s.cancelled || s.waiting || !s.named {
		return dst, 0, 0
	}
	if size, events = s.template.Run(text, s.o.MaxBytes); size > 0 && s.repeatLast() {
		dst = append(dst, text[:size]...)
	}
	return dst, size, events
}

// repeatLast processes events that repeat the last one with other text, and reports whether
// they are forwarded.
func (s *stream) repeatLast() bool {
	s.generated += int64(s.template.TextSize())
	if s.continued == nil {
		return true
	}
	s.feed(s.continued, s.template.Decoded())
	return false
}
