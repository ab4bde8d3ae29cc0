package anthropic

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// Release implements [wire.Stream] (WIRE 4.6).
func (s *stream) Release(dst []byte, outcomes []wire.Release, spill wire.Spill) ([]byte, error) {
	if !s.cancelled && !s.waiting {
		return dst, nil
	}
	released, lines, stuck := s.settleAll(outcomes)
	s.pending = 0
	if stuck {
		// The provider's container waits for this call's result (WIRE 4.7).
		s.waiting, s.cancelled = false, false
		return s.Abort(dst, stopgate.CodeProtocolViolation, "A call made by code at the provider was not run."), nil
	}
	s.stripped = len(released) == 0
	dst, err := s.writeQueue(dst, released, lines, spill)
	if err != nil {
		return dst, err
	}
	if s.cancelled {
		s.cancelled, s.ended = false, true
		return s.cancelTail(dst), nil
	}
	s.waiting = false
	// The same text again, so this cannot fail: the values stand in our own copy.
	if err := s.doc.Scan(s.finish.Data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, wire.Malformed(err)
	}
	s.frame.read(s.doc.Root())
	return s.appendMessageDelta(dst, &s.finish), nil
}

// settleAll finds the outcome of every call: the arguments of the survivors, and
// a line for each of the others. stuck: one of them was called by the provider.
func (s *stream) settleAll(outcomes []wire.Release) (released map[*call][]byte, lines []string, stuck bool) {
	released = make(map[*call][]byte, len(s.list))
	for _, k := range s.list {
		args, line := s.settle(k, outcomes)
		if args == nil {
			lines = append(lines, line)
			stuck = stuck || k.programmed
			continue
		}
		released[k] = args
	}
	return released, lines, stuck
}

// writeQueue appends the denial text in the place of the first call, then what
// was held, without the denied calls, densely numbered.
func (s *stream) writeQueue(dst []byte, released map[*call][]byte, lines []string, spill wire.Spill) ([]byte, error) {
	if len(lines) > 0 {
		dst = s.denial(dst, strings.Join(lines, "\n"))
	}
	queue := s.queue
	s.queue = nil
	for _, item := range queue {
		var err error
		switch {
		case item.data != nil:
			dst, err = s.writeHeld(dst, item, spill)
		case released[item.block.call] != nil:
			dst, err = s.survivor(dst, item.block, released[item.block.call], spill)
		}
		if err != nil {
			return dst, err
		}
	}
	s.held = 0
	return dst, nil
}

// denial appends a text block.
func (s *stream) denial(dst []byte, text string) []byte {
	index := s.take()
	dst = openBlock(dst, "content_block_start", index)
	dst = append(dst, `,"content_block":{"type":"text","text":""}}`...)
	dst = sse.AppendClose(dst)
	dst = openBlock(dst, "content_block_delta", index)
	dst = append(dst, `,"delta":{"type":"text_delta","text":`...)
	dst = append(jsonstream.AppendQuote(dst, text), "}}"...)
	dst = sse.AppendClose(dst)
	return stopBlock(dst, index)
}

// take returns the index of our next block.
func (s *stream) take() int {
	s.next++
	return s.next - 1
}

// writeHeld appends a held event of another block under our index.
func (s *stream) writeHeld(dst []byte, item heldItem, spill wire.Spill) ([]byte, error) {
	if item.block == nil {
		return appendFrame(dst, item.typ, item.data), nil
	}
	if item.typ == "content_block_start" {
		item.block.out = s.take() + 1
	}
	dst, err := s.reindex(dst, item.typ, item.data, item.block.out-1, false)
	if err != nil {
		return dst, err
	}
	return spill.Over(dst)
}

// reindex appends a payload of the upstream with our index, and for a call with
// an empty input: its arguments follow in deltas.
func (s *stream) reindex(dst []byte, typ string, data []byte, index int, call bool) ([]byte, error) {
	if err := s.doc.Scan(data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, wire.Malformed(err) // the same text was read before
	}
	s.edits = s.edits[:0]
	old, _ := s.doc.Root().Get("index")
	s.edits.Replace(old, strconv.AppendInt(nil, int64(index), 10))
	if call {
		b, _ := s.doc.Root().Get("content_block")
		if input, ok := b.Get("input"); ok {
			s.edits.Replace(input, emptyObject)
		} else {
			_, end := b.Span()
			s.edits.Insert(end-1, []byte(`,"input":{}`))
		}
	}
	return appendFrame(dst, typ, s.edits.AppendTo(nil, data, 0, len(data))), nil
}

// survivor appends an allowed call: the upstream's first event, the text that was
// judged in pieces, and the stop.
func (s *stream) survivor(dst []byte, b *block, args []byte, spill wire.Spill) ([]byte, error) {
	index := s.take()
	dst, err := s.reindex(dst, "content_block_start", b.start, index, true)
	if err != nil {
		return dst, err
	}
	for piece, rest := wire.NextPiece(args); len(piece) > 0; piece, rest = wire.NextPiece(rest) {
		if dst, err = spill.Over(dst); err != nil {
			return dst, err
		}
		dst = openBlock(dst, "content_block_delta", index)
		dst = append(dst, `,"delta":{"type":"input_json_delta","partial_json":`...)
		dst = append(jsonstream.AppendQuote(dst, piece), "}}"...)
		dst = sse.AppendClose(dst)
	}
	return spill.Over(stopBlock(dst, index))
}

// openBlock appends the beginning of an event of ours, up to behind its index.
func openBlock(dst []byte, typ string, index int) []byte {
	dst = sse.AppendOpen(dst, typ)
	dst = append(append(append(dst, `{"type":"`...), typ...), `","index":`...)
	return strconv.AppendInt(dst, int64(index), 10)
}

func stopBlock(dst []byte, index int) []byte {
	return sse.AppendClose(append(openBlock(dst, "content_block_stop", index), '}'))
}

// CanCancel implements [wire.Stream] (WIRE 4.6).
func (s *stream) CanCancel() bool {
	if s.pending == 0 || s.over || s.ended || s.cancelled {
		return false
	}
	for _, b := range s.blocks {
		if b.call == nil && !b.closed {
			return false
		}
	}
	return true
}

// Cancel implements [wire.Stream].
func (s *stream) Cancel() {
	if !s.CanCancel() {
		return
	}
	s.cancelled, s.over = true, true
	s.notes.UsageIncomplete = true
	s.calls.finish(stopgate.Cancelled)
}

// cancelTail appends the end of a response whose upstream was cancelled, with the
// last usage that was seen.
func (s *stream) cancelTail(dst []byte) []byte {
	dst = sse.AppendOpen(dst, "message_delta")
	dst = append(dst, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":`...)
	if len(s.usage) == 0 {
		s.usage = append(s.usage, '0')
	}
	dst = sse.AppendClose(append(append(dst, s.usage...), "}}"...))
	return sse.AppendEvent(dst, "message_stop", []byte(`{"type":"message_stop"}`))
}
