package openaichat

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// learnCall learns an event that only continued one call, so that similar events are not
// parsed again. Every other event is parsed in full, which resets the template.
func (s *stream) learnCall(ev *sse.Event) {
	if s.parseAll || len(s.chunk.elements) != 1 {
		return
	}
	e := &s.chunk.elements[0]
	if e.choice.done || e.choice.mixed || e.legacy.IsValid() || e.calls.Len() != 1 {
		return
	}
	var t entry
	v, _ := e.calls.Index(0)
	t.read(v)
	index, missing, isBroken := t.position()
	k := e.choice.current(index)
	if missing || isBroken || k == nil || t.invalid || t.hasUnknown || t.arguments.Kind() != jsonstream.String {
		return
	}
	s.continued, s.inChoice = k, e.choice
	s.learn(ev, t.arguments)
}

// learnText learns an event that carries one text and was forwarded unchanged.
func (s *stream) learnText(ev *sse.Event) {
	if s.parseAll || len(s.chunk.elements) != 1 || s.chunk.usage {
		return
	}
	e := &s.chunk.elements[0]
	if e.afterEnd || e.reason.IsValid() || e.choice.done {
		return
	}
	for k, v := range e.delta.Members() {
		if nonEmpty(v) && string(provider.Key(k)) != "role" {
			s.continued = nil
			s.learn(ev, v)
			return
		}
	}
}

func (s *stream) learn(ev *sse.Event, text jsonstream.Value) {
	s.template.Learn(ev, text, s.chunk.padding)
	if s.continued != nil {
		s.template.Collect(false)
	}
}

// EventBatch implements [provider.BatchStream].
func (s *stream) EventBatch(dst, text []byte) (out []byte, size, events int) {
	if s.ended {
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
	s.feed(s.inChoice, s.continued, s.template.Decoded())
	return false
}
