package content

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Texts finds the texts of responses for event policies.
var Texts = provider.Texts{
	Stream:       func(t *provider.TextRewriter) provider.TextStream { return &textStream{TextRewriter: t} },
	Body:         editTexts,
	Split:        split,
	MayEnd:       func(data []byte) bool { return bytes.Contains(data, []byte(`"finishReason"`)) },
	Conversation: []string{"contents", "systemInstruction", "system_instruction"},
	Labels:       []string{"mimeType", "mime_type", "fileUri", "file_uri", "thoughtSignature", "thought_signature"},
}

// textStream edits a streamed response.
type textStream struct {
	*provider.TextRewriter
	candidates []*textCandidate
}

// textCandidate is one candidate. Its texts are separated by calls.
type textCandidate struct {
	number     int
	index      int // index of the current text
	open, over bool
}

func (s *textStream) candidate(number int) *textCandidate {
	for _, c := range s.candidates {
		if c.number == number {
			return c
		}
	}
	c := &textCandidate{number: number}
	s.candidates = append(s.candidates, c)
	return c
}

// Event implements [provider.TextStream].
func (s *textStream) Event(dst []byte, ev *sse.Event) ([]byte, error) {
	root, ok := s.Read(ev)
	if !ok {
		return s.Write(dst, ev), nil
	}
	list, _ := root.Get("candidates")
	for v := range list.Elements() {
		if err := s.edit(v); err != nil {
			return dst, err
		}
	}
	return s.Write(dst, ev), nil
}

// edit edits the texts of one candidate of an event.
func (s *textStream) edit(v jsonstream.Value) error {
	index, _ := v.Get("index")
	number, _ := provider.SmallInt(index)
	c := s.candidate(number)
	var last jsonstream.Value // the text to which more can be appended
	var sent string
	add := func(more string, err error) error {
		switch {
		case err != nil || more == "":
		case last.IsValid():
			sent += more
			s.ReplaceLast(last, sent)
		default:
			s.insert(number, more)
		}
		return err
	}
	for part := range partsOf(v) {
		switch text := answerText(part); {
		case text.IsValid() && !text.IsText(""):
			_, now, err := s.Piece(text, number, c.index)
			if err != nil {
				return err
			}
			c.open, last, sent = true, text, now
		case isCall(part) && c.open:
			if err := add(s.close(c)); err != nil {
				return err
			}
			last = jsonstream.Value{}
		}
	}
	reason, _ := v.Get("finishReason")
	if reason.Kind() != jsonstream.String || c.over {
		return nil
	}
	c.over = true
	if c.open {
		if err := add(s.close(c)); err != nil {
			return err
		}
	}
	calls := false
	for part := range partsOf(v) {
		calls = calls || isCall(part)
	}
	if s.Editor.DeferEnd(number, c.index, reason.Text(), calls) {
		return nil
	}
	return add(s.Editor.Finish(number, c.index, reason.Text()))
}

// close ends the current text of a candidate.
func (s *textStream) close(c *textCandidate) (more string, err error) {
	c.open = false
	more, err = s.Editor.Complete(c.number, c.index)
	c.index++
	return more, err
}

// insert writes an event with a text before the current event.
func (s *textStream) insert(number int, text string) {
	data := append([]byte(`{"candidates":[{"content":{"parts":[`), wire.Text(text)...)
	data = strconv.AppendInt(append(data, `],"role":"model"},"index":`...), int64(number), 10)
	s.Inserted = sse.AppendEvent(s.Inserted, "", append(data, "}]}"...))
}

// partsOf returns the parts of a candidate.
func partsOf(candidate jsonstream.Value) func(func(jsonstream.Value) bool) {
	content, _ := candidate.Get("content")
	parts, _ := content.Get("parts")
	return parts.Elements()
}

// answerText returns the text of a part if it is not a thought.
func answerText(part jsonstream.Value) jsonstream.Value {
	text, _ := part.Get("text")
	if thought, _ := part.Get("thought"); text.Kind() != jsonstream.String || thought.Kind() == jsonstream.True {
		return jsonstream.Value{}
	}
	return text
}

