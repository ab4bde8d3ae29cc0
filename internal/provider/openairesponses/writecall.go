package openairesponses

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// writeCall appends a call according to its outcome.
func (s *writer) writeCall(dst []byte, k *call, o *outcome, flush provider.Flush) ([]byte, error) {
	if o.value == nil {
		return s.message(dst, messageID(k), k.index, o.denial), nil
	}
	var err error
	if !k.kind.Text() {
		if dst, err = s.writeTemplate(dst, itemAdded, k.added, k, o.value, flush); err != nil {
			return dst, err
		}
		return s.writeTemplate(dst, itemDone, k.done, k, o.value, flush)
	}
	delta, whole := argumentsDelta, argumentsDone
	if k.kind == wire.Custom {
		delta, whole = inputDelta, inputDone
	}
	if dst, err = s.writeTemplate(dst, itemAdded, k.added, k, nil, flush); err != nil {
		return dst, err
	}
	inside := o.value[1 : len(o.value)-1]
	for piece, rest := provider.NextQuotedChunk(inside); len(piece) > 0; piece, rest = provider.NextQuotedChunk(rest) {
		dst = append(s.openEvent(dst, delta, k.index, k.item), `,"delta":"`...)
		if dst, err = flush.Write(dst, piece); err != nil {
			return dst, err
		}
		dst = closeEvent(append(dst, '"'))
	}
	dst = s.openEvent(dst, whole, k.index, k.item)
	if k.kind == wire.Function {
		dst = jsonstream.AppendQuote(append(dst, `,"name":`...), k.name)
	}
	dst = append(append(append(dst, `,"`...), k.kind.Member()...), `":`...)
	if dst, err = flush.Write(dst, o.value); err != nil {
		return dst, err
	}
	return s.writeTemplate(closeEvent(dst), itemDone, k.done, k, o.value, flush)
}

// messageID returns the id of the message that replaces a denied call.
func messageID(k *call) string {
	switch {
	case k.item != "":
		return wire.MessagePrefix + k.item
	case k.id != "":
		return wire.MessagePrefix + k.id
	}
	return wire.MessagePrefix + strconv.Itoa(k.index)
}

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

// withoutArgs returns the payload of an item event without the item's arguments.
func (s *writer) withoutArgs(data []byte, item jsonstream.Value, kind wire.Kind) []byte {
	s.edits = s.edits[:0]
	if v, ok := item.Get(kind.Member()); ok {
		s.edits.Replace(v, emptyArgs(kind))
	} else if kind.Text() {
		// Clients append the deltas to this value.
		_, end := item.Span()
		s.edits.Insert(end-1, []byte(`,"`+kind.Member()+`":""`))
	}
	stored := s.edits.AppendTo(nil, data, 0, len(data))
	for i, c := range stored {
		if c == '\n' || c == '\r' { // white space between members
			stored[i] = ' '
		}
	}
	return stored
}

// emptyArgs returns the value that replaces arguments in a template.
func emptyArgs(kind wire.Kind) []byte {
	if kind.Text() {
		return []byte(`""`)
	}
	return []byte(`null`)
}

// itemEvents creates the item events of a call from the terminal event, whose text is data.
func (s *writer) itemEvents(k *call, response jsonstream.Value, data []byte) (added, done []byte) {
	output, _ := response.Get("output")
	v, _ := output.Index(k.index)
	from, to := v.Span()
	s.edits = s.edits[:0]
	if args, ok := v.Get(k.kind.Member()); ok {
		s.edits.Replace(args, emptyArgs(k.kind))
	}
	item := s.edits.AppendTo(nil, data, from, to)
	event := func(typ string) []byte {
		b := s.openBare(typ, k.index)
		return append(append(append(b, `,"item":`...), item...), '}')
	}
	return event(itemAdded), event(itemDone)
}

// openBare returns the start of the payload of an item event, as an upstream that numbers
// its events writes it.
func (s *writer) openBare(typ string, index int) []byte {
	b := s.openEvent(nil, typ, index, "")
	b = b[len(sse.AppendEventStart(nil, typ)):]
	if s.numbered {
		s.next-- // the number is assigned when the event is written
	}
	return b
}

// truncatedItem returns the item of a truncated call for histories, with the members of its
// arguments that were complete; nil if the arguments are unknown.
func (s *writer) truncatedItem(k *call) []byte {
	if !k.kind.Text() || len(k.added) == 0 {
		return nil
	}
	s.readAgain(k.added)
	item, text := s.copied.frame.item, k.prefix
	if k.kind == wire.Function {
		text = provider.CompletePrefix(text)
	}
	var edits provider.Edits
	if v, ok := item.Get(k.kind.Member()); ok {
		edits.Replace(v, jsonstream.AppendQuote(nil, text))
	}
	if v, ok := item.Get("status"); ok {
		edits.Replace(v, []byte(`"completed"`))
	}
	return edits.ApplyTo(item)
}
