package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// body implements [provider.Body].
type body struct {
	calls
	doc    jsonstream.Document
	order  []*call // by position in output, nil for other items
	edited bool    // members were removed from it
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

func (b *body) decode(body []byte) *provider.StreamError {
	if err := scan(&b.doc, body, b.o.MaxBytes, nil); err != nil {
		return provider.Malformed(err)
	}
	var edits provider.Edits
	if b.edited = !b.o.AnyKind && b.notes.RemoveStrayCalls(&edits, b.doc.Root(), bodyShape); b.edited {
		if err := scan(&b.doc, edits.AppendTo(nil, body, 0, len(body)), b.o.MaxBytes, nil); err != nil {
			return provider.Malformed(err)
		}
	}
	root := b.doc.Root()
	if !provider.ExactNames(root, responseNames) || !exactOutput(root) {
		return provider.Malformed(nil)
	}
	inner, _ := root.Get("response")
	item, ok := root.Get("item")
	if b.outputHasCall(inner) || ok && isCall(item) {
		return provider.UnknownCall() // an event of a stream
	}
	if provider.HasStrayCall(root) {
		return provider.UnknownCall()
	}
	if !b.o.AnyKind && !isResponse(root) {
		return provider.WrongKind()
	}
	b.readInfo(root)
	b.response = wire.Text(root, "id")
	output, _ := root.Get("output")
	for v := range output.Elements() {
		kind := b.kindOf(v)
		if !kind.Call() {
			b.order = append(b.order, nil)
			if kind == wire.Provider {
				b.notes.AddNotEvaluated(wire.Text(v, "type"))
			}
			b.noteItem(v)
			continue
		}
		k := b.start(v, kind, len(b.order))
		b.order = append(b.order, k)
		b.close(k, v, kind)
	}
	if len(b.list) > 0 {
		end := stopgate.Truncated
		if status, _ := root.Get("status"); !provider.Present(status) || status.IsText("completed") {
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
	if provider.Present(typ) {
		return typ.IsText("error") && provider.Present(fault)
	}
	return output || object.IsText("response") || provider.Present(fault)
}

// Release implements [provider.Body].
func (b *body) Release(dst []byte, outcomes []provider.CallOutcome) ([]byte, error) {
	at := func(i int) *call { return b.order[i] }
	list, programmed := b.settle(outcomes, b.doc.Root(), at)
	if programmed {
		return dst, &provider.StreamError{Code: stopgate.CodeProtocolViolation, Message: programmedMessage}
	}
	b.addReplaced(list, finalItems(b.doc.Root()))
	var edits provider.Edits
	b.editResponse(&edits, b.doc.Root(), at, list)
	return edits.AppendBody(dst, b.doc.Text()), nil
}
