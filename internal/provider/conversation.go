package provider

import (
	"hash"
	"iter"
	"strconv"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// Text is a text of the conversation in a request that the model did not write itself. It refers
// to the body of the request.
type Text struct {
	// Source is flow.User or flow.System for a text that the dialect attributes to the person or the
	// operator. Every other text is flow.Tool: results, and content of an unknown author.
	Source flow.Source
	// Call is the index in History of the call whose result the text is, and Result the index of
	// the result. Call is -1 for every other text.
	Call, Result int
	// OfProvider reports that the text is the result of a tool that ran at the provider.
	OfProvider bool

	content jsonstream.Value // invalid for content that the request does not have
}

// IsResult reports whether the text is the result of a call in History.
func (t *Text) IsResult() bool { return t.Call >= 0 }

// Read returns the text. opaque reports that the model also reads content in it that is no text
// for the gate, such as an image: anything may occur in it. history is the History of the request.
func (t *Text) Read(history []PastCall) (text []byte, opaque bool) {
	switch {
	case t.IsResult():
		return history[t.Call].Results[t.Result].Read()
	case !t.content.IsValid():
		return nil, true
	}
	return ReadContent(t.content)
}

// Hash writes the text to h so that different texts have different inputs. Marks that clients move
// from one request to the next, such as those of caches, are left out.
func (t *Text) Hash(h hash.Hash, history []PastCall) {
	content := t.content
	write(h, []byte(t.Source))
	if t.IsResult() {
		call := &history[t.Call]
		r := &call.Results[t.Result]
		write(h, []byte(call.Call))
		write(h, []byte(call.Tool))
		write(h, call.args.Raw())
		write(h, strconv.AppendBool(nil, r.Failed))
		content = r.Content
	}
	if content.Kind() != jsonstream.Array {
		write(h, content.Raw())
		return
	}
	write(h, strconv.AppendInt(nil, int64(content.Len()), 10))
	for part := range content.Elements() {
		if text, ok := plainText(part); ok {
			part = text
		}
		write(h, part.Raw())
	}
}

// write writes a part with its length.
func write(h hash.Hash, part []byte) {
	var length [20]byte
	h.Write(append(strconv.AppendInt(length[:0], int64(len(part)), 10), ' '))
	h.Write(part)
}

// AddText adds a message of the person or the operator: a string, or parts, each of which is a text.
// Parts that are not text written in the message, such as documents, images and results, get the
// source flow.Tool; they follow the others.
func (l *PastCalls) AddText(source flow.Source, content jsonstream.Value) {
	switch content.Kind() {
	case jsonstream.String:
		l.AddMessage(source, content)
		return
	case jsonstream.Object:
		l.addParts(source, func(yield func(jsonstream.Value) bool) { yield(content) })
	case jsonstream.Array:
		l.addParts(source, content.Elements())
	default:
		l.AddForeign(content)
	}
}

func (l *PastCalls) addParts(source flow.Source, parts iter.Seq[jsonstream.Value]) {
	var texts, others []jsonstream.Value
	for part := range parts {
		if text, ok := plainText(part); ok {
			texts = append(texts, text)
		} else {
			others = append(others, part)
		}
	}
	l.AddMessage(source, texts...)
	for _, other := range others {
		l.AddForeign(other)
	}
}

// AddMessage adds texts of a message.
func (l *PastCalls) AddMessage(source flow.Source, texts ...jsonstream.Value) {
	for _, text := range texts {
		l.addText(Text{Source: source, Call: -1, content: text})
	}
}

// AddForeign adds content that neither the person nor the operator nor the model wrote.
func (l *PastCalls) AddForeign(content jsonstream.Value) {
	if Present(content) {
		l.addText(Text{Source: flow.Tool, Call: -1, content: content})
	}
}

// AddUnseen adds the note that the model reads content which the request does not have.
func (l *PastCalls) AddUnseen() { l.addText(Text{Source: flow.Tool, Call: -1}) }

// AddProviderResult adds the result of a tool that ran at the provider, or content that may be one.
// whole reports that the model read nothing else from the tool.
func (l *PastCalls) AddProviderResult(content jsonstream.Value, whole bool) {
	if Present(content) {
		l.addText(Text{Source: flow.Tool, Call: -1, OfProvider: true, content: content})
	}
	if !whole {
		l.addText(Text{Source: flow.Tool, Call: -1, OfProvider: true})
	}
}

func (l *PastCalls) addText(t Text) { l.Texts = append(l.Texts, t) }

// plainText returns the text of a part that is nothing but text.
func plainText(part jsonstream.Value) (jsonstream.Value, bool) {
	text, _ := part.Get("text")
	typ, typed := part.Get("type")
	if text.Kind() != jsonstream.String || typed && !typ.IsText("text") && !typ.IsText("input_text") {
		return jsonstream.Value{}, false
	}
	return text, true
}

// Read returns the text of the result as the model receives it: a string, the texts of its parts, or
// JSON. opaque reports that the model also reads content that is no text for the gate.
func (r *PastResult) Read() (text []byte, opaque bool) {
	content := r.Content
	if r.Inner.IsValid() {
		content = r.Inner
	}
	if r.Structured && content.Kind() != jsonstream.String {
		return content.Raw(), r.Opaque
	}
	text, opaque = ReadContent(content)
	return text, opaque || r.Opaque
}
