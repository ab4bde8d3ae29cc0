package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// body implements [wire.Body].
type body struct {
	calls
	doc    jsonstream.Document
	order  []*call // by position in output, nil for other items
	edited bool    // members were removed from it
}

// Decode implements [wire.Body].
func (b *body) Decode(text []byte) (wire.Need, error) {
	if err := b.decode(text); err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return wire.Continue, err
	}
	if b.pending == 0 && !b.edited {
		return wire.Finished, nil
	}
	return wire.Resolve, nil
}

func (b *body) decode(body []byte) *wire.StreamError {
	if err := scan(&b.doc, body, b.o.MaxBytes, nil); err != nil {
		return wire.Malformed(err)
	}
	var edits wire.Edits
	if b.edited = !b.o.AnyKind && b.notes.RemoveStrayCalls(&edits, b.doc.Root(), bodyShape); b.edited {
		if err := scan(&b.doc, edits.AppendTo(nil, body, 0, len(body)), b.o.MaxBytes, nil); err != nil {
			return wire.Malformed(err)
		}
	}
	root := b.doc.Root()
	if !wire.ExactNames(root, responseNames) || !exactOutput(root) {
		return wire.Malformed(nil)
	}
	inner, _ := root.Get("response")
	item, ok := root.Get("item")
	if b.outputHasCall(inner) || ok && isCall(item) {
		return wire.UnknownCall() // an event of a stream
	}
	if wire.HasStrayCall(root) {
		return wire.UnknownCall()
	}
	if !b.o.AnyKind && !isResponse(root) {
		return wire.WrongKind()
	}
	b.readInfo(root)
	b.response = text(root, "id")
	output, _ := root.Get("output")
	for v := range output.Elements() {
		kind := b.kindOf(v)
		if !kind.call() {
			b.order = append(b.order, nil)
			if kind == providerItem {
				b.notes.AddNotEvaluated(text(v, "type"))
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

// isResponse reports whether the body is a response or an error, and not an event of a
// stream or a response in another dialect.
func isResponse(root jsonstream.Value) bool {
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
func (b *body) Release(dst []byte, outcomes []wire.CallOutcome) ([]byte, error) {
	at := func(i int) *call { return b.order[i] }
	list, programmed := b.settle(outcomes, b.doc.Root(), at)
	if programmed {
		return dst, &wire.StreamError{Code: stopgate.CodeProtocolViolation, Message: programmedMessage}
	}
	b.addReplaced(list, finalItems(b.doc.Root()))
	var edits wire.Edits
	b.editResponse(&edits, b.doc.Root(), at, list)
	text := b.doc.Text()
	return edits.AppendTo(dst, text, 0, len(text)), nil
}
