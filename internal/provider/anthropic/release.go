package anthropic

import (
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Release implements [provider.Stream].
func (s *stream) Release(dst []byte, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	if !s.cancelled && !s.waiting {
		return dst, nil
	}
	args, lines, programmed := s.settle(outcomes)
	if programmed {
		return s.Abort(dst, stopgate.CodeProtocolViolation, programmedMessage), nil
	}
	s.noCallLeft = len(lines) == len(args)
	dst, err := s.writeQueue(dst, args, lines, flush)
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
		s.readAgain(s.finish[i].Data)
		dst = s.appendMessageDelta(dst, &s.finish[i])
	}
	return dst, nil
}

const programmedMessage = "A call made by code at the provider was not run."

// readAgain parses a buffered copy of an event. The event was parsed before, so this cannot
// fail; if it did, the frame would be empty.
func (s *stream) readAgain(data []byte) {
	_ = scan(&s.doc, data, s.o.MaxBytes)
	s.frame.read(s.doc.Root())
}

// writeQueue appends the denial text in place of the first call, then the queued events
// without the denied calls, with dense indexes (L7). Blocks that the upstream left open are
// closed: those before the first call before it, the others at the end (AM3).
func (s *stream) writeQueue(dst []byte, args [][]byte, lines []string, flush provider.Flush) ([]byte, error) {
	dst = s.closeOpen(dst)
	if s.ownText != "" {
		dst = s.denial(dst, s.ownText)
	}
	if text := provider.JoinDenials(lines); text != "" {
		dst = s.denial(dst, text)
	}
	queue := s.queue
	s.queue, s.buffered = nil, 0
	var err error
	for i := range queue {
		switch h := &queue[i]; {
		case h.typ != "":
			dst = s.writeQueued(dst, h)
		case args[h.block.call.number] != nil:
			if dst, err = s.writeAllowed(dst, h.block, args[h.block.call.number], flush); err != nil {
				return dst, err
			}
		}
		if dst, err = flush.IfFull(dst); err != nil {
			return dst, err
		}
	}
	return s.closeOpen(dst), nil
}

// closeOpen closes the open blocks that the client has received.
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

// AddText implements [provider.TextAdder].
func (s *stream) AddText(_ int, text string) { s.ownText += text }

// denial appends a text block.
func (s *stream) denial(dst []byte, text string) []byte {
	index := s.nextIndex()
	dst = openBlock(dst, blockStart, index)
	dst = append(dst, `,"content_block":{"type":"text","text":""}}`...)
	dst = sse.AppendEventEnd(dst)
	dst = openBlock(dst, blockDelta, index)
	dst = append(dst, `,"delta":{"type":"text_delta","text":`...)
	dst = append(jsonstream.AppendQuote(dst, text), "}}"...)
	dst = sse.AppendEventEnd(dst)
	return stopBlock(dst, index)
}

// writeQueued appends a queued event with its output index.
func (s *stream) writeQueued(dst []byte, h *queuedEvent) []byte {
	b := h.block
	if b == nil {
		return appendNamed(dst, &h.ev, h.typ)
	}
	if h.typ == blockStart {
		b.out, b.written = s.nextIndex(), true
	}
	s.readAgain(h.ev.Data)
	if s.frame.index == b.out {
		return appendNamed(dst, &h.ev, h.typ)
	}
	s.edits = s.edits[:0]
	s.reindex(b.out)
	return appendEdited(dst, &h.ev, h.typ, s.edits)
}

// reindex adds the edit that sets the index of the event that was read last.
func (s *stream) reindex(index int) {
	old, _ := s.frame.root.Get("index")
	s.edits.Replace(old, strconv.AppendInt(nil, int64(index), 10))
}

// writeAllowed appends an allowed call: the upstream's first event without its input, the
// evaluated arguments in chunks, and the stop.
func (s *stream) writeAllowed(dst []byte, b *block, args []byte, flush provider.Flush) ([]byte, error) {
	index := s.nextIndex()
	s.readAgain(b.start)
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
	for piece, rest := provider.NextChunk(args); len(piece) > 0; piece, rest = provider.NextChunk(rest) {
		if dst, err = flush.IfFull(dst); err != nil {
			return dst, err
		}
		dst = openBlock(dst, blockDelta, index)
		dst = append(dst, `,"delta":{"type":"input_json_delta","partial_json":`...)
		dst = append(jsonstream.AppendQuote(dst, piece), "}}"...)
		dst = sse.AppendEventEnd(dst)
	}
	return stopBlock(dst, index), nil
}

// openBlock appends the start of an event, up to its index.
func openBlock(dst []byte, typ string, index int) []byte {
	dst = sse.AppendEventStart(dst, typ)
	dst = append(append(append(dst, `{"type":"`...), typ...), `","index":`...)
	return strconv.AppendInt(dst, int64(index), 10)
}

func stopBlock(dst []byte, index int) []byte {
	return sse.AppendEventEnd(append(openBlock(dst, blockStop, index), '}'))
}

// CanCancel implements [provider.Stream].
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.open == 0 && !s.finished && !s.ended
}

// CanStop implements [provider.Stream].
func (s *stream) CanStop() bool { return s.started && !s.unexpected && !s.finished && !s.ended }

// Cancel implements [provider.Stream].
func (s *stream) Cancel() {
	if !s.CanStop() {
		return
	}
	s.cancelled, s.deltaSeen, s.finished = true, true, true
	s.notes.UsageIncomplete = true
	if t := s.notes.EstimateUsage(s.req.Bytes, s.generated); s.notes.UsageEstimated {
		s.usage.estimate(t)
	}
	s.calls.finish(stopgate.Cancelled)
}

// cancelTail appends the end of a response whose upstream was cancelled, with the last
// known usage.
func (s *stream) cancelTail(dst []byte) []byte {
	dst = sse.AppendEventStart(dst, "message_delta")
	dst = append(dst, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":`...)
	dst = sse.AppendEventEnd(append(s.usage.appendTo(dst), '}'))
	return sse.AppendEvent(dst, "message_stop", []byte(`{"type":"message_stop"}`))
}
