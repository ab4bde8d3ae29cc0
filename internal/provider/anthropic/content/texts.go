package content

import (
	"bytes"
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Texts finds the texts of messages for event policies.
var Texts = provider.Texts{
	Stream: func(t *provider.TextRewriter) provider.TextStream { return &textStream{TextRewriter: t} },
	Body:   editTexts,
	MayEnd: func(data []byte) bool { return bytes.Contains(data, []byte(`"message_delta"`)) },
}

// textStream edits a streamed message.
type textStream struct {
	*provider.TextRewriter
	texts []int // indexes of the open text blocks
	next  int   // first unused block index
	over  bool
}

func (s *textStream) Event(dst []byte, ev *sse.Event) ([]byte, error) {
	if old, ok := s.Repeats(ev); ok {
		text, err := s.Editor.Text(0, s.Key, old)
		if text != old {
			s.EditText(ev, text)
		}
		return s.Write(dst, ev), err
	}
	root, ok := s.Read(ev)
	if !ok {
		return s.Write(dst, ev), nil
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
				if _, _, err = s.Piece(text, 0, index); err == nil {
					s.Learn(ev, index, text, jsonstream.Value{}, root)
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
	return s.Write(dst, ev), nil
}

// begin handles the start of a block.
func (s *textStream) begin(root jsonstream.Value, index int) error {
	s.next = max(s.next, index+1)
	block, _ := root.Get("content_block")
	if kind, _ := block.Get("type"); !kind.IsText("text") {
		return nil
	}
	s.texts = append(s.texts, index)
	if text, _ := block.Get("text"); text.Kind() == jsonstream.String && !text.IsText("") {
		_, _, err := s.Piece(text, 0, index)
		return err
	}
	return nil
}

// end handles the end of a block.
func (s *textStream) end(index int) error {
	for i, n := range s.texts {
		if n != index {
			continue
		}
		s.texts = append(s.texts[:i], s.texts[i+1:]...)
		more, err := s.Editor.Complete(0, index)
		if more != "" {
			s.insert(index, more)
		}
		return err
	}
	return nil
}

// finish ends the message. Text that policies add becomes a block of its own.
func (s *textStream) finish(reason string) error {
	if s.Editor.DeferEnd(0, s.next, reason, false) {
		return nil
	}
	more, err := s.Editor.Finish(0, s.next, reason)
	if err != nil || more == "" {
		return err
	}
	n := strconv.Itoa(s.next)
	s.Inserted = sse.AppendEvent(s.Inserted, "content_block_start",
		[]byte(`{"type":"content_block_start","index":`+n+`,"content_block":{"type":"text","text":""}}`))
	s.insert(s.next, more)
	s.Inserted = sse.AppendEvent(s.Inserted, "content_block_stop", []byte(`{"type":"content_block_stop","index":`+n+`}`))
	s.next++
	return nil
}

// insert writes a delta before the current event.
func (s *textStream) insert(index int, text string) {
	data := strconv.AppendInt([]byte(`{"type":"content_block_delta","index":`), int64(index), 10)
	data = jsonstream.AppendQuote(append(data, `,"delta":{"type":"text_delta","text":`...), text)
	s.Inserted = sse.AppendEvent(s.Inserted, "content_block_delta", append(data, "}}"...))
}

// editTexts visits the texts of a message.
func editTexts(body []byte, to provider.TextVisitor) ([]byte, error) {
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
			if sent, err = to.Text(0, index, was); err != nil {
				return nil, err
			}
		} else if _, named := block.Get("name"); named {
			to.Pass(0, block, "id")
		}
		index++
	}
	reason, _ := root.Get("stop_reason")
	more, err := to.End(0, reason.Text())
	if err != nil {
		return nil, err
	}
	sent += more
	if put(); !last.IsValid() && more != "" && content.Kind() == jsonstream.Array {
		edits.AppendElements(content, append(jsonstream.AppendQuote([]byte(`{"type":"text","text":`), more), '}'))
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}
