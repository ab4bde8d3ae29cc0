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
	if s.continued != nil {
		s.repeat.LearnDecoded(ev.Data, text, s.chunk.padding)
	} else {
		s.repeat.Learn(ev.Data, text, s.chunk.padding)
	}
}

// again handles an event that repeats the last one with other text.
func (s *stream) again(dst []byte, ev *sse.Event) []byte {
	if s.continued == nil {
		return ev.AppendTo(dst)
	}
	s.feed(s.inChoice, s.continued, s.repeat.Decoded())
	return dst
}
