package events

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// anthropicStream edits a streamed message.
type anthropicStream struct {
	*translatorBase
	texts []int // indexes of the open text blocks
	next  int   // first unused block index
	over  bool
}

func (s *anthropicStream) event(dst []byte, ev *sse.Event) ([]byte, error) {
	if old, ok := s.repeats(ev); ok {
		text, err := s.run.text(s.ctx, 0, 0, s.of, old)
		if text != old {
			s.edit(ev, text)
		}
		return s.write(dst, ev), err
	}
	root, ok := s.read(ev)
	if !ok {
		return s.write(dst, ev), nil
	}
	typ, _ := root.Get("type")
	at, _ := root.Get("index")
	index, _ := provider.SmallInt(at)
	var err error
	switch {
	case typ.IsText("content_block_start"):
		err = s.begin(root, index)
	case typ.IsText("content_block_delta"):
		delta, _ := root.Get("delta")
		if kind, _ := delta.Get("type"); kind.IsText("text_delta") {
			if text, _ := delta.Get("text"); text.Kind() == jsonstream.String {
				if _, _, err = s.piece(text, 0, index); err == nil {
					s.learn(ev, index, text, jsonstream.Value{}, root)
				}
			}
		}
	case typ.IsText("content_block_stop"):
		err = s.end(index)
	case typ.IsText("message_delta"):
		delta, _ := root.Get("delta")
		if reason, _ := delta.Get("stop_reason"); reason.Kind() == jsonstream.String && !s.over {
			s.over = true
			err = s.finish(reason.Text())
		}
	}
	if err != nil {
		return dst, err
	}
	return s.write(dst, ev), nil
}

// begin handles the start of a block.
func (s *anthropicStream) begin(root jsonstream.Value, index int) error {
	s.next = max(s.next, index+1)
	block, _ := root.Get("content_block")
	if kind, _ := block.Get("type"); !kind.IsText("text") {
		return nil
	}
	s.texts = append(s.texts, index)
	if text, _ := block.Get("text"); text.Kind() == jsonstream.String && !text.IsText("") {
		_, _, err := s.piece(text, 0, index)
		return err
	}
	return nil
}

// end handles the end of a block.
func (s *anthropicStream) end(index int) error {
	for i, n := range s.texts {
		if n != index {
			continue
		}
		s.texts = append(s.texts[:i], s.texts[i+1:]...)
		more, err := s.run.complete(s.ctx, 0, 0, index)
		if more != "" {
			s.insert(index, more)
		}
		return err
	}
	return nil
}

// finish ends the message. Text that policies add becomes a block of its own.
func (s *anthropicStream) finish(reason string) error {
	if s.run.deferEnd(0, s.next, reason, false) {
		return nil
	}
	more, err := s.run.finish(s.ctx, 0, s.next, reason)
	if err != nil || more == "" {
		return err
	}
	n := strconv.Itoa(s.next)
	s.more = sse.AppendEvent(s.more, "content_block_start",
		[]byte(`{"type":"content_block_start","index":`+n+`,"content_block":{"type":"text","text":""}}`))
	s.insert(s.next, more)
	s.more = sse.AppendEvent(s.more, "content_block_stop", []byte(`{"type":"content_block_stop","index":`+n+`}`))
	s.next++
	return nil
}

// insert writes a delta before the current event.
func (s *anthropicStream) insert(index int, text string) {
	data := strconv.AppendInt([]byte(`{"type":"content_block_delta","index":`), int64(index), 10)
	data = jsonstream.AppendQuote(append(data, `,"delta":{"type":"text_delta","text":`...), text)
	s.more = sse.AppendEvent(s.more, "content_block_delta", append(data, "}}"...))
}

// anthropicBody visits the texts of a message.
func anthropicBody(body []byte, to bodySink) ([]byte, error) {
	root, err := jsonstream.Parse(body, provider.EnvelopeOptions(len(body)+1))
	if err != nil {
		return body, nil // the codec rejects it
	}
	var edits provider.Edits
	content, _ := root.Get("content")
	var last jsonstream.Value
	var was, sent string
	put := func() {
		if last.IsValid() && sent != was {
			edits.Replace(last, jsonstream.AppendQuote(nil, sent))
		}
	}
	index := 0
	for block := range content.Elements() {
		kind, _ := block.Get("type")
		text, _ := block.Get("text")
		if kind.IsText("text") && text.Kind() == jsonstream.String {
			put()
			last, was = text, text.Text()
			if sent, err = to.text(&Content{Index: index}, was); err != nil {
				return nil, err
			}
		}
		index++
	}
	reason, _ := root.Get("stop_reason")
	more, err := to.end(0, reason.Text())
	if err != nil {
		return nil, err
	}
	sent += more
	if put(); !last.IsValid() && more != "" && content.Kind() == jsonstream.Array {
		appendElement(&edits, content, append(jsonstream.AppendQuote([]byte(`{"type":"text","text":`), more), '}'))
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}

// appendElement appends an element to an array.
func appendElement(edits *provider.Edits, array jsonstream.Value, text []byte) {
	_, end := array.Span()
	if array.Len() > 0 {
		text = append([]byte{','}, text...)
	}
	edits.Insert(end-1, text)
}
