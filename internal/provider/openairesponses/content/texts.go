package content

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Texts finds the texts of responses for event policies.
var Texts = provider.Texts{
	Stream: func(t *provider.TextRewriter) provider.TextStream { return &textStream{TextRewriter: t} },
	Body:   editTexts,
	MayEnd: mayEnd,
}

func mayEnd(data []byte) bool {
	for _, typ := range [...]string{`"response.completed"`, `"response.incomplete"`, `"response.failed"`} {
		if bytes.Contains(data, []byte(typ)) {
			return true
		}
	}
	return false
}

// textStream edits a streamed response of the Responses API. A text occurs in it up to five
// times: in its deltas, and as a whole at the end of the text, its part, its item and the response.
// All copies are edited consistently.
type textStream struct {
	*provider.TextRewriter
	texts []*responseText
	next  int // first unused output index
	added int // number of inserted events, by which sequence numbers are shifted
	over  bool
	extra *addition
}

// responseText is one text.
type responseText struct {
	item, part int
	id         string // id of the item
	raw, sent  strings.Builder
	done       bool
}

func (s *textStream) text(root jsonstream.Value) *responseText {
	at, _ := root.Get("output_index")
	item, _ := provider.SmallInt(at)
	at, _ = root.Get("content_index")
	part, _ := provider.SmallInt(at)
	if t := s.find(item, part); t != nil {
		return t
	}
	s.next = max(s.next, item+1)
	id, _ := root.Get("item_id")
	t := &responseText{item: item, part: part, id: id.Text()}
	s.texts = append(s.texts, t)
	return t
}

func (s *textStream) find(item, part int) *responseText {
	for _, t := range s.texts {
		if t.item == item && t.part == part {
			return t
		}
	}
	return nil
}

func (s *textStream) Event(dst []byte, ev *sse.Event) ([]byte, error) {
	if old, ok := s.Repeats(ev); ok {
		t := s.texts[s.Key]
		text, err := s.Editor.Text(0, t.key(), old)
		t.raw.WriteString(old)
		t.sent.WriteString(text)
		if text != old {
			s.EditText(ev, text)
		}
		return s.Write(dst, ev), err
	}
	root, ok := s.Read(ev)
	if !ok {
		return s.Write(dst, ev), nil
	}
	if at, ok := root.Get("output_index"); ok {
		n, _ := provider.SmallInt(at)
		s.next = max(s.next, n+1)
	}
	typ, _ := root.Get("type")
	var err error
	switch name := typ.Text(); name {
	case "response.output_text.delta":
		if err = s.delta(root); err == nil && s.added == 0 {
			s.learnText(ev, root)
		}
	case "response.output_text.done":
		err = s.done(root)
	case "response.content_part.done":
		part, _ := root.Get("part")
		err = s.restate(part, s.text(root))
	case "response.output_item.done":
		item, _ := root.Get("item")
		at, _ := root.Get("output_index")
		n, _ := provider.SmallInt(at)
		err = s.restateItem(item, n)
	case "response.completed", "response.incomplete", "response.failed":
		err = s.finish(root, name)
	}
	if err != nil {
		return dst, err
	}
	if s.added > 0 {
		s.renumber(root)
	}
	return s.Write(dst, ev), nil
}

// learnText remembers an event that only continues a text.
func (s *textStream) learnText(ev *sse.Event, root jsonstream.Value) {
	delta, _ := root.Get("delta")
	seq, _ := root.Get("sequence_number")
	if logprobs, _ := root.Get("logprobs"); logprobs.Len() == 0 && delta.Kind() == jsonstream.String {
		t := s.text(root)
		s.Learn(ev, slices.Index(s.texts, t), delta, seq, root)
	}
}

// renumber shifts the sequence number of the upstream's event by the number of inserted events.
func (s *textStream) renumber(root jsonstream.Value) {
	if seq, ok := root.Get("sequence_number"); ok {
		if n, ok := provider.SmallInt(seq); ok {
			s.Edits.Replace(seq, strconv.AppendInt(nil, int64(n+s.added), 10))
		}
	}
}

// delta handles a chunk of a text.
func (s *textStream) delta(root jsonstream.Value) error {
	v, _ := root.Get("delta")
	if v.Kind() != jsonstream.String {
		return nil
	}
	t := s.text(root)
	old, sent, err := s.Piece(v, 0, t.key())
	t.raw.WriteString(old)
	t.sent.WriteString(sent)
	if old != sent {
		dropTokens(&s.Edits, root)
	}
	return err
}

