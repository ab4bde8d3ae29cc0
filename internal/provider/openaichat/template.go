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
	if !e.empty() || e.hasCopy {
		return
	}
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

// learnEdited learns an event that only continued one call and was forwarded without it, for what else
// it has: the usage so far.
func (s *stream) learnEdited(ev *sse.Event) {
	if len(s.edits) != 1 || len(s.edits[0].Text) > 0 {
		return
	}
	if s.learnCall(ev); s.template.Learned() {
		s.template.Omit(s.edits[0].Start, s.edits[0].End)
		s.forwards = true
	}
}

// learnText learns an event that carries one text and was forwarded unchanged.
func (s *stream) learnText(ev *sse.Event) {
	if s.parseAll || len(s.chunk.elements) != 1 {
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
	values := append(make([]jsonstream.Value, 0, 8), text, s.chunk.padding)
	s.counts, s.forwards = s.chunk.usage, false
	if s.counts {
		usage, _ := s.chunk.root.Get("usage")
		s.usageFrom, s.usageTo = usage.Span()
		values = provider.Counters(values, usage)
	}
	s.template.Learn(ev, values...)
	if s.continued != nil {
		s.template.Collect(false)
	}
}

// EventBatch implements [provider.BatchStream].
func (s *stream) EventBatch(dst, text []byte) (out []byte, size, events int) {
	if s.ended {
		return dst, 0, 0
	}
	if size, events = s.template.Run(text, s.o.MaxBytes); size > 0 {
		switch s.repeatLast() {
		case forwardsAll:
			dst = append(dst, text[:size]...)
		case forwardsRest:
			dst = append(dst, s.template.Kept()...)
		}
	}
	return dst, size, events
}

// part is which part of an event the client receives.
type part uint8

const (
	forwardsNone part = iota
	forwardsRest      // without the call
	forwardsAll
)

// repeatLast processes events that repeat the last one with other text, and returns which part of
// them is forwarded.
func (s *stream) repeatLast() part {
	s.generated += int64(s.template.TextSize())
	if s.counts {
		s.usage = append(s.usage[:0], s.template.Section(s.usageFrom, s.usageTo)...)
		if usage, err := jsonstream.Parse(s.usage, provider.EnvelopeOptions(s.o.MaxBytes)); err == nil {
			s.notes.Response.ReadUsage(usage)
		}
	}
	if s.continued == nil {
		return forwardsAll
	}
	s.feed(s.inChoice, s.continued, s.template.Decoded())
	if s.forwards {
		return forwardsRest
	}
	return forwardsNone
}
