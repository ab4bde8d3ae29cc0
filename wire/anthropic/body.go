package anthropic

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// body implements [wire.Body] (WIRE 4.10).
type body struct {
	calls
	doc     jsonstream.Document
	content jsonstream.Value
	reason  jsonstream.Value
	order   []*call // by position in content, nil for other blocks
	clean   bool    // something was taken out of it
}

// Decode implements [wire.Body].
func (b *body) Decode(text []byte) (wire.Need, error) {
	if err := b.decode(text); err != nil {
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
	if err := scan(&b.doc, text, b.o.MaxBytes); err != nil {
		return wire.Malformed(err)
	}
	var edits wire.Edits
	if b.clean = !b.o.AnyKind && b.notes.Strays(&edits, b.doc.Root(), eventShape); b.clean {
		if err := scan(&b.doc, edits.AppendTo(nil, text, 0, len(text)), b.o.MaxBytes); err != nil {
			return wire.Malformed(err)
		}
	}
	root := b.doc.Root()
	if !wire.Plain(root, messageNames) {
		return wire.Malformed(nil)
	}
	if misplacedIn(root) || wire.HoldsStrayCall(root) {
		return wire.UnknownCall()
	}
	if !b.o.AnyKind && !ofKind(root) {
		return wire.WrongKind()
	}
	b.content, _ = root.Get("content")
	b.reason, _ = root.Get("stop_reason")
	b.notes.Answer.Read(root)
	b.notes.Answer.Finished(b.reason)
	if !wire.Present(b.content) {
		b.content = jsonstream.Value{}
		return nil
	}
	if b.content.Kind() != jsonstream.Array {
		return wire.Malformed(nil)
	}
	for v := range b.content.Elements() {
		if v.Kind() != jsonstream.Object || !wire.Plain(v, blockNames) {
			return wire.Malformed(nil)
		}
		if wire.HoldsStrayCall(v) {
			return wire.UnknownCall()
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
		b.finish(ending(b.reason))
	}
	return nil
}

// ofKind reports whether the body is a message, or an error: not an event of a stream, and no
// answer in another dialect.
func ofKind(root jsonstream.Value) bool {
	typ, _ := root.Get("type")
	fault, _ := root.Get("error")
	_, content := root.Get("content")
	if wire.Present(typ) {
		return typ.IsText("message") || typ.IsText("error") && wire.Present(fault)
	}
	return content || wire.Present(fault)
}

// Release implements [wire.Body].
func (b *body) Release(dst []byte, outcomes []wire.Release) ([]byte, error) {
	args, lines, stuck := b.settle(outcomes)
	if stuck {
		return dst, &wire.StreamError{Code: stopgate.CodeProtocolViolation, Message: stuckMessage}
	}
	var denial []byte
	if len(lines) > 0 {
		denial = jsonstream.AppendQuote([]byte(`{"type":"text","text":`), strings.Join(lines, "\n"))
		denial = append(denial, '}')
	}
	var edits wire.Edits
	b.editContent(&edits, args, denial)
	if len(lines) == len(args) && b.reason.IsText("tool_use") {
		edits.Replace(b.reason, []byte(`"end_turn"`))
	}
	text := b.doc.Text()
	return edits.AppendTo(dst, text, 0, len(text)), nil
}

// editContent puts judged arguments in the place of the upstream's, the denial in
// the place of the first call or in front of it, and takes denied calls out.
func (b *body) editContent(edits *wire.Edits, args [][]byte, denial []byte) {
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
		case input == nil && first:
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
		return k != nil && k.number > 0 && args[k.number] == nil
	})
}
