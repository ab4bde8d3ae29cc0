package openaichat

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// learnCall remembers an event that did nothing but continue one call, so that
// the next one like it needs no second look. Everything else that could change
// what such an event means goes through the full reading, which forgets.
func (s *stream) learnCall(ev *sse.Event) {
	if s.slow || len(s.chunk.elements) != 1 {
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
	if missing || isBroken || k == nil || t.bad || t.more || t.arguments.Kind() != jsonstream.String {
		return
	}
	s.continued, s.inChoice = k, e.choice
	s.learn(ev, t.arguments)
}

// learnText remembers an event that carries one text and was forwarded as it is.
func (s *stream) learnText(ev *sse.Event) {
	if s.slow || len(s.chunk.elements) != 1 || s.chunk.usage {
		return
	}
	e := &s.chunk.elements[0]
	if e.late || e.reason.IsValid() || e.choice.done {
		return
	}
	for k, v := range e.delta.Members() {
		if says(v) && string(wire.Key(k)) != "role" {
			s.continued = nil
			s.learn(ev, v)
			return
		}
	}
}

func (s *stream) learn(ev *sse.Event, text jsonstream.Value) {
	s.repeat.Learn(ev, text, s.chunk.padding)
	if s.continued != nil {
		s.repeat.Collect(false)
	}
}

// Repeats implements [wire.Repeater].
func (s *stream) Repeats(dst, text []byte) (out []byte, size, events int) {
	if s.ended {
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
	s.feed(s.inChoice, s.continued, s.repeat.Decoded())
	return false
}
