package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/sse"
)

// repeats reports whether an event is the last one with other text.
func (s *stream) repeats(ev *sse.Event) bool {
	return len(ev.Data) <= s.o.MaxBytes && bytes.Equal(ev.Type, s.named) && s.repeat.Match(ev.Data)
}

// learnCall remembers an event that did nothing but continue a call, so that the
// next one like it needs no second look. Everything that could change what such
// an event means is an event of another kind, which forgets.
func (s *stream) learnCall(ev *sse.Event, k *call) { s.learn(ev, k) }

// learnText remembers an event that carries one text and was forwarded as it is.
func (s *stream) learnText(ev *sse.Event) {
	switch s.frame.typ {
	case textDelta, summaryDelta, reasoningDelta:
		if !s.ours {
			s.learn(ev, nil)
		}
	}
}

func (s *stream) learn(ev *sse.Event, k *call) {
	if s.slow || s.frame.delta.Kind() != jsonstream.String {
		return
	}
	padding, _ := s.frame.root.Get("obfuscation")
	s.named = append(s.named[:0], ev.Type...)
	if s.continued = k; k != nil {
		s.latest = k
	}
	s.repeat.Learn(ev, s.frame.delta, s.frame.seq, padding)
	if k != nil {
		s.repeat.Collect(true)
	}
}

// Repeats implements [wire.Repeater].
func (s *stream) Repeats(dst, text []byte) (out []byte, size, events int) {
	if s.ended || s.waiting || s.failed {
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
	if s.continued != nil {
		s.delta(s.continued, s.repeat.Decoded(), s.repeat.Spelled())
		return false
	}
	if n := s.repeat.Found(1).Raw; len(n) > 0 {
		s.next, s.numbered = 0, true
		for _, c := range n {
			s.next = s.next*10 + int(c-'0')
		}
		s.next++
	}
	return true
}
