package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// The events of a content block.
const (
	blockStart = "content_block_start"
	blockDelta = "content_block_delta"
	blockStop  = "content_block_stop"
)

// block is one content block of the response. Its index at the upstream is its position in
// stream.blocks.
type block struct {
	call         *call // nil: not a call
	carriesInput bool  // not a call, but its deltas carry an input: a tool that runs at the provider
	closed       bool
	written      bool // out is assigned
	out          int  // index in the output
	start        []byte
}

// queuedEvent is an entry of the queue that waits for Release: the position of a call, or
// an event of another block.
type queuedEvent struct {
	block *block // nil: a message_delta without a stop reason
	typ   string // empty: the position of the block's call
	ev    sse.Event
}

// content processes the events of a content block.
func (s *stream) content(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case !s.started || s.frame.index < 0: // the message has not started (AM1)
		return dst, provider.Malformed(nil)
	case s.deltaSeen:
		// A client would keep a message with a block after message_delta, and the provider
		// would refuse it in every later request (AM4).
		s.notes.Dropped++
		return dst, nil
	case s.frame.typ == blockStart:
		return s.startBlock(dst, ev)
	case s.frame.index >= len(s.blocks) || s.blocks[s.frame.index].closed: // the block is not open (AM3)
		return dst, provider.Malformed(nil)
	}
	b := s.blocks[s.frame.index]
	if s.frame.typ == blockStop {
		b.closed = true
		if b.call != nil {
			s.close(b.call)
			return dst, nil
		}
		s.open--
		return s.passOther(dst, ev, b)
	}
	if b.call != nil {
		s.argument(b.call)
		s.learnCall(ev, s.frame.delta, b.call)
		return dst, nil
	}
	if _, carries := s.frame.delta.Get("partial_json"); carries && !b.carriesInput {
		return dst, provider.UnknownCall()
	}
	dst, err := s.passOther(dst, ev, b)
	if b.written {
		s.learnText(ev, s.frame.delta)
	}
	return dst, err
}

// argument passes the arguments of a delta to the gate. A delta of any type other than
// input_json_delta may change the call in an unknown way, so it refuses the call (L14).
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

// maxBlocks limits the state of one response.
const maxBlocks = 1 << 16

// startBlock processes the start of a block. Blocks start in order and without gaps (AM2):
// a client that stores them in a list would lose the deltas after a gap, and run a call
// without its arguments.
func (s *stream) startBlock(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case len(s.blocks) == maxBlocks:
		return dst, provider.LimitExceeded()
	case s.frame.index != len(s.blocks), s.frame.block.Kind() != jsonstream.Object:
		return dst, provider.Malformed(nil)
	}
	b := new(block)
	s.blocks = append(s.blocks, b)
	kind := kindOf(s.frame.block)
	if kind.call() {
		b.call = s.start(s.frame.block, kind)
		if !b.call.refused && s.reserve(b.call, len(ev.Data)) {
			b.start = append([]byte(nil), ev.Data...)
		}
		s.queue = append(s.queue, queuedEvent{block: b})
		return dst, nil
	}
	s.open++
	b.carriesInput = kind == providerCall
	s.noteKind(kind, s.frame.block)
	return s.passOther(dst, ev, b)
}

// passOther forwards an event of a block that is not a call. If the block started after a
// call, the event is buffered with it.
func (s *stream) passOther(dst []byte, ev *sse.Event, b *block) ([]byte, error) {
	if len(s.queue) == 0 && s.frame.typ == blockStart {
		b.out, b.written = s.nextIndex(), true
	}
	if b.written {
		return appendNamed(dst, ev, s.frame.typ), nil
	}
	return dst, s.buffer(ev, b)
}

// buffer adds an event to the queue for Release.
func (s *stream) buffer(ev *sse.Event, b *block) error {
	own, err := s.bufferedCopy(ev)
	s.queue = append(s.queue, queuedEvent{block: b, typ: s.frame.typ, ev: own})
	return err
}

// bufferedCopy copies an event, and fails if the copy exceeds MaxBuffered.
func (s *stream) bufferedCopy(ev *sse.Event) (sse.Event, error) {
	if s.buffered+len(ev.Raw) > s.o.MaxBuffered {
		return sse.Event{}, provider.LimitExceeded()
	}
	s.buffered += len(ev.Raw)
	return ev.Clone(nil), nil
}

// nextIndex returns the output index of the next block.
func (s *stream) nextIndex() int {
	s.next++
	return s.next - 1
}
