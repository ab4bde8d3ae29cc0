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
	args, lines, stuck := s.settle(outcomes)
	if stuck {
		return s.Abort(dst, stopgate.CodeProtocolViolation, stuckMessage), nil
	}
	s.stripped = len(lines) == len(args)
	dst, err := s.writeQueue(dst, args, lines, spill)
	if err != nil {
		return dst, err
	}
	s.waiting = false
	if s.cancelled {
		s.cancelled, s.ended = false, true
		return s.cancelTail(dst), nil
	}
	s.ended = true
	for i := range s.finish {
		s.reread(s.finish[i].Data)
		dst = s.appendMessageDelta(dst, &s.finish[i])
	}
	return dst, nil
}

const stuckMessage = "A call made by code at the provider was not run."

// reread reads our own copy of an event again. It was read before, so this cannot
// fail; if it did, nothing would be found in it.
func (s *stream) reread(data []byte) {
	_ = scan(&s.doc, data, s.o.MaxBytes)
	s.frame.read(s.doc.Root())
}

// writeQueue appends the denial text in the place of the first call, then what
// was held, without the denied calls, densely numbered. Blocks that the upstream
// left open are closed: those in front of the first call before it, the others at
// the end (AM3).
func (s *stream) writeQueue(dst []byte, args [][]byte, lines []string, spill wire.Spill) ([]byte, error) {
	dst = s.closeOpen(dst)
	if s.extra != "" {
		dst = s.denial(dst, s.extra)
	}
	if len(lines) > 0 {
		dst = s.denial(dst, strings.Join(lines, "\n"))
	}
	queue := s.queue
	s.queue, s.held = nil, 0
	var err error
	for i := range queue {
		switch h := &queue[i]; {
		case h.typ != "":
			dst = s.writeHeld(dst, h)
		case args[h.block.call.number] != nil:
			if dst, err = s.survivor(dst, h.block, args[h.block.call.number], spill); err != nil {
				return dst, err
			}
		}
		if dst, err = spill.Over(dst); err != nil {
			return dst, err
		}
	}
	return s.closeOpen(dst), nil
}

// closeOpen stops the blocks that the client has and that are still open.
func (s *stream) closeOpen(dst []byte) []byte {
	if s.open == 0 {
		return dst
	}
	for _, b := range s.blocks {
		if b.written && !b.closed {
			b.closed = true
			s.open--
			dst = stopBlock(dst, b.out)
		}
	}
	return dst
}

// Say implements [wire.Sayer].
func (s *stream) Say(text string) { s.extra += text }

// denial appends a text block.
func (s *stream) denial(dst []byte, text string) []byte {
	index := s.take()
	dst = openBlock(dst, blockStart, index)
	dst = append(dst, `,"content_block":{"type":"text","text":""}}`...)
	dst = sse.AppendClose(dst)
	dst = openBlock(dst, blockDelta, index)
	dst = append(dst, `,"delta":{"type":"text_delta","text":`...)
	dst = append(jsonstream.AppendQuote(dst, text), "}}"...)
	dst = sse.AppendClose(dst)
	return stopBlock(dst, index)
}

// writeHeld appends a held event, a block's under our index.
func (s *stream) writeHeld(dst []byte, h *heldEvent) []byte {
	b := h.block
	if b == nil {
		return appendNamed(dst, &h.ev, h.typ)
	}
	if h.typ == blockStart {
		b.out, b.written = s.take(), true
	}
	s.reread(h.ev.Data)
	if s.frame.index == b.out {
		return appendNamed(dst, &h.ev, h.typ)
	}
	s.edits = s.edits[:0]
	s.reindex(b.out)
	return appendEdited(dst, &h.ev, h.typ, s.edits)
}

// reindex puts our index into the event that was read last.
func (s *stream) reindex(index int) {
	old, _ := s.frame.root.Get("index")
	s.edits.Replace(old, strconv.AppendInt(nil, int64(index), 10))
}

// survivor appends an allowed call: the upstream's first event without its input,
// the text that was judged in pieces, and the stop.
func (s *stream) survivor(dst []byte, b *block, args []byte, spill wire.Spill) ([]byte, error) {
	index := s.take()
	s.reread(b.start)
	s.edits = s.edits[:0]
	s.reindex(index)
	if input, ok := s.frame.block.Get("input"); ok {
		s.edits.Replace(input, emptyObject)
	} else {
		_, end := s.frame.block.Span()
		s.edits.Insert(end-1, []byte(`,"input":{}`))
	}
	dst = appendFrame(dst, blockStart, s.edits.AppendTo(nil, b.start, 0, len(b.start)))
	var err error
	for piece, rest := wire.NextPiece(args); len(piece) > 0; piece, rest = wire.NextPiece(rest) {
		if dst, err = spill.Over(dst); err != nil {
			return dst, err
		}
		dst = openBlock(dst, blockDelta, index)
		dst = append(dst, `,"delta":{"type":"input_json_delta","partial_json":`...)
		dst = append(jsonstream.AppendQuote(dst, piece), "}}"...)
		dst = sse.AppendClose(dst)
	}
	return stopBlock(dst, index), nil
}

// openBlock appends the beginning of an event of ours, up to behind its index.
func openBlock(dst []byte, typ string, index int) []byte {
	dst = sse.AppendOpen(dst, typ)
	dst = append(append(append(dst, `{"type":"`...), typ...), `","index":`...)
	return strconv.AppendInt(dst, int64(index), 10)
}

func stopBlock(dst []byte, index int) []byte {
	return sse.AppendClose(append(openBlock(dst, blockStop, index), '}'))
}

// CanCancel implements [wire.Stream] (WIRE 4.6).
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.open == 0 && !s.over && !s.ended
}

// Cancel implements [wire.Stream].
func (s *stream) Cancel() {
	if !s.CanCancel() {
		return
	}
	s.cancelled, s.tail, s.over = true, true, true
	s.notes.UsageIncomplete = true
	if t := s.notes.Estimate(s.req.Bytes, s.generated); s.notes.UsageEstimated {
		s.usage.estimate(t)
	}
	s.calls.finish(stopgate.Cancelled)
}

// cancelTail appends the end of a response whose upstream was cancelled, with the
// last usage that was seen.
func (s *stream) cancelTail(dst []byte) []byte {
	dst = sse.AppendOpen(dst, "message_delta")
	dst = append(dst, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":`...)
	dst = sse.AppendClose(append(s.usage.appendTo(dst), '}'))
	return sse.AppendEvent(dst, "message_stop", []byte(`{"type":"message_stop"}`))
}