// key returns the index of a text for hooks.
func (t *responseText) key() int { return t.item<<8 | t.part&0xff }

// done handles the end of a text. Text that did not arrive in deltas is passed to the policies now.
func (s *textStream) done(root jsonstream.Value) error {
	v, _ := root.Get("text")
	if v.Kind() != jsonstream.String {
		return nil
	}
	t, whole := s.text(root), v.Text()
	more, err := s.settle(t, whole)
	if err != nil {
		return err
	}
	if more != "" {
		s.insertDelta(root, t.id, t.item, t.part, more)
	}
	if sent := t.sent.String(); sent != whole {
		s.Edits.Replace(v, jsonstream.AppendQuote(nil, sent))
		dropTokens(&s.Edits, root)
	}
	return nil
}

// settle ends a text whose whole content is known. Text that did not arrive in deltas is passed to
// the policies now. more is the text that policies append; clients read the rest in the copies, as
// with the provider.
func (s *textStream) settle(t *responseText, whole string) (more string, err error) {
	if t.done {
		return "", nil
	}
	t.done = true
	if rest, ok := strings.CutPrefix(whole, t.raw.String()); ok && rest != "" {
		sent, err := s.Editor.Text(0, t.key(), rest)
		if err != nil {
			return "", err
		}
		t.raw.WriteString(rest)
		t.sent.WriteString(sent)
	}
	if more, err = s.Editor.Complete(0, t.key()); err == nil {
		t.sent.WriteString(more)
	}
	return more, err
}

// dropTokens removes the tokens of a changed text.
func dropTokens(edits *provider.Edits, v jsonstream.Value) {
	if list, ok := v.Get("logprobs"); ok && list.Kind() == jsonstream.Array {
		edits.Replace(list, []byte("[]"))
	}
}

// restate writes the edited text into another copy.
func (s *textStream) restate(part jsonstream.Value, t *responseText) error {
	kind, _ := part.Get("type")
	text, _ := part.Get("text")
	if !kind.IsText("output_text") || text.Kind() != jsonstream.String {
		return nil
	}
	if _, err := s.settle(t, text.Text()); err != nil {
		return err
	}
	if sent := t.sent.String(); !text.IsText(sent) {
		s.Edits.Replace(text, jsonstream.AppendQuote(nil, sent))
		dropTokens(&s.Edits, part)
	}
	return nil
}

func (s *textStream) restateItem(item jsonstream.Value, n int) error {
	content, _ := item.Get("content")
	part := 0
	for p := range content.Elements() {
		t := s.find(n, part)
		if t == nil {
			t = &responseText{item: n, part: part}
			s.texts = append(s.texts, t)
		}
		if err := s.restate(p, t); err != nil {
			return err
		}
		part++
	}
	return nil
}

// finish ends the response. Text that policies add becomes an item of its own.
func (s *textStream) finish(root jsonstream.Value, name string) error {
	if s.over {
		return nil
	}
	s.over = true
	response, _ := root.Get("response")
	reason := strings.TrimPrefix(name, "response.")
	if details, ok := response.Get("incomplete_details"); ok {
		if why, ok := details.Get("reason"); ok && provider.Present(why) {
			reason = why.Text()
		}
	}
	output, _ := response.Get("output")
	n := 0
	for item := range output.Elements() {
		if err := s.restateItem(item, n); err != nil {
			return err
		}
		n++
	}
	s.next = max(s.next, n)
	var more string
	if !s.Editor.DeferEnd(0, s.next<<8, reason, false) {
		var err error
		if more, err = s.Editor.Finish(0, s.next<<8, reason); err != nil {
			return err
		}
	}
	if more != "" {
		id, _ := response.Get("id")
		s.extra = &addition{id: "msg_stopgate_end_" + id.Text(), text: more}
		s.insertItem(root)
		if output.Kind() == jsonstream.Array {
			s.Edits.AppendElements(output, s.extra.item("completed"))
		}
	}
	if output, ok := response.Get("output_text"); ok && output.Kind() == jsonstream.String {
		var all strings.Builder
		for _, t := range s.texts {
			all.WriteString(t.sent.String())
		}
		all.WriteString(more)
		if !output.IsText(all.String()) {
			s.Edits.Replace(output, jsonstream.AppendQuote(nil, all.String()))
		}
	}
	return nil
}
