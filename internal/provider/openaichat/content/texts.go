package content

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Texts finds the texts of completions for event policies.
var Texts = provider.Texts{
	Stream: func(t *provider.TextRewriter) provider.TextStream { return &textStream{TextRewriter: t} },
	Body:   editTexts,
	MayEnd: func(data []byte) bool {
		i := bytes.Index(data, []byte(`"finish_reason"`))
		return i >= 0 && !bytes.HasPrefix(bytes.TrimLeft(data[i+len(`"finish_reason"`):], ": "), []byte("null"))
	},
}

// textStream edits a streamed chat completion.
type textStream struct {
	*provider.TextRewriter
	choices []*textChoice
	head    []byte // common members of inserted chunks, copied from the provider's last chunk
}

// textChoice is one choice. Its texts are separated by calls.
type textChoice struct {
	number    int
	index     int // index of the current text
	open      bool
	over      bool
	raw, sent strings.Builder // the whole text, as received and as sent
}

func (s *textStream) choice(number int) *textChoice {
	for _, c := range s.choices {
		if c.number == number {
			return c
		}
	}
	c := &textChoice{number: number}
	s.choices = append(s.choices, c)
	return c
}

func (s *textStream) Event(dst []byte, ev *sse.Event) ([]byte, error) {
	if old, ok := s.Repeats(ev); ok {
		c := s.choice(s.Key)
		text, err := s.Editor.Text(c.number, c.index, old)
		c.raw.WriteString(old)
		c.sent.WriteString(text)
		if text != old {
			s.EditText(ev, text)
		}
		return s.Write(dst, ev), err
	}
	root, ok := s.Read(ev)
	if !ok {
		if string(ev.Data) == "[DONE]" {
			if err := s.finishAll(); err != nil {
				return dst, err
			}
		}
		return s.Write(dst, ev), nil
	}
	s.keepHead(root)
	choices, _ := root.Get("choices")
	for v := range choices.Elements() {
		if err := s.chunk(v); err != nil {
			return dst, err
		}
	}
	if choices.Len() == 1 && len(s.Inserted) == 0 {
		s.learnText(ev, root, choices)
	}
	return s.Write(dst, ev), nil
}

// learnText remembers a chunk that only continues the text of one choice.
func (s *textStream) learnText(ev *sse.Event, root, choices jsonstream.Value) {
	v, _ := choices.Index(0)
	delta, _ := v.Get("delta")
	content, _ := delta.Get("content")
	reason, _ := v.Get("finish_reason")
	_, copied := v.Get("message")
	_, legacy := v.Get("text")
	logprobs, _ := v.Get("logprobs")
	number := 0
	if index, ok := v.Get("index"); ok {
		number, _ = provider.SmallInt(index)
	}
	if c := s.choice(number); c.open && !c.over && content.Kind() == jsonstream.String && !content.IsText("") &&
		!provider.Present(reason) && !provider.Present(logprobs) && !copied && !legacy && !carriesCall(v) {
		s.Learn(ev, number, content, jsonstream.Value{}, root)
	}
}

// chunk handles one choice of a chunk.
func (s *textStream) chunk(v jsonstream.Value) error {
	number := 0
	if index, ok := v.Get("index"); ok {
		number, _ = provider.SmallInt(index)
	}
	c := s.choice(number)
	edits := len(s.Edits)
	var last jsonstream.Value // last text of the chunk; more text can be appended to it
	var sent string
	pass := func(text jsonstream.Value) error {
		if text.IsText("") {
			return nil
		}
		c.open, last = true, text
		old, now, err := s.Piece(text, number, c.index)
		sent = now
		c.raw.WriteString(old)
		c.sent.WriteString(now)
		return err
	}
	delta, _ := v.Get("delta")
	err := contentTexts(delta, pass)
	if text, ok := v.Get("text"); ok && text.Kind() == jsonstream.String && err == nil { // legacy completions API
		err = pass(text)
	}
	if message, _ := v.Get("message"); message.Kind() == jsonstream.Object && err == nil {
		err = s.copied(c, message, last.IsValid(), pass)
	}
	if err != nil {
		return err
	}
	more := ""
	reason, _ := v.Get("finish_reason")
	finished := reason.Kind() == jsonstream.String && !c.over
	if finished || carriesCall(v) {
		if more, err = s.close(c); err != nil {
			return err
		}
	}
	if c.over = c.over || finished; finished && !s.Editor.DeferEnd(number, c.index, reason.Text(), carriesCall(v)) {
		added, err := s.Editor.Finish(number, c.index, reason.Text())
		if err != nil {
			return err
		}
		more += added
	}
	c.sent.WriteString(more)
	switch {
	case more == "":
	case last.IsValid():
		s.ReplaceLast(last, sent+more)
	default:
		s.insert(number, more)
	}
	if len(s.Edits) > edits {
		s.dropLogprobs(v)
	}
	return nil
}

// copied handles a message next to a delta. Some servers repeat the whole text there. A message
// without a delta is text like any other.
func (s *textStream) copied(c *textChoice, message jsonstream.Value, beside bool, pass func(jsonstream.Value) error) error {
	content, _ := message.Get("content")
	if content.Kind() == jsonstream.String && (beside || content.IsText(c.raw.String())) {
		if sent := c.sent.String(); !content.IsText(sent) {
			s.Edits.Replace(content, jsonstream.AppendQuote(nil, sent))
		}
		return nil
	}
	return contentTexts(message, pass)
}

