package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// writer writes the events of a response with their sequence numbers: the upstream's until an
// event is buffered, the gate's from then on.
type writer struct {
	edits    provider.Edits // of the event that is written; reused
	copied   parsedCopy
	maxBytes int // of an event

	started  bool // response.created was received
	next     int  // number of the next event of the gate
	numbered bool // the upstream numbers its events
	renumber bool // the gate assigns numbers
}

// parsedCopy is a buffered copy of an event, parsed again.
type parsedCopy struct {
	doc   jsonstream.Document
	frame frame
}

// appendNext appends the member with the number of an event, if the upstream numbers its
// events.
func (s *writer) appendNext(dst []byte) []byte {
	if s.started && !s.numbered {
		return dst
	}
	dst = append(dst, `,"sequence_number":`...)
	dst = strconv.AppendInt(dst, int64(s.next), 10)
	s.next++
	return dst
}

// writeEdited appends an event with the collected edits and its number.
func (s *writer) writeEdited(dst []byte, ev *sse.Event, f *frame, flush provider.Flush) ([]byte, error) {
	if f.seq.IsValid() {
		n, ok := provider.SmallInt(f.seq)
		switch {
		case !s.renumber && ok:
			s.next, s.numbered = n+1, true
		case s.renumber:
			s.numbered = true
			if !ok || n != s.next {
				s.edits.Replace(f.seq, strconv.AppendInt(nil, int64(s.next), 10))
			}
			s.next++
		}
	}
	if len(s.edits) == 0 {
		return ev.AppendTo(dst), nil
	}
	if !ev.KeepsFraming() {
		flush = nil // AppendTail reads the payload again
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst, err := s.edits.AppendFlushing(dst, ev.Data, flush)
	return ev.AppendTail(dst, payload), err
}

// openEvent appends the start of an event about an item, up to its next member.
func (s *writer) openEvent(dst []byte, typ string, index int, itemID string) []byte {
	dst = sse.AppendEventStart(dst, typ)
	dst = append(append(append(dst, `{"type":"`...), typ...), `","output_index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	if itemID != "" {
		dst = append(dst, `,"item_id":`...)
		dst = jsonstream.AppendQuote(dst, itemID)
	}
	return s.appendNext(dst)
}

// closeEvent appends the end of an event.
func closeEvent(dst []byte) []byte { return sse.AppendEventEnd(append(dst, '}')) }

// writeTemplate appends an event of a call from the upstream's own event, which was stored
// without arguments, with args as the value of their member.
func (s *writer) writeTemplate(dst []byte, typ string, stored []byte, k *call, args []byte, flush provider.Flush) ([]byte, error) {
	s.readAgain(stored)
	f := &s.copied.frame
	s.edits = s.edits[:0]
	if v, ok := f.item.Get(k.kind.Member()); ok && args != nil {
		s.edits.Replace(v, args)
	}
	if f.seq.IsValid() {
		s.edits.Replace(f.seq, strconv.AppendInt(nil, int64(s.next), 10))
		s.next++
	}
	dst, err := s.edits.AppendFlushing(sse.AppendEventStart(dst, typ), stored, flush)
	return sse.AppendEventEnd(dst), err
}

// message appends the events of a message, such as one that replaces a denied call.
func (s *writer) message(dst []byte, id string, index int, text string) []byte {
	part := string(appendPart(nil, text))
	quoted := jsonstream.AppendQuote(nil, text)
	dst = append(s.openEvent(dst, itemAdded, index, ""), `,"item":`...)
	dst = closeEvent(appendMessage(dst, id, "in_progress", ""))
	dst = append(s.openEvent(dst, "response.content_part.added", index, id), `,"content_index":0,"part":`...)
	dst = closeEvent(appendPart(dst, ""))
	dst = append(s.openEvent(dst, textDelta, index, id), `,"content_index":0,"logprobs":[],"delta":`...)
	dst = closeEvent(append(dst, quoted...))
	dst = append(s.openEvent(dst, "response.output_text.done", index, id), `,"content_index":0,"logprobs":[],"text":`...)
	dst = closeEvent(append(dst, quoted...))
	dst = append(s.openEvent(dst, "response.content_part.done", index, id), `,"content_index":0,"part":`...)
	dst = closeEvent(append(dst, part...))
	dst = append(s.openEvent(dst, itemDone, index, ""), `,"item":`...)
	return closeEvent(appendMessage(dst, id, "completed", part))
}

// readAgain parses a buffered copy of an event. The event was parsed before, so this cannot
// fail; if it did, the frame would be empty.
func (s *writer) readAgain(data []byte) {
	_ = scan(&s.copied.doc, data, s.maxBytes, nil)
	s.copied.frame.read(s.copied.doc.Root())
}
