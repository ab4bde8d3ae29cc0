package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// body implements [provider.Body].
type body struct {
	assembly
	doc    jsonstream.Document
	chunk  chunk
	edited bool // members were removed from it
}

// Decode implements [provider.Body].
func (b *body) Decode(text []byte) (provider.Need, error) {
	err := b.decode(text)
	if err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return provider.Continue, err
	}
	if b.pending == 0 && !b.edited {
		return provider.Finished, nil
	}
	return provider.Resolve, nil
}

func (b *body) decode(text []byte) *provider.StreamError {
	if err := b.doc.Scan(text, provider.EnvelopeOptions(b.o.MaxBytes)); err != nil {
		return provider.Malformed(err)
	}
	var edits provider.Edits
	if b.edited = !b.o.AnyKind && b.notes.RemoveStrayCalls(&edits, b.doc.Root(), bodyShape); b.edited {
		if err := b.doc.Scan(edits.AppendTo(nil, text, 0, len(text)), provider.EnvelopeOptions(b.o.MaxBytes)); err != nil {
			return provider.Malformed(err)
		}
	}
	if !b.chunk.read(b.doc.Root(), messageMember) {
		return provider.Malformed(nil)
	}
	if !b.o.AnyKind && !b.isCompletion() {
		return provider.WrongKind()
	}
	b.readInfo(&b.chunk)
	for i := range b.chunk.elements {
		e := &b.chunk.elements[i]
		index, ok := e.index(i)
		if !ok {
			return provider.Malformed(nil)
		}
		// Two elements are two choices, even if their indexes are equal.
		e.choice = &choice{index: index}
		b.choices = append(b.choices, e.choice)
		if !b.collect(e) || e.strayCopy() {
			return provider.Malformed(nil)
		}
		if b.chunk.fault.IsValid() {
			b.refuseOpen(stopgate.CodeUpstreamError)
		}
		b.finish(e.choice, endOf(e.reason))
	}
	return nil
}

// isCompletion reports whether the body is a completion or an error, and not an event of a
// stream or a response in another dialect.
func (b *body) isCompletion() bool {
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

// collect passes the calls of one message to the assembly. Each element of tool_calls is a
// separate call, with its position as its key.
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
	b.refuseMixed(e.choice)
	return true
}

// Release implements [provider.Body].
func (b *body) Release(dst []byte, outcomes []provider.CallOutcome) ([]byte, error) {
	var edits provider.Edits
	for i := range b.chunk.elements {
		e := &b.chunk.elements[i]
		denial := b.settleChoice(e.choice, outcomes)
		e.editChoice(&edits, finishing, messageMember)
		if e.delta.IsValid() {
			e.editMessage(&edits, denial)
		}
	}
	b.pending = 0
	return edits.AppendBody(dst, b.doc.Text()), nil
}

// settleChoice sets the outcomes of a choice's calls, and returns the text that replaces
// the denied ones.
func (b *body) settleChoice(c *choice, outcomes []provider.CallOutcome) (denial string) {
	var lines []string
	c.released = 0
	for _, k := range c.calls {
		if line, denied := b.settle(c, k, outcomes); denied {
			lines = append(lines, line)
		} else {
			c.released++
		}
	}
	return provider.JoinDenials(lines)
}

// editMessage adds the edits of a message: allowed calls get the evaluated text, denied
// calls are removed, and the denial is appended to the content.
func (e *element) editMessage(edits *provider.Edits, denial string) {
	old := e.choice.current(legacyKey)
	removed := func(k, _ jsonstream.Value) bool {
		switch string(provider.Key(k)) {
		case "tool_calls":
			return e.calls.IsValid() && !anyReleased(e.choice.order)
		case "function_call":
			return old != nil && old.released == nil
		}
		return false
	}
	edits.Remove(e.delta, removed)
	if anyReleased(e.choice.order) {
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
	insertMember(edits, e.delta, removed, "content", denial)
}

func anyReleased(calls []*call) bool {
	for _, k := range calls {
		if k.released != nil {
			return true
		}
	}
	return false
}

// edit adds the edits of an allowed element of tool_calls.
func (k *call) edit(edits *provider.Edits, v jsonstream.Value) {
	edits.Remove(v, lookalike)
	if id, ok := v.Get("id"); !ok {
		insertMember(edits, v, lookalike, "id", k.id)
	} else if !nonEmpty(id) {
		edits.Replace(id, jsonstream.AppendQuote(nil, k.id))
	}
	carrier, _ := v.Get(k.member())
	k.editCarrier(edits, carrier)
}

// editCarrier adds the edits that replace the upstream's arguments by the evaluated text.
func (k *call) editCarrier(edits *provider.Edits, v jsonstream.Value) {
	edits.Remove(v, lookalike)
	if text, ok := v.Get(k.textMember()); ok {
		edits.ReplaceText(text, k.released)
	} else {
		insertMember(edits, v, lookalike, k.textMember(), string(k.released))
	}
}

func lookalike(k, _ jsonstream.Value) bool {
	return provider.IsLookalike(provider.Key(k), entryNames...)
}

// editContent adds the edit that appends the denial to the content.
func editContent(edits *provider.Edits, content jsonstream.Value, denial string) {
	_, end := content.Span()
	switch {
	case content.Kind() == jsonstream.Array:
		part := append(jsonstream.AppendQuote([]byte(`{"type":"text","text":`), denial), '}')
		if content.Len() > 0 {
			part = append([]byte{','}, part...)
		}
		edits.Insert(end-1, part)
	case nonEmpty(content):
		quoted := jsonstream.AppendQuote(nil, "\n\n"+denial)
		edits.Insert(end-1, quoted[1:len(quoted)-1])
	default:
		edits.Replace(content, jsonstream.AppendQuote(nil, denial))
	}
}

// insertMember adds the edit that adds a member at the end of an object from which other
// members are removed.
func insertMember(edits *provider.Edits, object jsonstream.Value, removed func(k, v jsonstream.Value) bool, name, value string) {
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
