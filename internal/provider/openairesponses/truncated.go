package openairesponses

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// outputOf lists the items of a round. Servers that store no responses may omit them from
// the last event, and a cancelled round has no last event.
func outputOf(round provider.Round) (items []jsonstream.Value, ok bool) {
	response, ended := lastResponse(round)
	output, _ := response.Get("output")
	for item := range output.Elements() {
		items = append(items, item)
	}
	if len(items) > 0 || round.Body != nil {
		return items, ended
	}
	if !ended {
		return truncatedOutput(round.Events)
	}
	for _, data := range round.Events {
		v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
		if item, ok := v.Get("item"); err == nil && ok && wire.Text(v, "type") == itemDone {
			items = append(items, item)
		}
	}
	return items, len(items) > 0
}

// truncatedItem is an item of a cancelled round.
type truncatedItem struct {
	item jsonstream.Value
	args []byte // of a call, as far as they were received
	done bool
}

// truncatedOutput lists the items of a cancelled round. The provider does not store them:
// ids by which it would look for them are removed, and so is reasoning that only the
// provider has.
func truncatedOutput(events [][]byte) (items []jsonstream.Value, ok bool) {
	var begun []truncatedItem
	for _, data := range events {
		v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
		var f frame
		if err != nil || !f.read(v) {
			return nil, false
		}
		switch i := f.index; {
		case f.typ == itemAdded:
			begun = append(begun, truncatedItem{item: f.item})
		case i < 0 || i >= len(begun):
		case f.typ == itemDone:
			begun[i] = truncatedItem{item: f.item, done: true}
		case f.typ == argumentsDelta, f.typ == inputDelta:
			begun[i].args = f.delta.AppendText(begun[i].args)
		}
	}
	for _, b := range begun {
		item, ok := b.assemble()
		if !ok {
			return nil, false
		}
		if item.IsValid() {
			items = append(items, item)
		}
	}
	return items, len(items) > 0
}

// assemble returns the item for a history. It is invalid if neither side has the item any
// more.
func (b *truncatedItem) assemble() (jsonstream.Value, bool) {
	k := wire.CallKind(b.item)
	encrypted, _ := b.item.Get("encrypted_content")
	switch {
	case wire.Text(b.item, "type") == "reasoning":
		if !b.done || !provider.Present(encrypted) {
			return jsonstream.Value{}, true
		}
		return b.item, true
	case !b.done && !k.Text():
		return jsonstream.Value{}, false
	}
	var edits provider.Edits
	edits.Remove(b.item, func(key, _ jsonstream.Value) bool { return string(provider.Key(key)) == "id" && k != wire.LocalShell })
	args, has := b.item.Get(k.Member())
	if has && k.Text() && !b.done {
		complete := b.args
		if k == wire.Function {
			complete = provider.CompletePrefix(complete)
		}
		edits.Replace(args, jsonstream.AppendQuote(nil, complete))
	}
	if status, ok := b.item.Get("status"); ok && k.Call() {
		edits.Replace(status, []byte(`"completed"`))
	}
	text := edits.ApplyTo(b.item)
	v, err := jsonstream.Parse(text, provider.EnvelopeOptions(len(text)+1))
	return v, err == nil && (has || b.done || !k.Text())
}
