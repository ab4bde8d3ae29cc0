package openairesponses

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// outputOf lists the items of a round. Servers that store nothing may leave them out of
// the last event, and a round that was cancelled has none.
func outputOf(said wire.Said) (items []jsonstream.Value, ok bool) {
	response, ended := lastResponse(said)
	output, _ := response.Get("output")
	for item := range output.Elements() {
		items = append(items, item)
	}
	if len(items) > 0 || said.Body != nil {
		return items, ended
	}
	if !ended {
		return cutOutput(said.Events)
	}
	for _, data := range said.Events {
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
		if item, ok := v.Get("item"); err == nil && ok && text(v, "type") == itemDone {
			items = append(items, item)
		}
	}
	return items, len(items) > 0
}

// saidItem is an item of a round that was cancelled.
type saidItem struct {
	item jsonstream.Value
	args []byte // of a call, as far as they came
	done bool
}

// cutOutput lists the items of a round that was cancelled. No provider keeps them: they go
// without the ids under which it would look for them, and reasoning that only it knows
// goes.
func cutOutput(events [][]byte) (items []jsonstream.Value, ok bool) {
	var begun []saidItem
	for _, data := range events {
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
		var f frame
		if err != nil || !f.read(v) {
			return nil, false
		}
		switch i := f.index; {
		case f.typ == itemAdded:
			begun = append(begun, saidItem{item: f.item})
		case i < 0 || i >= len(begun):
		case f.typ == itemDone:
			begun[i] = saidItem{item: f.item, done: true}
		case f.typ == argumentsDelta, f.typ == inputDelta:
			begun[i].args = f.delta.AppendText(begun[i].args)
		}
	}
	for _, b := range begun {
		item, ok := b.whole()
		if !ok {
			return nil, false
		}
		if item.IsValid() {
			items = append(items, item)
		}
	}
	return items, len(items) > 0
}

// whole is the item as a history has it; there is none where nobody has it any more.
func (b *saidItem) whole() (jsonstream.Value, bool) {
	k := builtinOrNamed(b.item)
	encrypted, _ := b.item.Get("encrypted_content")
	switch {
	case text(b.item, "type") == "reasoning":
		if !b.done || !wire.Present(encrypted) {
			return jsonstream.Value{}, true
		}
		return b.item, true
	case !b.done && !k.text():
		return jsonstream.Value{}, false
	}
	var edits wire.Edits
	edits.Remove(b.item, func(key, _ jsonstream.Value) bool { return string(wire.Key(key)) == "id" && k != localShell })
	args, has := b.item.Get(k.member())
	if has && k.text() && !b.done {
		said := b.args
		if k == function {
			said = wire.Complete(said)
		}
		edits.Replace(args, jsonstream.AppendQuote(nil, said))
	}
	if status, ok := b.item.Get("status"); ok && k.call() {
		edits.Replace(status, []byte(`"completed"`))
	}
	text := edits.Within(b.item)
	v, err := jsonstream.Parse(text, wire.EnvelopeOptions(len(text)+1))
	return v, err == nil && (has || b.done || !k.text())
}
