package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// numbering gives events their sequence numbers: the upstream's until something
// is held, our own from then on (WIRE 3.5).
type numbering struct {
	next     int  // the number of our next event
	numbered bool // the upstream numbers its events
	ours     bool // numbers are our own
}

// appendNext appends the member with the number of an event of ours. An upstream
// that does not number its events gets none of ours numbered either.
func (s *stream) appendNext(dst []byte) []byte {
	if s.begun && !s.numbered {
		return dst
	}
	dst = append(dst, `,"sequence_number":`...)
	dst = strconv.AppendInt(dst, int64(s.next), 10)
	s.next++
	return dst
}

// write appends the event that was read last, under our number if they are ours.
func (s *stream) write(dst []byte, ev *sse.Event) []byte {
	s.edits = s.edits[:0]
	dst, _ = s.writeEdited(dst, ev, &s.frame, nil)
	return dst
}

// writeEdited appends an event with the collected edits and its number.
func (s *stream) writeEdited(dst []byte, ev *sse.Event, f *frame, spill wire.Spill) ([]byte, error) {
	if f.seq.IsValid() {
		n, ok := wire.Small(f.seq)
		switch {
		case !s.ours && ok:
			s.next, s.numbered = n+1, true
		case s.ours:
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
	if !ev.OneLine() {
		spill = nil // the payload is looked at again
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst, err := s.edits.Through(dst, ev.Data, spill)
	return ev.AppendTail(dst, payload), err
}

// open appends the beginning of an event of ours about an item, up to its next
// member.
func (s *stream) open(dst []byte, typ string, index int, itemID string) []byte {
	dst = sse.AppendOpen(dst, typ)
	dst = append(append(append(dst, `{"type":"`...), typ...), `","output_index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	if itemID != "" {
		dst = append(dst, `,"item_id":`...)
		dst = jsonstream.AppendQuote(dst, itemID)
	}
	return s.appendNext(dst)
}

// shut appends the end of an event of ours.
func shut(dst []byte) []byte { return sse.AppendClose(append(dst, '}')) }

// template appends an event of a call from the upstream's own, which was kept
// without arguments, with args as the value of their member.
func (s *stream) template(dst []byte, typ string, kept []byte, k *call, args []byte, spill wire.Spill) ([]byte, error) {
	s.reread(kept)
	f := &s.kept.frame
	s.edits = s.edits[:0]
	if v, ok := f.item.Get(k.kind.member()); ok && args != nil {
		s.edits.Replace(v, args)
	}
	if f.seq.IsValid() {
		s.edits.Replace(f.seq, strconv.AppendInt(nil, int64(s.next), 10))
		s.next++
	}
	dst, err := s.edits.Through(sse.AppendOpen(dst, typ), kept, spill)
	return sse.AppendClose(dst), err
}

// messageID is the id of the message that stands for a denied call (WIRE 3.5).
func messageID(k *call) string {
	switch {
	case k.item != "":
		return MessagePrefix + k.item
	case k.id != "":
		return MessagePrefix + k.id
	}
	return MessagePrefix + strconv.Itoa(k.index)
}

// MessagePrefix begins the id of every message that stands for a denied call.
const MessagePrefix = "msg_stopgate_"

// appendMessage appends a message item of ours.
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

// message appends the events of a message of ours, such as stands for a denied call.
func (s *stream) message(dst []byte, id string, index int, text string) []byte {
	part := string(appendPart(nil, text))
	quoted := jsonstream.AppendQuote(nil, text)
	dst = append(s.open(dst, itemAdded, index, ""), `,"item":`...)
	dst = shut(appendMessage(dst, id, "in_progress", ""))
	dst = append(s.open(dst, "response.content_part.added", index, id), `,"content_index":0,"part":`...)
	dst = shut(appendPart(dst, ""))
	dst = append(s.open(dst, textDelta, index, id), `,"content_index":0,"logprobs":[],"delta":`...)
	dst = shut(append(dst, quoted...))
	dst = append(s.open(dst, "response.output_text.done", index, id), `,"content_index":0,"logprobs":[],"text":`...)
	dst = shut(append(dst, quoted...))
	dst = append(s.open(dst, "response.content_part.done", index, id), `,"content_index":0,"part":`...)
	dst = shut(append(dst, part...))
	dst = append(s.open(dst, itemDone, index, ""), `,"item":`...)
	return shut(appendMessage(dst, id, "completed", part))
}
