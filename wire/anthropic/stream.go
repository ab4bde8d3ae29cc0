package anthropic

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// stream implements [wire.Stream].
type stream struct {
	calls
	doc   jsonstream.Document
	frame frame
	edits wire.Edits // reused

	begun  bool     // message_start was seen
	blocks []*block // by the upstream's index
	next   int      // the index that our next block gets
	open   int      // blocks that are no calls and have no stop

	queue []heldEvent // from the first call on, in upstream order
	usage usage

	generated int64 // bytes of text so far

	// The last event, if the next one may be the same with other text, and the
	// call that it continued, nil if it was text.
	repeat    wire.Repeat
	continued *call
	typed     bool // it had the event line that clients want
	slow      bool // tests: read every event in full

	// The end of a turn with calls, kept until Release: its message_delta, later
	// ones, and its message_stop.
	finish  []sse.Event
	ending  stopgate.End
	waiting bool

	tail      bool // a message_delta was seen: no block may follow
	over      bool // one with a stop reason was seen
	stripped  bool // no call survived: later stop reasons are changed too
	strange   bool // the events do not add up, and no call is among them
	cancelled bool // the upstream was cancelled, Release writes the end
	ended     bool // the terminal event was written

	extra string // a text of the gate's own
}

// Event implements [wire.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	switch {
	case s.ended, s.cancelled, s.waiting:
		if ev.Dispatched {
			s.notes.Dropped++
		}
		if s.ended {
			return dst, wire.Finished, nil
		}
		return dst, wire.Nothing, nil
	case !ev.Dispatched:
		return ev.AppendTo(dst), wire.Nothing, nil
	case s.repeats(ev):
		if s.again() {
			dst = ev.AppendTo(dst)
		}
		return dst, wire.Nothing, nil
	}
	s.repeat.Forget()
	if err := scan(&s.doc, ev.Data, s.o.MaxBytes); err != nil {
		return dst, wire.Nothing, wire.Malformed(err)
	}
	if wire.OfOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, wire.Nothing, wire.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.Strays(&s.edits, s.doc.Root(), eventShape) {
		own := ev.With(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; scan(&s.doc, ev.Data, s.o.MaxBytes) != nil {
			return dst, wire.Nothing, wire.Malformed(nil)
		}
	}
	if !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	if s.frame.misplaced() {
		return dst, wire.Nothing, wire.UnknownCall()
	}
	if s.strange || s.free() && s.oddBeginning() {
		return s.passStrange(dst, ev)
	}
	var err error
	need := wire.Nothing
	switch s.frame.typ {
	case "message_start":
		dst, err = s.messageStart(dst, ev)
	case blockStart, blockDelta, blockStop:
		s.generated += wire.Generated(s.frame.block) + wire.Generated(s.frame.delta)
		dst, err = s.content(dst, ev)
	case "message_delta":
		dst, err = s.messageDelta(dst, ev)
	case "message_stop":
		dst, need, err = s.messageStop(dst, ev)
	case "error":
		s.refuseOpen(stopgate.CodeUpstreamError)
		s.pending, s.ended, need = 0, true, wire.Finished
		dst = appendNamed(dst, ev, s.frame.typ)
	case "ping":
		dst = appendNamed(dst, ev, s.frame.typ)
	default:
		dst, err = s.unknown(dst, ev)
	}
	return dst, need, err
}

// unknown forwards an event of a type that no client knows, and notes one that could
// say something of a message (L12).
func (s *stream) unknown(dst []byte, ev *sse.Event) ([]byte, error) {
	if s.frame.message.IsValid() || s.frame.block.IsValid() || s.frame.delta.IsValid() {
		s.notes.Pass(s.frame.typ)
	}
	return appendNamed(dst, ev, s.frame.typ), nil
}

// messageStart begins the message. Blocks that stand in it already would reach a
// client past the gate, so it must be empty.
func (s *stream) messageStart(dst []byte, ev *sse.Event) ([]byte, error) {
	message := s.frame.message
	content, _ := message.Get("content")
	empty := !wire.Present(content) || content.Kind() == jsonstream.Array && content.Len() == 0
	if s.begun || message.Kind() != jsonstream.Object || !empty || !wire.Plain(message, startNames) {
		return dst, wire.Malformed(nil)
	}
	s.begun = true
	s.usage.read(message)
	s.notes.Answer.Read(message)
	return appendNamed(dst, ev, s.frame.typ), nil
}

