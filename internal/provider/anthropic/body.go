package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// body implements [provider.Body].
type body struct {
	calls
	doc     jsonstream.Document
	content jsonstream.Value
	reason  jsonstream.Value
	order   []*call // by position in content, nil for other blocks
	edited  bool    // members were removed from it
}

// Decode implements [provider.Body].
func (b *body) Decode(text []byte) (provider.Need, error) {
	if err := b.decode(text); err != nil {
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
	if err := scan(&b.doc, text, b.o.MaxBytes); err != nil {
		return provider.Malformed(err)
	}
	var edits provider.Edits
	if b.edited = !b.o.AnyKind && b.notes.RemoveStrayCalls(&edits, b.doc.Root(), eventShape); b.edited {
		if err := scan(&b.doc, edits.AppendTo(nil, text, 0, len(text)), b.o.MaxBytes); err != nil {
			return provider.Malformed(err)
		}
	}
	root := b.doc.Root()
	if !provider.ExactNames(root, messageNames) {
		return provider.Malformed(nil)
	}
	if misplacedIn(root) || provider.HasStrayCall(root) {
		return provider.UnknownCall()
	}
	if !b.o.AnyKind && !isMessage(root) {
		return provider.WrongKind()
	}
	b.content, _ = root.Get("content")
	b.reason, _ = root.Get("stop_reason")
	b.notes.Response.Read(root)
	b.notes.Response.AddFinishReason(b.reason)
	if !provider.Present(b.content) {
		b.content = jsonstream.Value{}
		return nil
	}
	if b.content.Kind() != jsonstream.Array {
		return provider.Malformed(nil)
	}
	for v := range b.content.Elements() {
		if v.Kind() != jsonstream.Object || !provider.ExactNames(v, blockNames) {
			return provider.Malformed(nil)
		}
		if provider.HasStrayCall(v) {
			return provider.UnknownCall()
		}
		kind := kindOf(v)
		if !kind.call() {
			b.order = append(b.order, nil)
			b.noteKind(kind, v)
			continue
		}
		k := b.start(v, kind)
		b.order = append(b.order, k)
		b.close(k)
	}
	if len(b.list) > 0 {
		b.finish(endOf(b.reason))
	}
	return nil
}

// isMessage reports whether the body is a message or an error, and not an event of a stream
// or a response in another dialect.
func isMessage(root jsonstream.Value) bool {
	typ, _ := root.Get("type")
	fault, _ := root.Get("error")
	_, content := root.Get("content")
	if provider.Present(typ) {
		return typ.IsText("message") || typ.IsText("error") && provider.Present(fault)
	}
	return content || provider.Present(fault)
}

// Release implements [provider.Body].
func (b *body) Release(dst []byte, outcomes []provider.CallOutcome) ([]byte, error) {
	args, lines, programmed := b.settle(outcomes)
	if programmed {
		return dst, &provider.StreamError{Code: stopgate.CodeProtocolViolation, Message: programmedMessage}
	}
	var denial []byte
	if text := provider.JoinDenials(lines); text != "" {
		denial = jsonstream.AppendQuote([]byte(`{"type":"text","text":`), text)
		denial = append(denial, '}')
	}
	var edits provider.Edits
	b.editContent(&edits, args, denial)
	if len(lines) == len(args) && b.reason.IsText("tool_use") {
		edits.Replace(b.reason, []byte(`"end_turn"`))
	}
	return edits.AppendBody(dst, b.doc.Text()), nil
}

// editContent replaces the upstream's arguments by the evaluated ones, writes the denial in
// place of the first call or before it, and removes denied calls.
func (b *body) editContent(edits *provider.Edits, args [][]byte, denial []byte) {
	i := -1
	for v := range b.content.Elements() {
		i++
		k := b.order[i]
		if k == nil {
			continue
		}
		start, end := v.Span()
		first, input := k.number == 0, args[k.number]
		switch {
		case input == nil && first && denial != nil:
			edits.Replace(v, denial)
			continue
		case input == nil:
			continue
		case first && denial != nil:
			edits.Insert(start, append(denial, ','))
		}
		if old, ok := v.Get("input"); ok {
			edits.Replace(old, input)
		} else {
			edits.Insert(end-1, append([]byte(`,"input":`), input...))
		}
	}
	i = -1
	edits.Remove(b.content, func(_, _ jsonstream.Value) bool {
		i++
		k := b.order[i]
		return k != nil && (k.number > 0 || denial == nil) && args[k.number] == nil
	})
}
