package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// matchesTemplate reports whether an event is the last one with other text.
func (s *stream) matchesTemplate(ev *sse.Event) bool {
	return len(ev.Data) <= s.o.MaxBytes && bytes.Equal(ev.Type, s.lastEventType) && s.template.Match(ev.Data)
}

// learnCall learns an event that only continued a call, so that similar events are not
// parsed again. An event of any other kind resets the template.
func (s *stream) learnCall(ev *sse.Event, k *call) { s.learn(ev, k) }

// learnText learns an event that carries one text and was forwarded unchanged.
func (s *stream) learnText(ev *sse.Event) {
	switch s.frame.typ {
	case textDelta, summaryDelta, reasoningDelta:
		if !s.renumber {
			s.learn(ev, nil)
		}
	}
}

func (s *stream) learn(ev *sse.Event, k *call) {
	if s.parseAll || s.frame.delta.Kind() != jsonstream.String {
		return
	}
	padding, _ := s.frame.root.Get("obfuscation")
	s.lastEventType = append(s.lastEventType[:0], ev.Type...)
	if s.continued = k; k != nil {
		s.latest = k
	}
	s.template.Learn(ev, s.frame.delta, s.frame.seq, padding)
	if k != nil {
		s.template.Collect(true)
	}
}

// EventBatch implements [provider.BatchStream].
func (s *stream) EventBatch(dst, text []byte) (out []byte, size, events int) {
	if s.ended || s.waiting || s.failed {
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
	if s.continued != nil {
		s.delta(s.continued, s.template.Decoded(), s.template.Encoded())
		return false
	}
	if n := s.template.Value(1).Raw; len(n) > 0 {
		s.next, s.numbered = 0, true
		for _, c := range n {
			s.next = s.next*10 + int(c-'0')
		}
		s.next++
	}
	return true
}