// messageDelta handles the end signal of the turn. One without a stop reason is
// no end: behind a held call it waits with everything else, and while a block is
// open it is refused, since no block may go on behind it (AM3, AM4). Held calls
// wait for message_stop: a stream that is cut in front of it releases none (W33).
func (s *stream) messageDelta(dst []byte, ev *sse.Event) ([]byte, error) {
	reason, _ := s.frame.delta.Get("stop_reason")
	if !s.begun || !s.over && !wire.Present(reason) && s.anyOpen() {
		return dst, wire.Malformed(nil)
	}
	s.tail = true
	s.usage.read(s.frame.root)
	s.notes.Answer.Read(s.frame.root)
	s.notes.Answer.Finished(reason)
	switch {
	case len(s.list) == 0:
		s.over = s.over || wire.Present(reason)
		return s.appendMessageDelta(dst, ev), nil
	case !s.over && !wire.Present(reason):
		return dst, s.keep(ev, nil)
	case !s.over:
		s.over, s.ending = true, ending(reason)
	}
	return dst, s.keepEnd(ev)
}

// keepEnd keeps an event of the end until Release.
func (s *stream) keepEnd(ev *sse.Event) error {
	own, err := s.copyHeld(ev)
	s.finish = append(s.finish, own)
	return err
}

// messageStop ends the message, or the turn of the calls that are held.
func (s *stream) messageStop(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	switch {
	case !s.complete():
		return dst, wire.Nothing, wire.Cut()
	case len(s.finish) == 0:
		s.ended = true
		return appendNamed(dst, ev, s.frame.typ), wire.Finished, nil
	}
	s.waiting = true
	for _, b := range s.blocks {
		if b.call != nil && !b.closed && s.ending == stopgate.Ended {
			s.refuse(b.call, stopgate.CodeProtocolViolation) // AM3
		}
	}
	s.calls.finish(s.ending)
	s.finish = append(s.finish, ev.Clone(nil))
	return dst, wire.Resolve, nil
}

// anyOpen reports whether a block, a call or not, has no stop.
func (s *stream) anyOpen() bool {
	return slices.ContainsFunc(s.blocks, func(b *block) bool { return !b.closed })
}

// appendMessageDelta writes a message_delta so that it tells the truth (AM8).
func (s *stream) appendMessageDelta(dst []byte, ev *sse.Event) []byte {
	reason, _ := s.frame.delta.Get("stop_reason")
	if !s.stripped || !reason.IsText("tool_use") {
		return appendNamed(dst, ev, s.frame.typ)
	}
	s.edits = s.edits[:0]
	s.edits.Replace(reason, []byte(`"end_turn"`))
	return appendEdited(dst, ev, s.frame.typ, s.edits)
}

// complete reports whether a message_stop may stand here: calls without an end
// signal were cut (L6).
func (s *stream) complete() bool {
	return s.begun && !s.waiting && (len(s.list) == 0 || s.over)
}

// EOF implements [wire.Stream]: a stream without message_stop was cut, and one
// SDK would report nothing (WIRE 4.8). A last event that lacks only its blank
// line says what it says: clients read it.
func (s *stream) EOF(dst, tail []byte) ([]byte, wire.Need, error) {
	if s.ended {
		return dst, wire.Finished, nil
	}
	last := sse.NewDecoder(nil, sse.Limits{})
	last.Feed(append(append([]byte(nil), tail...), "\n\n"...))
	var ev sse.Event
	for {
		more, err := last.Next(&ev)
		if err != nil || !more {
			return dst, wire.Nothing, wire.Cut()
		}
		if ev.Dispatched {
			break
		}
	}
	if scan(&s.doc, ev.Data, s.o.MaxBytes) != nil || !s.frame.read(s.doc.Root()) ||
		s.frame.typ != "message_stop" || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, wire.Nothing, wire.Cut()
	}
	if s.strange {
		s.ended = true
		return appendNamed(dst, &ev, s.frame.typ), wire.Finished, nil
	}
	return s.messageStop(dst, &ev)
}

// Abort implements [wire.Stream] (WIRE 4.8).
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.cancelled, s.ended = 0, false, false, true
	s.queue = nil
	dst = sse.AppendOpen(dst, "error")
	return sse.AppendClose(appendError(dst, "api_error", code, message))
}

// Keepalive implements [wire.Stream] (DECISIONS S17).
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || !s.begun || s.ended {
		return sse.AppendKeepalive(dst)
	}
	return sse.AppendEvent(dst, "ping", []byte(`{"type": "ping"}`))
}
