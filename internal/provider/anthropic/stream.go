package anthropic

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// stream implements [provider.Stream].
type stream struct {
	calls
	repeats
	doc   jsonstream.Document
	frame frame
	edits provider.Edits // reused

	started bool     // message_start was received
	blocks  []*block // by index at the upstream
	next    int      // output index of the next block
	open    int      // number of open blocks that are not calls

	queue []queuedEvent // from the first call on, in upstream order
	usage usage

	generated int64 // bytes of text so far

	// finish contains the end of a turn with calls until Release: its message_delta, later
	// ones, and message_stop.
	finish  []sse.Event
	ending  stopgate.End
	waiting bool

	deltaSeen  bool // a message_delta was received: no block may follow
	finished   bool // a message_delta with a stop reason was received
	noCallLeft bool // no call survived: later stop reasons are changed too
	unexpected bool // the message has unexpected events and no call
	cancelled  bool // the upstream was cancelled; Release writes the end
	ended      bool // the terminal event was written

	ownText string // text added by the gate
}

// Event implements [provider.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	switch {
	case s.ended, s.cancelled, s.waiting:
		if ev.Dispatched {
			s.notes.Dropped++
		}
		if s.ended {
			return dst, provider.Finished, nil
		}
		return dst, provider.Continue, nil
	case !ev.Dispatched:
		return ev.AppendTo(dst), provider.Continue, nil
	case s.repeats.match(ev, s.o.MaxBytes):
		if s.repeatLast() {
			dst = ev.AppendTo(dst)
		}
		return dst, provider.Continue, nil
	}
	s.template.Reset()
	if err := scan(&s.doc, ev.Data, s.o.MaxBytes); err != nil {
		return dst, provider.Continue, provider.Malformed(err)
	}
	if provider.IsOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, provider.Continue, provider.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.RemoveStrayCalls(&s.edits, s.doc.Root(), eventShape) {
		own := ev.WithData(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; scan(&s.doc, ev.Data, s.o.MaxBytes) != nil {
			return dst, provider.Continue, provider.Malformed(nil)
		}
	}
	if !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	if s.frame.misplaced() {
		return dst, provider.Continue, provider.UnknownCall()
	}
	if s.unexpected || s.withoutCall() && s.unexpectedStart() {
		return s.passUnexpected(dst, ev)
	}
	var err error
	need := provider.Continue
	switch s.frame.typ {
	case "message_start":
		dst, err = s.messageStart(dst, ev)
	case blockStart, blockDelta, blockStop:
		s.generated += provider.GeneratedBytes(s.frame.block) + provider.GeneratedBytes(s.frame.delta)
		dst, err = s.content(dst, ev)
	case "message_delta":
		dst, err = s.messageDelta(dst, ev)
	case "message_stop":
		dst, need, err = s.messageStop(dst, ev)
	case "error":
		s.refuseOpen(stopgate.CodeUpstreamError)
		s.pending, s.ended, need = 0, true, provider.Finished
		dst = appendNamed(dst, ev, s.frame.typ)
	case "ping":
		dst = appendNamed(dst, ev, s.frame.typ)
	default:
		dst, err = s.unknown(dst, ev)
	}
	return dst, need, err
}

// unknown forwards an event of an unknown type, and records one that could be a part of a
// message (L12).
func (s *stream) unknown(dst []byte, ev *sse.Event) ([]byte, error) {
	if s.frame.message.IsValid() || s.frame.block.IsValid() || s.frame.delta.IsValid() {
		s.notes.AddNotEvaluated(s.frame.typ)
	}
	return appendNamed(dst, ev, s.frame.typ), nil
}

// messageStart starts the message. It must be empty: clients would receive blocks in it
// without evaluation.
func (s *stream) messageStart(dst []byte, ev *sse.Event) ([]byte, error) {
	message := s.frame.message
	content, _ := message.Get("content")
	empty := !provider.Present(content) || content.Kind() == jsonstream.Array && content.Len() == 0
	if s.started || message.Kind() != jsonstream.Object || !empty || !provider.ExactNames(message, startNames) {
		return dst, provider.Malformed(nil)
	}
	s.started = true
	s.usage.read(message)
	s.notes.Response.Read(message)
	return appendNamed(dst, ev, s.frame.typ), nil
}

