package gemini

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// stream implements [provider.Stream].
type stream struct {
	answer
	doc   jsonstream.Document
	chunk chunk
	edits provider.Edits // reused

	queue     []queued       // from the first call on, in upstream order
	waiting   bool           // the turn has ended; Release writes the queue
	cancelled bool           // the upstream was cancelled; Release writes the end
	failed    bool           // the upstream sent an error
	ended     bool           // the end was written
	ownTexts  map[int]string // texts added by the gate, by candidate
}

// queued is a buffered event, with the calls of its parts by candidate.
type queued struct {
	ev    sse.Event
	calls [][]*call
}

// Event implements [provider.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	switch {
	case s.ended, s.cancelled, s.waiting, s.failed:
		if ev.Dispatched {
			s.notes.Dropped++
		}
		if s.ended {
			return dst, provider.Finished, nil
		}
		return dst, provider.Continue, nil
	case !ev.Dispatched:
		return ev.AppendTo(dst), provider.Continue, nil
	}
	if err := scan(&s.doc, ev.Data, s.o.MaxBytes); err != nil {
		return dst, provider.Continue, provider.Malformed(err)
	}
	if provider.IsOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, provider.Continue, provider.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.RemoveStrayCalls(&s.edits, s.doc.Root(), chunkShape) {
		own := ev.WithData(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; scan(&s.doc, ev.Data, s.o.MaxBytes) != nil {
			return dst, provider.Continue, provider.Malformed(nil)
		}
	}
	if !s.chunk.read(s.doc.Root()) {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	if s.chunk.fault.IsValid() {
		return s.upstreamError(dst, ev)
	}
	if err := s.take(&s.chunk); err != nil {
		return dst, provider.Continue, err
	}
	if len(s.list) > 0 {
		return dst, provider.Continue, s.buffer(ev)
	}
	for i := range s.chunk.candidates {
		s.chunk.candidates[i].noteText()
	}
	return ev.AppendTo(dst), provider.Continue, nil
}

// noteText records that the client receives text of a candidate.
func (e *candidate) noteText() {
	for part := range e.parts.Elements() {
		text, _ := part.Get("text")
		thought, _ := part.Get("thought")
		if text.Kind() == jsonstream.String && !text.IsText("") && thought.Kind() != jsonstream.True {
			e.choice.textSent = true
		}
	}
}

// upstreamError forwards an error of the provider, without the candidates next to it.
func (s *stream) upstreamError(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	s.refuseOpen(stopgate.CodeUpstreamError)
	s.pending, s.failed, s.queue = 0, true, nil
	s.edits = s.edits[:0]
	if len(s.chunk.candidates) > 0 {
		s.notes.Dropped++
		s.edits.Remove(s.chunk.root, func(k, _ jsonstream.Value) bool { return string(provider.Key(k)) == "candidates" })
	}
	return s.appendEdited(dst, ev), provider.Continue, nil
}

func (s *stream) appendEdited(dst []byte, ev *sse.Event) []byte {
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(s.edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// buffer adds an event to the queue for Release.
func (s *stream) buffer(ev *sse.Event) error {
	if s.buffered += len(ev.Raw); s.buffered > s.o.MaxBuffered {
		return provider.LimitExceeded()
	}
	q := queued{ev: ev.Clone(nil)}
	for i := range s.chunk.candidates {
		q.calls = append(q.calls, s.chunk.candidates[i].calls)
	}
	s.queue = append(s.queue, q)
	return nil
}

// EOF implements [provider.Stream]. The stream has no terminal event: the end of the body ends the
// turn, if every candidate has its finish reason.
func (s *stream) EOF(dst, tail []byte) ([]byte, provider.Need, error) {
	if s.ended || s.failed {
		s.ended = true
		return dst, provider.Finished, nil
	}
	if len(bytes.TrimSpace(tail)) > 0 {
		last := sse.NewDecoder(nil, sse.Limits{})
		last.Feed(append(append([]byte(nil), tail...), "\n\n"...))
		var ev sse.Event
		for {
			more, err := last.Next(&ev)
			if err != nil {
				return dst, provider.Continue, provider.Truncated()
			}
			if !more {
				break
			}
			if !ev.Dispatched {
				continue
			}
			if dst, _, err = s.Event(dst, &ev); err != nil {
				return dst, provider.Continue, provider.Truncated()
			}
		}
	}
	switch {
	case s.failed:
		s.ended = true
		return dst, provider.Finished, nil
	case !s.complete():
		return dst, provider.Continue, provider.Truncated()
	case len(s.list) == 0:
		s.ended = true
		return dst, provider.Finished, nil
	}
	s.finishAll()
	s.waiting = true
	return dst, provider.Resolve, nil
}

// complete reports whether the response may end here.
func (s *stream) complete() bool {
	for _, c := range s.choices {
		if !c.finished {
			return false
		}
	}
	return len(s.choices) > 0 || s.blocked
}

// Abort implements [provider.Stream].
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.cancelled, s.ended, s.queue = 0, false, false, true, nil
	if s.failed {
		return dst // the client has received the upstream's error
	}
	dst = sse.AppendEventStart(dst, "")
	return sse.AppendEventEnd(appendError(dst, 500, code, message))
}

// Keepalive implements [provider.Stream] (S17). One library fails on comments, and one discards a
// response with an event without a part, so the event has an empty text.
func (s *stream) Keepalive(dst []byte, _ bool) []byte {
	if s.ended {
		return dst
	}
	return sse.AppendEvent(dst, "", []byte(`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}]}`))
}

// CanCancel implements [provider.Stream].
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.CanStop()
}

// CanStop implements [provider.Stream].
func (s *stream) CanStop() bool {
	return s.req.N == 1 && len(s.choices) == 1 && !s.choices[0].finished && !s.failed && !s.ended
}

// Cancel implements [provider.Stream].
func (s *stream) Cancel() {
	if !s.CanStop() {
		return
	}
	s.cancelled = true
	s.notes.UsageIncomplete = true
	s.notes.EstimateUsage(s.req.Bytes, s.generated)
	s.finish(s.choices[0], stopgate.Cancelled)
}
