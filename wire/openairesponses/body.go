package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// body implements [wire.Body] (WIRE 3.5).
type body struct {
	calls
	doc   jsonstream.Document
	order []*call // by position in output, nil for other items
	clean bool    // something was taken out of it
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

func (b *body) decode(body []byte) *wire.StreamError {
	if err := scan(&b.doc, body, b.o.MaxBytes, nil); err != nil {
		return wire.Malformed(err)
	}
	var edits wire.Edits
	if b.clean = !b.o.AnyKind && b.notes.Strays(&edits, b.doc.Root(), bodyShape); b.clean {
		if err := scan(&b.doc, edits.AppendTo(nil, body, 0, len(body)), b.o.MaxBytes, nil); err != nil {
			return wire.Malformed(err)
		}
	}
	root := b.doc.Root()
	if !wire.Plain(root, responseNames) || !plainOutput(root) {
		return wire.Malformed(nil)
	}
	inner, _ := root.Get("response")
	item, ok := root.Get("item")
	if b.carriesCall(inner) || ok && plainlyCall(item) {
		return wire.UnknownCall() // an event of a stream
	}
	if wire.HoldsStrayCall(root) {
		return wire.UnknownCall()
	}
	if !b.o.AnyKind && !ofKind(root) {
		return wire.WrongKind()
	}
	b.answer(root)
	b.response = text(root, "id")
	output, _ := root.Get("output")
	for v := range output.Elements() {
		kind := b.kindOf(v)
		if !kind.call() {
			b.order = append(b.order, nil)
			if kind == provider {
				b.notes.Pass(text(v, "type"))
			}
			continue
		}
		k := b.start(v, kind, len(b.order))
		b.order = append(b.order, k)
		b.close(k, v, kind)
	}
	if len(b.list) > 0 {
		end := stopgate.Truncated
		if status, _ := root.Get("status"); !wire.Present(status) || status.IsText("completed") {
			end = stopgate.Ended
		}
		b.finish(end)
	}
	return nil
}

// ofKind reports whether the body is a response, or an error: not an event of a stream, and
// no answer in another dialect.
func ofKind(root jsonstream.Value) bool {
	fault, _ := root.Get("error")
	object, _ := root.Get("object")
	_, output := root.Get("output")
	typ, _ := root.Get("type")
	if wire.Present(typ) {
		return typ.IsText("error") && wire.Present(fault)
	}
	return output || object.IsText("response") || wire.Present(fault)
}

// Release implements [wire.Body].
func (b *body) Release(dst []byte, outcomes []wire.Release) ([]byte, error) {
	at := func(i int) *call { return b.order[i] }
	list, stuck := b.settle(outcomes, b.doc.Root(), at)
	if stuck {
		return dst, &wire.StreamError{Code: stopgate.CodeProtocolViolation, Message: stuckMessage}
	}
	b.remember(list, finished(b.doc.Root()))
	var edits wire.Edits
	b.editResponse(&edits, b.doc.Root(), at, list)
	text := b.doc.Text()
	return edits.AppendTo(dst, text, 0, len(text)), nil
}