func isCall(part jsonstream.Value) bool {
	_, ok := part.Get("functionCall")
	return ok
}

// editTexts visits the texts of a response, or of a list of responses. Neighbouring parts are one
// text: clients join them.
func editTexts(body []byte, to provider.TextVisitor) ([]byte, error) {
	o := provider.EnvelopeOptions(len(body) + 1)
	o.ObjectRoot = false
	root, err := jsonstream.Parse(body, o)
	if err != nil {
		return body, nil // the codec rejects it
	}
	responses := []jsonstream.Value{root}
	if root.Kind() == jsonstream.Array {
		responses = responses[:0]
		for v := range root.Elements() {
			responses = append(responses, v)
		}
	}
	var list []*wholeTexts
	for _, response := range responses {
		candidates, _ := response.Get("candidates")
		for v := range candidates.Elements() {
			index, _ := v.Get("index")
			number, _ := provider.SmallInt(index)
			var w *wholeTexts
			for _, other := range list {
				if other.number == number {
					w = other
				}
			}
			if w == nil {
				w = &wholeTexts{number: number}
				list = append(list, w)
			}
			w.read(v)
		}
	}
	var edits provider.Edits
	for _, w := range list {
		if err := w.edit(&edits, to); err != nil {
			return nil, err
		}
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}

// wholeTexts are the texts of one candidate, each with its parts.
type wholeTexts struct {
	number int
	texts  [][]jsonstream.Value
	calls  []callBetween
	parts  jsonstream.Value // the last list of parts
	reason string
}

// callBetween is a call that follows a number of texts.
type callBetween struct {
	texts int
	call  jsonstream.Value
}

// called reports whether a call follows the last text.
func (w *wholeTexts) called() bool {
	n := len(w.calls)
	return n > 0 && w.calls[n-1].texts == len(w.texts)
}

func (w *wholeTexts) read(candidate jsonstream.Value) {
	content, _ := candidate.Get("content")
	if parts, ok := content.Get("parts"); ok && parts.Kind() == jsonstream.Array {
		w.parts = parts
	}
	for part := range partsOf(candidate) {
		switch text := answerText(part); {
		case text.IsValid() && (len(w.texts) == 0 || w.called()):
			w.texts = append(w.texts, []jsonstream.Value{text})
		case text.IsValid():
			w.texts[len(w.texts)-1] = append(w.texts[len(w.texts)-1], text)
		case isCall(part):
			call, _ := part.Get("functionCall")
			w.calls = append(w.calls, callBetween{len(w.texts), call})
		}
	}
	if reason, _ := candidate.Get("finishReason"); reason.Kind() == jsonstream.String {
		w.reason = reason.Text()
	}
}

func (w *wholeTexts) edit(edits *provider.Edits, to provider.TextVisitor) error {
	was, sent := make([]string, len(w.texts)), make([]string, len(w.texts))
	calls := w.calls
	pass := func(texts int) {
		for ; len(calls) > 0 && calls[0].texts <= texts; calls = calls[1:] {
			if _, begins := calls[0].call.Get("name"); begins {
				to.Pass(w.number, calls[0].call, "id")
			}
		}
	}
	for i, parts := range w.texts {
		pass(i)
		var text strings.Builder
		for _, part := range parts {
			text.WriteString(part.Text())
		}
		was[i] = text.String()
		var err error
		if sent[i], err = to.Text(w.number, i, was[i]); err != nil {
			return err
		}
	}
	pass(len(w.texts))
	more, err := to.End(w.number, w.reason)
	if err != nil {
		return err
	}
	if last := len(sent) - 1; last >= 0 {
		sent[last] += more
	} else if more != "" && w.parts.IsValid() {
		edits.AppendElements(w.parts, wire.Text(more))
	}
	for i, parts := range w.texts {
		if sent[i] == was[i] {
			continue
		}
		for n, part := range parts {
			text := ""
			if n == 0 {
				text = sent[i]
			}
			edits.Replace(part, jsonstream.AppendQuote(nil, text))
		}
	}
	return nil
}