// messageDelta processes the end signal of the turn. A message_delta without a stop reason
// is not an end: after a buffered call it is buffered too, and while a block is open it is
// refused, because no block may continue after it (AM3, AM4). Buffered calls wait for
// message_stop: a stream that is truncated before it releases none (W33).
func (s *stream) messageDelta(dst []byte, ev *sse.Event) ([]byte, error) {
	reason, _ := s.frame.delta.Get("stop_reason")
	if !s.started || !s.finished && !provider.Present(reason) && s.anyOpen() {
		return dst, provider.Malformed(nil)
	}
	s.deltaSeen = true
	s.usage.read(s.frame.root)
	s.notes.Response.Read(s.frame.root)
	s.notes.Response.AddFinishReason(reason)
	switch {
	case len(s.list) == 0:
		s.finished = s.finished || provider.Present(reason)
		return s.appendMessageDelta(dst, ev), nil
	case !s.finished && !provider.Present(reason):
		return dst, s.buffer(ev, nil)
	case !s.finished:
		s.finished, s.ending = true, endOf(reason)
	}
	return dst, s.bufferEnd(ev)
}

// bufferEnd stores an event of the end until Release.
func (s *stream) bufferEnd(ev *sse.Event) error {
	own, err := s.bufferedCopy(ev)
	s.finish = append(s.finish, own)
	return err
}

// messageStop ends the message, or the turn of the buffered calls.
func (s *stream) messageStop(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	switch {
	case !s.complete():
		return dst, provider.Continue, provider.Truncated()
	case len(s.finish) == 0:
		s.ended = true
		return appendNamed(dst, ev, s.frame.typ), provider.Finished, nil
	}
	s.waiting = true
	for _, b := range s.blocks {
		if b.call != nil && !b.closed && s.ending == stopgate.Ended {
			s.refuse(b.call, stopgate.CodeProtocolViolation) // the block was not closed (AM3)
		}
	}
	s.calls.finish(s.ending)
	s.finish = append(s.finish, ev.Clone(nil))
	return dst, provider.Resolve, nil
}

// anyOpen reports whether any block is open.
func (s *stream) anyOpen() bool {
	return slices.ContainsFunc(s.blocks, func(b *block) bool { return !b.closed })
}

// appendMessageDelta appends a message_delta with the true stop reason (AM8).
func (s *stream) appendMessageDelta(dst []byte, ev *sse.Event) []byte {
	reason, _ := s.frame.delta.Get("stop_reason")
	if !s.noCallLeft || !reason.IsText("tool_use") {
		return appendNamed(dst, ev, s.frame.typ)
	}
	s.edits = s.edits[:0]
	s.edits.Replace(reason, []byte(`"end_turn"`))
	return appendEdited(dst, ev, s.frame.typ, s.edits)
}

// complete reports whether message_stop is valid here: calls without an end signal were
// truncated (L6).
func (s *stream) complete() bool {
	return s.started && !s.waiting && (len(s.list) == 0 || s.finished)
}

// EOF implements [provider.Stream]. A stream without message_stop was truncated, which one SDK
// would not report. A last event that lacks only its blank line counts, because clients
// read it.
func (s *stream) EOF(dst, tail []byte) ([]byte, provider.Need, error) {
	if s.ended {
		return dst, provider.Finished, nil
	}
	last := sse.NewDecoder(nil, sse.Limits{})
	last.Feed(append(append([]byte(nil), tail...), "\n\n"...))
	var ev sse.Event
	for {
		more, err := last.Next(&ev)
		if err != nil || !more {
			return dst, provider.Continue, provider.Truncated()
		}
		if ev.Dispatched {
			break
		}
	}
	if scan(&s.doc, ev.Data, s.o.MaxBytes) != nil || !s.frame.read(s.doc.Root()) ||
		s.frame.typ != "message_stop" || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, provider.Continue, provider.Truncated()
	}
	if s.unexpected {
		s.ended = true
		return appendNamed(dst, &ev, s.frame.typ), provider.Finished, nil
	}
	return s.messageStop(dst, &ev)
}

// Abort implements [provider.Stream].
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.cancelled, s.ended = 0, false, false, true
	s.queue = nil
	dst = sse.AppendEventStart(dst, "error")
	return sse.AppendEventEnd(appendError(dst, "api_error", code, message))
}

// Keepalive implements [provider.Stream] (S17).
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || !s.started || s.ended {
		return sse.AppendKeepalive(dst)
	}
	return sse.AppendEvent(dst, "ping", []byte(`{"type": "ping"}`))
}
