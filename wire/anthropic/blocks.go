package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// The events of a content block.
const (
	blockStart = "content_block_start"
	blockDelta = "content_block_delta"
	blockStop  = "content_block_stop"
)

// block is one content block of the response. The upstream's index of it is its
// position in stream.blocks.
type block struct {
	call    *call // nil: no call
	input   bool  // no call, but its deltas carry an input: a tool at the provider
	closed  bool
	written bool // out is known
	out     int  // our index
	start   []byte
}

// heldEvent is what waits for Release: the place of a call, or an event of
// another block.
type heldEvent struct {
	block *block // nil: a message_delta without a stop reason
	typ   string // empty: the block's call stands here
	ev    sse.Event
}

// content handles the events of a content block.
func (s *stream) content(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case !s.begun || s.frame.index < 0: // AM1
		return dst, wire.Malformed(nil)
	case s.tail:
		// A block behind message_delta bricks the session (AM4).
		s.notes.Dropped++
		return dst, nil
	case s.frame.typ == blockStart:
		return s.begin(dst, ev)
	case s.frame.index >= len(s.blocks) || s.blocks[s.frame.index].closed: // AM3
		return dst, wire.Malformed(nil)
	}
	b := s.blocks[s.frame.index]
	if s.frame.typ == blockStop {
		b.closed = true
		if b.call != nil {
			s.close(b.call)
			return dst, nil
		}
		s.open--
		return s.other(dst, ev, b)
	}
	if b.call != nil {
		s.argument(b.call)
		s.learnCall(ev, b)
		return dst, nil
	}
	if _, carries := s.frame.delta.Get("partial_json"); carries && !b.input {
		return dst, wire.UnknownCall()
	}
	dst, err := s.other(dst, ev, b)
	s.learnText(ev, b)
	return dst, err
}

// argument feeds what a delta says about a call. A delta of another type than
// that of arguments may say more about the call than is known here (L14).
func (s *stream) argument(k *call) {
	typ, _ := s.frame.delta.Get("type")
	piece, ok := s.frame.delta.Get("partial_json")
	if !ok || !typ.IsText("input_json_delta") || piece.Kind() != jsonstream.String {
		s.refuse(k, stopgate.CodeProtocolViolation)
		return
	}
	text, direct := piece.TextBytes()
	if !direct {
		s.text = piece.AppendText(s.text[:0])
		text = s.text
	}
	s.feed(k, text)
}

// maxBlocks bounds the state of one response.
const maxBlocks = 1 << 16

// begin handles the start of a block. Blocks start in order and without gaps
// (AM2): a client that puts them into a list would give the deltas behind a gap to
// no block, and run a call without its arguments.
func (s *stream) begin(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case len(s.blocks) == maxBlocks:
		return dst, wire.OverLimit()
	case s.frame.index != len(s.blocks), s.frame.block.Kind() != jsonstream.Object:
		return dst, wire.Malformed(nil)
	}
	b := new(block)
	s.blocks = append(s.blocks, b)
	kind := kindOf(s.frame.block)
	if kind.call() {
		b.call = s.start(s.frame.block, kind)
		if !b.call.refused && s.hold(b.call, len(ev.Data)) {
			b.start = append([]byte(nil), ev.Data...)
		}
		s.queue = append(s.queue, heldEvent{block: b})
		return dst, nil
	}
	s.open++
	b.input = kind == providerInput
	s.noteKind(kind, s.frame.block)
	return s.other(dst, ev, b)
}

// other forwards an event of a block that is no call. If the block began behind a
// call it is held with it (WIRE 4.5).
func (s *stream) other(dst []byte, ev *sse.Event, b *block) ([]byte, error) {
	if len(s.queue) == 0 && s.frame.typ == blockStart {
		b.out, b.written = s.take(), true
	}
	if b.written {
		return appendNamed(dst, ev, s.frame.typ), nil
	}
	return dst, s.keep(ev, b)
}

// keep holds an event back until Release.
func (s *stream) keep(ev *sse.Event, b *block) error {
	own, err := s.copyHeld(ev)
	s.queue = append(s.queue, heldEvent{block: b, typ: s.frame.typ, ev: own})
	return err
}

// copyHeld returns a copy of an event, as far as the limit of what is held allows.
func (s *stream) copyHeld(ev *sse.Event) (sse.Event, error) {
	if s.held+len(ev.Raw) > s.o.MaxHeld {
		return sse.Event{}, wire.OverLimit()
	}
	s.held += len(ev.Raw)
	return ev.Clone(nil), nil
}

// take returns the index of our next block.
func (s *stream) take() int {
	s.next++
	return s.next - 1
}
