package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// numbering assigns the sequence numbers of events: the upstream's until an event is
// buffered, the gate's from then on.
type numbering struct {
	next     int  // number of the next event of the gate
	numbered bool // the upstream numbers its events
	renumber bool // the gate assigns numbers
}

// appendNext appends the member with the number of an event. If the upstream does not
// number its events, it appends nothing.
func (s *stream) appendNext(dst []byte) []byte {
	if s.started && !s.numbered {
		return dst
	}
	dst = append(dst, `,"sequence_number":`...)
	dst = strconv.AppendInt(dst, int64(s.next), 10)
	s.next++
	return dst
}

// write appends the event that was read last, with its number.
func (s *stream) write(dst []byte, ev *sse.Event) []byte {
	s.edits = s.edits[:0]
	dst, _ = s.writeEdited(dst, ev, &s.frame, nil)
	return dst
}

// writeEdited appends an event with the collected edits and its number.
func (s *stream) writeEdited(dst []byte, ev *sse.Event, f *frame, flush provider.Flush) ([]byte, error) {
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
func (s *stream) openEvent(dst []byte, typ string, index int, itemID string) []byte {
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
func (s *stream) writeTemplate(dst []byte, typ string, stored []byte, k *call, args []byte, flush provider.Flush) ([]byte, error) {
	s.readAgain(stored)
	f := &s.copied.frame
	s.edits = s.edits[:0]
	if v, ok := f.item.Get(k.kind.member()); ok && args != nil {
		s.edits.Replace(v, args)
	}
	if f.seq.IsValid() {
		s.edits.Replace(f.seq, strconv.AppendInt(nil, int64(s.next), 10))
		s.next++
	}
	dst, err := s.edits.AppendFlushing(sse.AppendEventStart(dst, typ), stored, flush)
	return sse.AppendEventEnd(dst), err
}

// messageID returns the id of the message that replaces a denied call.
func messageID(k *call) string {
	switch {
	case k.item != "":
		return MessagePrefix + k.item
	case k.id != "":
		return MessagePrefix + k.id
	}
	return MessagePrefix + strconv.Itoa(k.index)
}

// MessagePrefix is the prefix of the ids of messages that replace denied calls.
const MessagePrefix = "msg_stopgate_"

// appendMessage appends a message item.
func appendMessage(dst []byte, id, status, part string) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonstream.AppendQuote(dst, id)
	dst = append(append(dst, `,"type":"message","status":"`...), status...)
	dst = append(dst, `","role":"assistant","content":[`...)
	return append(append(dst, part...), "]}"...)
}

// appendPart appends the content part of such a message.
func appendPart(dst []byte, text string) []byte {
	dst = append(dst, `{"type":"output_text","annotations":[],"logprobs":[],"text":`...)
	return append(jsonstream.AppendQuote(dst, text), '}')
}

// message appends the events of a message, such as one that replaces a denied call.
func (s *stream) message(dst []byte, id string, index int, text string) []byte {
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
