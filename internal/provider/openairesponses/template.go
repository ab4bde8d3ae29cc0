package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// repeats recognises events that repeat the last one with other text, so that they are not parsed.
type repeats struct {
	template  provider.EventTemplate
	line      []byte // event line of the last one
	continued *call  // the call that it continued, nil if it was text
	latest    *call  // the last call with arguments
	parseAll  bool   // for tests: parse every event in full
}

// match reports whether an event is the last one with other text.
func (r *repeats) match(ev *sse.Event, maxBytes int) bool {
	return len(ev.Data) <= maxBytes && bytes.Equal(ev.Type, r.line) && r.template.Match(ev.Data)
}

// learnText learns an event that carries one text and was forwarded unchanged.
func (r *repeats) learnText(ev *sse.Event, f *frame) {
	switch f.typ {
	case textDelta, summaryDelta, reasoningDelta:
		r.learn(ev, f, nil)
	}
}

// learn learns an event that only continued a call, or a text if k is nil. An event of any other
// kind resets the template.
func (r *repeats) learn(ev *sse.Event, f *frame, k *call) {
	if r.parseAll || f.delta.Kind() != jsonstream.String {
		return
	}
	padding, _ := f.root.Get("obfuscation")
	r.line = append(r.line[:0], ev.Type...)
	if r.continued = k; k != nil {
		r.latest = k
	}
	r.template.Learn(ev, f.delta, f.seq, padding)
	if k != nil {
		r.template.Collect(true)
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
