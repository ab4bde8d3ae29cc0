package openaichat

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// body implements [wire.Body] (WIRE 2.9).
type body struct {
	assembly
	doc   jsonstream.Document
	chunk chunk
	clean bool // something was taken out of it
}

// Decode implements [wire.Body].
func (b *body) Decode(text []byte) (wire.Need, error) {
	err := b.decode(text)
	if err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return wire.Nothing, err
	}
	if b.pending == 0 && !b.clean {
		return wire.Finished, nil
	}
	return wire.Resolve, nil
}

func (b *body) decode(text []byte) *wire.StreamError {
	if err := b.doc.Scan(text, wire.EnvelopeOptions(b.o.MaxBytes)); err != nil {
		return wire.Malformed(err)
	}
	var edits wire.Edits
	if b.clean = !b.o.AnyKind && b.notes.Strays(&edits, b.doc.Root(), bodyShape); b.clean {
		if err := b.doc.Scan(edits.AppendTo(nil, text, 0, len(text)), wire.EnvelopeOptions(b.o.MaxBytes)); err != nil {
			return wire.Malformed(err)
		}
	}
	if !b.chunk.read(b.doc.Root(), messageMember) {
		return wire.Malformed(nil)
	}
	if !b.o.AnyKind && !b.ofKind() {
		return wire.WrongKind()
	}
	b.answer(&b.chunk)
	for i := range b.chunk.elements {
		e := &b.chunk.elements[i]
		index, ok := e.index(i)
		if !ok {
			return wire.Malformed(nil)
		}
		// Two elements are two choices, whatever their indexes say.
		e.choice = &choice{index: index}
		b.choices = append(b.choices, e.choice)
		if !b.collect(e) || e.stray() {
			return wire.Malformed(nil)
		}
		if b.chunk.fault.IsValid() {
			b.refuseOpen(stopgate.CodeUpstreamError)
		}
		b.finish(e.choice, ending(e.reason))
	}
	return nil
}

// ofKind reports whether the body is a completion, or an error: not an event of a stream, and
// no answer in another dialect.
func (b *body) ofKind() bool {
	if b.chunk.fault.IsValid() {
		return true
	}
	object, _ := b.doc.Root().Get("object")
	if !b.chunk.choices.IsValid() || object.IsText("chat.completion.chunk") {
		return false
	}
	for i := range b.chunk.elements {
		if _, ok := b.chunk.elements[i].v.Get(deltaMember); ok && !b.chunk.elements[i].delta.IsValid() {
			return false
		}
	}
	return true
}

// collect gives the calls of one message to the assembly. Each element of
// tool_calls is a call of its own; its position is its key.
func (b *body) collect(e *element) bool {
	position := 0
	for v := range e.calls.Elements() {
		if v.Kind() != jsonstream.Object {
			return false
		}
		var t entry
		t.read(v)
		k := b.newCall(e.choice, position)
		e.choice.order = append(e.choice.order, k)
		b.apply(e.choice, k, &t)
		position++
	}
	if e.legacy.IsValid() {
		b.addLegacy(e.choice, e.legacy)
	}
	b.mix(e.choice)
	return true
}

// Release implements [wire.Body].
func (b *body) Release(dst []byte, outcomes []wire.Release) ([]byte, error) {
	var edits wire.Edits
	for i := range b.chunk.elements {
		e := &b.chunk.elements[i]
		denial := b.settleChoice(e.choice, outcomes)
		e.editChoice(&edits, finishing, messageMember)
		if e.delta.IsValid() {
			e.editMessage(&edits, denial)
		}
	}
	b.pending = 0
	text := b.doc.Text()
	if len(edits) == 0 && len(dst) == 0 {
		return text, nil
	}
	return edits.AppendTo(dst, text, 0, len(text)), nil
}

// settleChoice finds the outcomes of a choice's calls and returns the text that
// stands for the denied ones.
func (b *body) settleChoice(c *choice, outcomes []wire.Release) (denial string) {
	var lines []string
	c.survivors = 0
	for _, k := range c.calls {
		if line, denied := b.settle(c, k, outcomes); denied {
			lines = append(lines, line)
		} else {
			c.survivors++
		}
	}
	return strings.Join(lines, "\n")
}

// editMessage collects the changes of a message: surviving calls get the text
// that was judged, the others go, and the denial joins the content.
func (e *element) editMessage(edits *wire.Edits, denial string) {
	old := e.choice.current(theOld)
	gone := func(k, _ jsonstream.Value) bool {
		switch string(wire.Key(k)) {
		case "tool_calls":
			return e.calls.IsValid() && !survives(e.choice.order)
		case "function_call":
			return old != nil && old.released == nil
		}
		return false
	}
	edits.Remove(e.delta, gone)
	if survives(e.choice.order) {
		i := -1
		edits.Remove(e.calls, func(_, _ jsonstream.Value) bool { i++; return e.choice.order[i].released == nil })
		i = -1
		for v := range e.calls.Elements() {
			if i++; e.choice.order[i].released != nil {
				e.choice.order[i].edit(edits, v)
			}
		}
	}
	if old != nil && old.released != nil {
		old.editCarrier(edits, e.legacy)
	}
	if denial == "" {
		return
	}
	if content, ok := e.delta.Get("content"); ok {
		editContent(edits, content, denial)
		return
	}
	insertMember(edits, e.delta, gone, "content", denial)
}

func survives(calls []*call) bool {
	for _, k := range calls {
		if k.released != nil {
			return true
		}
	}
	return false
}

// edit collects the changes of a surviving element of tool_calls.
func (k *call) edit(edits *wire.Edits, v jsonstream.Value) {
	edits.Remove(v, lookalike)
	if id, ok := v.Get("id"); !ok {
		insertMember(edits, v, lookalike, "id", k.id)
	} else if !says(id) {
		edits.Replace(id, jsonstream.AppendQuote(nil, k.id))
	}
	carrier, _ := v.Get(k.member())
	k.editCarrier(edits, carrier)
}

// editCarrier puts the text that was judged in the place of the upstream's.
func (k *call) editCarrier(edits *wire.Edits, v jsonstream.Value) {
	edits.Remove(v, lookalike)
	if text, ok := v.Get(k.textMember()); ok {
		edits.Quote(text, k.released)
	} else {
		insertMember(edits, v, lookalike, k.textMember(), string(k.released))
	}
}

func lookalike(k, _ jsonstream.Value) bool { return wire.Lookalike(wire.Key(k), entryNames...) }

// editContent adds the denial behind what the message says.
func editContent(edits *wire.Edits, content jsonstream.Value, denial string) {
	_, end := content.Span()
	switch {
	case content.Kind() == jsonstream.Array:
		part := append(jsonstream.AppendQuote([]byte(`{"type":"text","text":`), denial), '}')
		if content.Len() > 0 {
			part = append([]byte{','}, part...)
		}
		edits.Insert(end-1, part)
	case says(content):
		quoted := jsonstream.AppendQuote(nil, "\n\n"+denial)
		edits.Insert(end-1, quoted[1:len(quoted)-1])
	default:
		edits.Replace(content, jsonstream.AppendQuote(nil, denial))
	}
}

// insertMember adds a member at the end of an object from which others are
// removed.
func insertMember(edits *wire.Edits, object jsonstream.Value, removed func(k, v jsonstream.Value) bool, name, value string) {
	var text []byte
	for k, v := range object.Members() {
		if !removed(k, v) {
			text = append(text, ',')
			break
		}
	}
	text = append(jsonstream.AppendQuote(text, name), ':')
	_, end := object.Span()
	edits.Insert(end-1, jsonstream.AppendQuote(text, value))
}
