package anthropic

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// repeats recognises events that repeat the last one with other text, so that they are not parsed.
type repeats struct {
	template  provider.EventTemplate
	continued *call // the call that the last event continued, nil if it was text
	named     bool  // it had the event line that clients expect
	parseAll  bool  // for tests: parse every event in full
}

// match reports whether an event is the last one with other text. The event line
// is not part of the payload, so it is compared here.
func (r *repeats) match(ev *sse.Event, maxBytes int) bool {
	return string(ev.Type) == blockDelta && len(ev.Data) <= maxBytes && r.template.Match(ev.Data)
}

// learnCall learns an event that only continued a call, so that similar events are not
// parsed again. An event of any other kind resets the template.
func (r *repeats) learnCall(ev *sse.Event, delta jsonstream.Value, k *call) {
	piece, _ := delta.Get("partial_json")
	if typ, _ := delta.Get("type"); typ.IsText("input_json_delta") && piece.Kind() == jsonstream.String {
		r.learn(ev, k, piece)
	}
}

// learnText learns an event that carries one text and was forwarded unchanged.
func (r *repeats) learnText(ev *sse.Event, delta jsonstream.Value) {
	typ, _ := delta.Get("type")
	for _, kind := range [...]struct{ typ, member string }{{"text_delta", "text"}, {"thinking_delta", "thinking"}} {
		if text, ok := delta.Get(kind.member); ok && typ.IsText(kind.typ) && text.Kind() == jsonstream.String {
			r.learn(ev, nil, text)
		}
	}
}

func (r *repeats) learn(ev *sse.Event, k *call, text jsonstream.Value) {
	if r.parseAll {
		return
	}
	r.template.Learn(ev, text)
	if r.continued = k; k != nil {
		r.template.Collect(false)
	}
	r.named = string(ev.Type) == blockDelta
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
