package provider

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// TextEditor receives the texts of a streamed response in order and returns the edited ones. The
// event policies of an exchange implement it.
type TextEditor interface {
	// Text returns the replacement of a chunk of a text.
	Text(choice, index int, piece string) (string, error)
	// Complete ends a text and returns the text to append.
	Complete(choice, index int) (more string, err error)
	// DeferEnd reports whether the end of a choice is reported later, because another response may
	// follow. calls reports that the event that ends the choice contains a call.
	DeferEnd(choice, index int, reason string, calls bool) bool
	// Finish ends a choice and returns a text to append, which gets this index.
	Finish(choice, index int, reason string) (more string, err error)
}

// TextVisitor receives the texts of a response that is not streamed.
type TextVisitor struct {
	// Text returns the replacement of a whole text.
	Text func(choice, index int, text string) (string, error)
	// Call receives the elements between the texts that may be calls, with the ids that they state.
	// May be nil.
	Call func(choice int, id stopgate.CallID)
	// End receives the finish reason of a choice and returns a text to append.
	End func(choice int, reason string) (more string, err error)
}

// Pass passes an element that may be a call to the visitor. member is the name of the member with its id.
func (v *TextVisitor) Pass(choice int, element jsonstream.Value, member string) {
	if v.Call != nil {
		id, _ := element.Get(member)
		v.Call(choice, stopgate.CallID(id.Text()))
	}
}

// TextStream edits the texts of one streamed response.
type TextStream interface {
	// Event appends the replacement of an event.
	Event(dst []byte, ev *sse.Event) ([]byte, error)
}

// TextCloser is implemented by text streams of a dialect in which the end of a text states all of it.
// CloseTexts appends the ends of the open texts: the upstream is being cancelled.
type TextCloser interface {
	CloseTexts(dst []byte) []byte
}

// Texts finds the texts of an API for event policies, in the responses of the model and in
// requests.
type Texts struct {
	// Stream returns a TextStream that uses the rewriter.
	Stream func(*TextRewriter) TextStream
	// Body visits the texts of a response and returns it with the edited texts.
	Body func(body []byte, to TextVisitor) ([]byte, error)
	// Split divides an event in which a text follows a call into events without such a text. It returns
	// nil for other events. May be nil.
	Split func(data []byte) [][]byte
	// MayEnd reports whether an event may end a response. A false positive only delays it.
	MayEnd func(data []byte) bool
	// Conversation lists the members of a request that contain the conversation, and Labels the
	// members in them whose strings are not text, in addition to the usual names.
	Conversation, Labels []string
}

// TextRewriter is the common part of all text streams: the editor and the current event.
type TextRewriter struct {
	Editor   TextEditor
	MaxBytes int    // of one event
	Edits    Edits  // of the current event
	Inserted []byte // written before the current event
	Key      int    // of the text of the learned event

	doc    jsonstream.Document
	repeat EventTemplate // template of the last event with exactly one text
	typ    []byte        // type of that event
	buf    []byte
}

// Learn remembers an event with one text, so that a similar next event need not be parsed. seq is
// its sequence number, if any.
func (t *TextRewriter) Learn(ev *sse.Event, key int, text, seq, root jsonstream.Value) {
	padding, _ := root.Get("obfuscation")
	t.Key, t.typ = key, append(t.typ[:0], ev.Type...)
	t.repeat.Learn(ev, text, seq, padding)
}

// Repeats reports whether an event equals the last one except for its text, and returns the text.
func (t *TextRewriter) Repeats(ev *sse.Event) (text string, ok bool) {
	if !ev.Dispatched || len(ev.Data) > t.MaxBytes || !bytes.Equal(ev.Type, t.typ) || !t.repeat.Match(ev.Data) {
		t.repeat.Reset()
		return "", false
	}
	t.Edits, t.Inserted = t.Edits[:0], t.Inserted[:0]
	var decoded []byte
	decoded, t.buf = t.repeat.Value(0).Text(t.buf)
	return string(decoded), true
}

// EditText replaces the text of an event for which Repeats returned true.
func (t *TextRewriter) EditText(ev *sse.Event, text string) {
	raw := t.repeat.Value(0).Raw
	from := cap(ev.Data) - cap(raw) // raw is a subslice of ev.Data
	t.Edits = append(t.Edits, jsonstream.Edit{Start: from - 1, End: from + len(raw) + 1, Text: jsonstream.AppendQuote(nil, text)})
}

// Read parses an event's payload. Events that cannot be parsed are forwarded unchanged; the codec
// rejects them.
func (t *TextRewriter) Read(ev *sse.Event) (root jsonstream.Value, ok bool) {
	t.Edits, t.Inserted = t.Edits[:0], t.Inserted[:0]
	if !ev.Dispatched || len(ev.Data) == 0 || ev.Data[0] != '{' || t.doc.Scan(ev.Data, EnvelopeOptions(t.MaxBytes)) != nil {
		return root, false
	}
	return t.doc.Root(), true
}

// Write appends inserted events and then the current event with its edits.
func (t *TextRewriter) Write(dst []byte, ev *sse.Event) []byte {
	dst = append(dst, t.Inserted...)
	if len(t.Edits) == 0 {
		return ev.AppendTo(dst)
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = t.Edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// Piece passes a chunk of text to the editor and edits the event if the text changed.
func (t *TextRewriter) Piece(v jsonstream.Value, choice, index int) (old, text string, err error) {
	old = v.Text()
	text, err = t.Editor.Text(choice, index, old)
	if err == nil && text != old {
		t.Edits.Replace(v, jsonstream.AppendQuote(nil, text))
	}
	return old, text, err
}

// ReplaceLast is Edits.Replace for a value that may have been replaced before.
func (t *TextRewriter) ReplaceLast(v jsonstream.Value, text string) {
	from, _ := v.Span()
	for i := range t.Edits {
		if t.Edits[i].Start == from {
			t.Edits = append(t.Edits[:i], t.Edits[i+1:]...)
			break
		}
	}
	t.Edits.Replace(v, jsonstream.AppendQuote(nil, text))
}