// dropLogprobs removes the tokens of a changed text.
func (s *textStream) dropLogprobs(choice jsonstream.Value) {
	if v, ok := choice.Get("logprobs"); ok && provider.Present(v) {
		s.Edits.Replace(v, []byte("null"))
	}
}

// close ends the current text of a choice, if any.
func (s *textStream) close(c *textChoice) (more string, err error) {
	if !c.open {
		return "", nil
	}
	c.open = false
	more, err = s.Editor.Complete(c.number, c.index)
	c.index++
	return more, err
}

// finishAll ends the choices without a finish reason at the end of the stream.
func (s *textStream) finishAll() error {
	for _, c := range s.choices {
		if c.over {
			continue
		}
		more, err := s.close(c)
		if err != nil {
			return err
		}
		c.over = true
		added, err := s.Editor.Finish(c.number, c.index, "")
		if err != nil {
			return err
		}
		if more += added; more != "" {
			s.insert(c.number, more)
		}
	}
	return nil
}

// keepHead stores the members that inserted chunks share with the provider's chunks.
func (s *textStream) keepHead(root jsonstream.Value) {
	s.head = append(s.head[:0], '{')
	for _, key := range []string{"id", "object", "created", "model", "system_fingerprint", "service_tier"} {
		if v, ok := root.Get(key); ok {
			s.head = append(append(append(append(append(s.head, '"'), key...), `":`...), v.Raw()...), ',')
		}
	}
}

// insert writes a chunk of text before the current event.
func (s *textStream) insert(choice int, text string) {
	data := append([]byte(nil), s.head...)
	data = strconv.AppendInt(append(data, `"choices":[{"index":`...), int64(choice), 10)
	data = jsonstream.AppendQuote(append(data, `,"delta":{"content":`...), text)
	data = append(data, `},"finish_reason":null}]}`...)
	s.Inserted = sse.AppendEvent(s.Inserted, "", data)
}

// contentTexts calls f with every text of a message or delta. Content is a string or a list of
// parts.
func contentTexts(message jsonstream.Value, f func(jsonstream.Value) error) error {
	content, _ := message.Get("content")
	if content.Kind() == jsonstream.String {
		return f(content)
	}
	for part := range content.Elements() {
		if text, ok := part.Get("text"); ok && text.Kind() == jsonstream.String {
			if err := f(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// carriesCall reports whether a choice of a chunk contains a part of a call.
func carriesCall(choice jsonstream.Value) bool {
	delta, _ := choice.Get("delta")
	list, _ := delta.Get("tool_calls")
	legacy, ok := delta.Get("function_call")
	return list.Len() > 0 || ok && provider.Present(legacy)
}

// editTexts visits the texts of a chat completion.
func editTexts(body []byte, to provider.TextVisitor) ([]byte, error) {
	root, err := jsonstream.Parse(body, provider.EnvelopeOptions(len(body)+1))
	if err != nil {
		return body, nil // the codec rejects it
	}
	var edits provider.Edits
	choices, _ := root.Get("choices")
	for choice := range choices.Elements() {
		number := 0
		if index, ok := choice.Get("index"); ok {
			number, _ = provider.SmallInt(index)
		}
		var last jsonstream.Value
		var was, sent string
		index, changed := 0, false
		put := func() {
			if last.IsValid() && sent != was {
				edits.Replace(last, jsonstream.AppendQuote(nil, sent))
				changed = true
			}
		}
		pass := func(v jsonstream.Value) (err error) {
			put()
			last, was = v, v.Text()
			sent, err = to.Text(number, index, was)
			index++
			return err
		}
		message, _ := choice.Get("message")
		err := contentTexts(message, pass)
		if text, ok := choice.Get("text"); ok && text.Kind() == jsonstream.String && err == nil { // legacy completions API
			err = pass(text)
		}
		if err != nil {
			return nil, err
		}
		calls, _ := message.Get("tool_calls")
		for call := range calls.Elements() {
			to.Pass(number, call, "id")
		}
		if call, ok := message.Get("function_call"); ok && provider.Present(call) {
			to.Pass(number, call, "id")
		}
		reason, _ := choice.Get("finish_reason")
		more, err := to.End(number, reason.Text())
		if err != nil {
			return nil, err
		}
		sent += more
		if put(); !last.IsValid() && more != "" {
			if message.Kind() == jsonstream.Object {
				changed = true
				setContent(&edits, message, more)
			}
		}
		if v, ok := choice.Get("logprobs"); ok && changed && provider.Present(v) {
			edits.Replace(v, []byte("null"))
		}
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}

// setContent adds content to a message without text.
func setContent(edits *provider.Edits, message jsonstream.Value, text string) {
	quoted := jsonstream.AppendQuote(nil, text)
	if content, ok := message.Get("content"); ok {
		edits.Replace(content, quoted)
		return
	}
	from, _ := message.Span()
	if message.Len() > 0 {
		quoted = append(quoted, ',')
	}
	edits.Insert(from+1, append([]byte(`"content":`), quoted...))
}
